"""scripts/models.py, as typed: tables, JSON and exit codes."""

import json
import runpy
import shutil
from pathlib import Path
from typing import Any

import pytest

from app.artifacts.store import Store

SCRIPTS = Path(__file__).parents[2] / "scripts"


@pytest.fixture
def models(tiny_models: Path, tmp_path: Path) -> Path:
    """A store with two versions of `tiny`; the first is current."""
    shutil.copytree(tiny_models, tmp_path / "models")
    store = Store(tmp_path / "models")
    name, first = store.resolve("tiny")
    folder = store.path / name
    second = first[:-6] + "ffffff"
    shutil.copytree(folder / first, folder / second)
    manifest = folder / second / "manifest.json"
    manifest.write_text(manifest.read_text().replace(first, second))
    return store.path


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, models: Path) -> Any:
    """Runs the command in this process; gives its exit code."""
    monkeypatch.syspath_prepend(str(SCRIPTS))

    def run(*words: str) -> Any:
        monkeypatch.setattr("sys.argv", ["models.py", *words, "--models-dir", str(models)])
        with pytest.raises(SystemExit) as left:
            runpy.run_path(str(SCRIPTS / "models.py"), run_name="__main__")
        return left.value.code

    return run


def test_list_show_and_verify_say_what_is_there(
    run: Any, models: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name, current = Store(models).resolve("tiny")
    assert run("list") == 0
    assert f"{current} *" in capsys.readouterr().out
    assert run("show", name, "--json", "-") == 0
    facts = json.loads(capsys.readouterr().out)
    assert (facts["version"], facts["is_current"], facts["labels"]) == (current, True, 5)
    assert run("verify") == 0
    assert capsys.readouterr().out.count("good") == 2


def test_show_cuts_no_name_in_a_narrow_terminal(
    run: Any, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "20")
    run("show", "tiny")
    shown = capsys.readouterr().out
    assert "figures held_out micro_precision  " in shown
    assert "…" not in shown


def test_a_version_is_listed_with_its_size_in_megabytes_and_its_held_out_micro_f1(
    run: Any, models: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name, current = Store(models).resolve("tiny")
    held_out = Store(models).peek(name, current).figures["held_out"]
    size = sum(path.stat().st_size for path in (models / name / current).glob("*.npy"))
    run("list")
    row = next(line for line in capsys.readouterr().out.splitlines() if f"{current} *" in line)
    figures = ["one-vs-rest", "micro-f", "5", f"{size / 1e6:.1f}", f"{held_out['micro_f1']:.4f}"]
    assert row.split()[-5:] == figures
    run("show", name, "--json", "-")
    facts = json.loads(capsys.readouterr().out)
    assert (facts["bytes"], facts["vectorizer"], facts["decision"]) == (size, "tfidf", "micro-f")
    assert facts["trained_on"]["documents"] == 120


def test_use_of_the_older_version_goes_back_and_what_is_removed_is_said(
    run: Any, models: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = Store(models)
    first, second = store.versions("tiny")
    run("use", f"tiny@{second}")
    assert run("use", f"tiny@{first}") == 0
    assert store.current("tiny") == first
    capsys.readouterr()
    assert run("remove", f"tiny@{second}", "--json", "-") == 0
    assert json.loads(capsys.readouterr().out) == {"model": "tiny", "removed": [second]}
    assert run("prune", "tiny", "--keep", "1") == 0
    assert "nothing to remove" in capsys.readouterr().out


def test_prune_names_every_version_it_removed(
    run: Any, models: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first, second = Store(models).versions("tiny")
    run("use", f"tiny@{second}")
    capsys.readouterr()
    assert run("prune", "tiny", "--keep", "1", "--json", "-") == 0
    assert json.loads(capsys.readouterr().out) == {"model": "tiny", "removed": [first]}


def test_use_makes_another_version_current_and_prune_keeps_it(run: Any, models: Path) -> None:
    store = Store(models)
    first, second = store.versions("tiny")
    assert run("use", f"tiny@{second}") == 0
    assert store.current("tiny") == second
    assert run("remove", f"tiny@{second}") == 1
    assert run("prune", "tiny", "--keep", "1") == 0
    assert store.versions("tiny") == [second]
    assert run("remove", f"tiny@{first}") == 1


def test_a_damaged_version_is_listed_refused_and_never_used(
    run: Any, models: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _, second = Store(models).versions("tiny")
    (models / "tiny" / second / "labels.npy").write_bytes(b"")
    assert run("verify", f"tiny@{second}") == 1
    assert run("use", f"tiny@{second}") == 1
    assert Store(models).current("tiny") != second
    (models / "tiny" / second / "manifest.json").unlink()
    capsys.readouterr()
    assert run("list", "--json", "-") == 0
    assert "no manifest.json" in json.loads(capsys.readouterr().out)["models"][1]["problem"]


def test_wrong_usage_has_its_own_exit_code(run: Any) -> None:
    assert run("prune", "tiny", "--keep", "0") == 2
    assert run("verify", "nothing") == 1


def test_a_packed_model_is_unpacked_into_another_store_and_current_where_it_is_new(
    run: Any, models: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, elsewhere = tmp_path / "tiny.zip", tmp_path / "elsewhere"
    name, version = Store(models).resolve("tiny")
    assert run("pack", "tiny", str(file)) == 0
    assert f"packed {name}@{version}" in capsys.readouterr().out
    assert run("unpack", str(file), "--name", "other", "--json", "-") == 0
    found = json.loads(capsys.readouterr().out)
    assert found == {"model": "other", "version": version, "new": True, "current": True}
    assert Store(models).current("other") == version
    assert not elsewhere.exists()
    assert run("unpack", str(file), "--promote", "sometimes") == 2
    assert "accepted: auto, always, never" in capsys.readouterr().err


def test_an_unpacked_version_does_not_replace_the_current_one_unless_asked(
    run: Any, models: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, store = tmp_path / "tiny.zip", Store(models)
    first, second = store.versions("tiny")
    assert run("pack", f"tiny@{second}", str(file)) == 0
    store.remove("tiny", second)
    assert run("unpack", str(file)) == 0
    assert f"labelserve models use tiny@{second} serves it" in capsys.readouterr().out
    assert store.current("tiny") == first
    assert run("unpack", str(file), "--promote", "always") == 0
    assert "was there already; it is current" in capsys.readouterr().out
    assert store.current("tiny") == second


def test_two_models_are_shown_side_by_side(
    run: Any, models: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first, second = Store(models).versions("tiny")
    assert run("diff", f"tiny@{first}", f"tiny@{second}") == 0
    said = capsys.readouterr().out
    for part in ("recipe", "data", "figures", "labels", "weights that moved most"):
        assert f"{part}: no difference" in said
    assert run("diff", "tiny", f"tiny@{second}", "--json", "-") == 0
    assert json.loads(capsys.readouterr().out)["weights"]["moved"] == 0


def test_a_trial_begins_is_listed_and_is_settled_either_way(
    run: Any, models: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = Store(models)
    old, new = store.versions("tiny")
    assert run("shadow", f"tiny@{new}", "--share", "1") == 0
    assert f"tiny@{new} answers every document of tiny" in capsys.readouterr().out
    assert run("canary", f"tiny@{new}", "--share", "0.05", "--by", "X-User", "--json", "-") == 0
    told = json.loads(capsys.readouterr().out)
    assert told == {"model": "tiny", "canary": new, "share": 0.05, "by": "x-user"}
    assert run("list") == 0
    assert f"{new} shadow canary" in capsys.readouterr().out
    assert run("settle", "tiny", "--drop") == 0
    assert f"{old} is current" in capsys.readouterr().out
    assert (store.trials_of("tiny", new), store.current("tiny")) == ([], old)
    assert run("canary", f"tiny@{new}", "--share", "0.5") == 0
    assert store.current("tiny") == old  # nothing is promoted by itself
    assert run("settle", f"tiny@{new}", "--promote", "--json", "-") == 0
    assert store.current("tiny") == new
    assert store.trials_of("tiny", new) == []


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("shadow", "tiny", "--share", "0.1"), 2, "a shadow is NAME@VERSION"),
        (("shadow", "tiny@OLD", "--share", "0.1"), 1, "is current already"),
        (("canary", "tiny@NEW", "--share", "0"), 2, "above 0 and at most 1"),
        (("canary", "tiny@NEW", "--share", "0.1", "--by", "a b"), 2, "the name of a header"),
        (("settle", "tiny"), 2, "--promote or --drop"),
        (("settle", "tiny", "--promote", "--drop"), 2, "--promote or --drop"),
        (("settle", "tiny", "--drop"), 1, "no version of tiny is on trial"),
        (("shadow", "other@NEW", "--share", "0.1"), 1, "tiny"),
    ],
)
def test_a_trial_that_makes_no_sense_is_refused_with_a_sentence(
    run: Any, models: Path, capsys: pytest.CaptureFixture[str], words: Any, code: int, said: str
) -> None:
    old, new = Store(models).versions("tiny")
    typed = [word.replace("OLD", old).replace("NEW", new) for word in words]
    assert run(*typed) == code
    assert said in capsys.readouterr().err
    assert Store(models).current("tiny") == old


def test_of_two_versions_on_trial_the_one_to_promote_must_be_named(
    run: Any, models: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = Store(models)
    old, new = store.versions("tiny")
    third = old[:-6] + "fffffe"
    shutil.copytree(models / "tiny" / old, models / "tiny" / third)
    manifest = models / "tiny" / third / "manifest.json"
    manifest.write_text(manifest.read_text().replace(old, third))
    assert run("shadow", f"tiny@{third}", "--share", "0.5") == 0
    assert run("canary", f"tiny@{new}", "--share", "0.5") == 0
    capsys.readouterr()
    assert run("settle", "tiny", "--promote") == 2
    assert f"tiny@{third} or tiny@{new}" in capsys.readouterr().err
    assert run("settle", f"tiny@{third}", "--promote") == 0
    assert (store.current("tiny"), store.trials_of("tiny", new)) == (third, ["canary"])
