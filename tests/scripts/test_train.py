"""scripts/train.py through its front door: a real process, real exit codes."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from app.artifacts.store import Store
from app.model import load_model

ROOT = Path(__file__).parents[2]
SCRIPTS = sorted(path.name for path in (ROOT / "scripts").glob("*.py") if path.stem != "installed")


def run(
    *arguments: str | Path, python: tuple[str, ...] = (sys.executable,)
) -> tuple[int, str, str]:
    done = subprocess.run(
        [*python, *map(str, arguments)], cwd=ROOT, capture_output=True, text=True, timeout=120
    )
    return done.returncode, done.stdout, done.stderr


def test_a_corpus_becomes_a_promoted_model_and_a_report(corpus_file: Path, tmp_path: Path) -> None:
    code, out, err = run(
        *("scripts/train.py", corpus_file, "--model", "m", "--models-dir", tmp_path),
        *("--test", "0.25", "--jobs", "1", "--json", "-"),
    )
    assert (code, err) == (0, "")
    result = json.loads(out)
    assert result["promoted"]
    assert Store(tmp_path).current("m") == result["version"]
    assert result["counts"]["documents"] == 90
    assert result["report"]["data"]["documents"] == 30
    assert result["report"]["decisions"]["micro"]["f1"] > 0.8


def test_promote_never_leaves_the_version_aside(corpus_file: Path, tmp_path: Path) -> None:
    code, out, _ = run(
        *("scripts/train.py", corpus_file, "--model", "m", "--models-dir", tmp_path),
        *("--promote", "never", "--decision", "zero", "--folds", "0"),
    )
    assert code == 0
    assert "not promoted" in out
    assert Store(tmp_path).current("m") is None
    assert len(Store(tmp_path).versions("m")) == 1


def test_a_worse_version_is_kept_but_not_promoted_and_exit_is_3(
    corpus_file: Path, tmp_path: Path
) -> None:
    common = ("scripts/train.py", corpus_file, "--model", "m", "--models-dir", tmp_path)
    assert run(*common, "--test", corpus_file)[0] == 0
    first = Store(tmp_path).current("m")
    code, out, _ = run(
        *(*common, "--test", corpus_file, "--promote", "not-worse"),
        *("--decision", "rank:5", "--folds", "0"),
    )
    assert code == 3
    assert "is worse than the current version's" in " ".join(out.split())
    assert Store(tmp_path).current("m") == first
    assert len(Store(tmp_path).versions("m")) == 2


def test_what_the_options_say_is_in_the_manifest_and_in_the_counts(tmp_path: Path) -> None:
    rows = [f"{n},{'crash' if n % 2 else 'login'} here,{'AB'[n % 2]}+C,{n // 2}" for n in range(20)]
    data, renamed = tmp_path / "d.csv", tmp_path / "map.csv"
    rows += ["98,nothing,,", "99,rare words,D,7", "bad"]
    data.write_text("\n".join(["key,body,topic,more", *rows]) + "\n")
    renamed.write_text("A,first\n")
    code, out, err = run(
        *("scripts/train.py", data, "--model", "m", "--models-dir", tmp_path / "models"),
        *("--text-columns", "body,more", "--label-column", "topic", "--label-separator", "+"),
        *("--id-column", "key", "--label-map", renamed, "--unlabelled", "drop"),
        *("--on-error", "skip", "--min-label-documents", "2", "--seed", "7", "--folds", "3"),
        *("--fbr", "0.2", "--abstain", "0.6", "--liblinear", "-s 1 -c 2", "--solver", "liblinear"),
        *("--no-fingerprints", "--set", "decision.resamples=2", "--json", "-"),
    )
    assert (code, err) == (0, "")
    result = json.loads(out)
    model = load_model(Store(tmp_path / "models"), "m")
    assert model.classifier.labels.names == ("B", "C", "first")
    assert result["counts"]["documents"] == 20
    read = result["read"]
    assert (read["dropped"], read["skipped"], read["rare_labels"]) == (2, 1, 1)
    assert (model.manifest.seed, model.fingerprints) == (7, None)
    recipe = result["recipe"]
    assert recipe["members"][0]["settings"] == {"options": "-s 1 -c 2", "solver": "liblinear"}
    decision = recipe["decision"]
    assert (decision["folds"], decision["abstain"], decision["settings"]["fbr"]) == (3, 0.6, 0.2)


def test_folds_by_a_column_hold_out_what_came_later(tmp_path: Path) -> None:
    rows = [f"{'crash' if n % 2 else 'login'} here,{'AB'[n % 2]},{40 - n}" for n in range(40)]
    data = tmp_path / "d.csv"
    data.write_text("\n".join(["text,labels,day", *rows]) + "\n")
    words = ("scripts/train.py", data, "--model", "m", "--models-dir", tmp_path / "models")
    code, out, err = run(
        *words, "--folds-by", "day", "--folds", "4", "--test", "0.1", "--json", "-"
    )
    assert (code, err) == (0, "")
    result = json.loads(out)
    assert result["recipe"]["decision"]["folds_by"] == "day"
    assert result["figures"]["held_out_by"] == "day"
    assert result["figures"]["held_out_documents"] == 27
    code, _, err = run(*words, "--folds-by", "date")
    assert code == 1
    assert 'no column "date"' in " ".join(err.split())


def test_a_drift_is_printed_and_in_the_json_and_kept_in_the_manifest(tmp_path: Path) -> None:
    lines = [
        f"{'AB'[n % 2]}\t{('crash', 'login')[n % 2]}{n // 800} page{n % 7}\n" for n in range(1000)
    ]
    data, result = tmp_path / "d.tsv", tmp_path / "result.json"
    data.write_text("".join(lines))
    code, out, _ = run(
        *("scripts/train.py", data, "--model", "m", "--models-dir", tmp_path / "models"),
        *("--set", "decision.resamples=2", "--json", result),
    )
    assert code == 0
    assert "warning: the last fifth of the data" in out
    (warning,) = json.loads(result.read_text())["warnings"]
    assert "--folds-by order" in warning
    manifest = load_model(Store(tmp_path / "models"), "m").manifest
    assert manifest.figures["drift"]["warning"] == warning


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["--decision", "best"], 2, "accepted: zero, rank:K, micro-f"),
        (["--promote", "maybe"], 2, "always, never, not-worse"),
        (["--promote", "not-worse"], 2, "give --test"),
        (["--on-error", "ignore"], 2, "'fail', 'skip'"),
        (["--nonsense"], 2, "No such option"),
        (["--model", "../up"], 2, "a model's name"),
    ],
)
def test_wrong_usage_is_exit_2_and_says_what_is_accepted(
    corpus_file: Path, tmp_path: Path, arguments: list[str], code: int, says: str
) -> None:
    found, _, err = run(
        *("scripts/train.py", corpus_file, "--model", "m", "--models-dir", tmp_path), *arguments
    )
    assert found == code
    assert says in " ".join(err.replace("│", " ").split())
    assert "Traceback" not in err


def test_a_bad_record_is_exit_1_with_file_line_and_column(tmp_path: Path) -> None:
    data = tmp_path / "bad.jsonl"
    data.write_text('{"text": "fine", "labels": ["a"]}\n{"text": 7, "labels": ["a"]}\n')
    code, _, err = run("scripts/train.py", data, "--model", "m", "--models-dir", tmp_path / "m")
    assert code == 1
    assert "bad.jsonl:2:" in err
    assert "Traceback" not in err


def test_ctrl_c_leaves_no_model_behind(corpus_file: Path, tmp_path: Path) -> None:
    command = [sys.executable, "scripts/train.py", "-", "--format", "jsonl", "--model", "m"]
    command += ["--models-dir", str(tmp_path / "models")]
    restore = lambda: signal.signal(signal.SIGINT, signal.default_int_handler)  # noqa: E731
    with subprocess.Popen(
        command,
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=restore,
    ) as process:
        assert process.stdin is not None
        process.stdin.write(corpus_file.read_bytes() * 40)  # more than a pipe holds: it is reading
        process.stdin.flush()
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    assert process.returncode not in (0, 2)
    assert b"Traceback" not in err
    assert Store(tmp_path / "models").names() == []


@pytest.mark.parametrize("script", SCRIPTS)
def test_without_the_packages_every_command_says_so_in_one_line(script: str) -> None:
    code, _, err = run(f"scripts/{script}", python=(sys.executable, "-S"))
    assert code == 1
    assert err.count("\n") == 1
    assert "make install" in err


@pytest.mark.parametrize("script", SCRIPTS)
def test_every_command_explains_itself(script: str) -> None:
    code, out, _ = run(f"scripts/{script}", "--help")
    assert code == 0
    assert "Usage" in out
    assert os.environ.get("HOME", "\0") not in out


def test_a_recipe_joins_kinds_of_features_and_selects_their_terms(
    corpus_file: Path, tmp_path: Path
) -> None:
    recipe = tmp_path / "recipe.toml"
    recipe.write_text(
        "[[features.parts]]\nselect = 'chi2'\nkeep = 20\n"
        "[[features.parts]]\nanalyzer = 'char_wb'\nngram_range = [3, 4]\nweight = 0.5\n"
    )
    code, out, err = run(
        *("scripts/train.py", corpus_file, "--model", "m", "--models-dir", tmp_path / "models"),
        *("--recipe", recipe, "--set", "features.parts.1.weight=0.7", "--test", "0.25"),
        *("--jobs", "1", "--json", "-"),
    )
    assert (code, err) == (0, "")
    assert json.loads(out)["report"]["decisions"]["micro"]["f1"] > 0.8
    vectorizer = load_model(Store(tmp_path / "models"), "m").classifier.members[0].vectorizer
    state = vectorizer.state()
    assert (vectorizer.kind, state.settings["weights"]) == ("union", [1.0, 0.7])
    assert len(state.parts["part0"].arrays["terms_ends"]) == 20
