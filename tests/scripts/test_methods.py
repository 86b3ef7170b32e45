"""The table of docs/methods.md: a row a learner, best first, refusals in words."""

from pathlib import Path

from bench.methods import COSTS, FIGURES, table, write


def figures(micro_f1: float) -> dict[str, float]:
    return {**dict.fromkeys([*FIGURES.values(), *COSTS.values()], 0.25), "micro.f1": micro_f1}


def test_rows_fall_by_micro_f1_and_refusals_come_last_in_words() -> None:
    found = {
        "a/knn": figures(0.5),
        "a/llsf": {"refused": "too many labels"},
        "a/rules": figures(0.75),
        "b/knn": figures(0.1),
    }
    text = table(found)
    lines = text.splitlines()
    starts = [line.split(" |")[0] for line in lines if line.startswith("| `")]
    assert starts == ["| `rules`", "| `knn`", "| `llsf`", "| `knn`"]
    assert "| `rules` | 0.750 | 0.250 |" in text
    assert "| `llsf` | too many labels |" in text
    assert len({line.count("|") for line in lines if line.startswith("|")}) == 1


def test_only_what_is_between_the_markers_is_replaced(tmp_path: Path) -> None:
    page = tmp_path / "methods.md"
    page.write_text("before\n<!-- methods -->\nold\n<!-- /methods -->\nafter\n")
    write({"a/knn": figures(0.5)}, page)
    text = page.read_text()
    assert text.startswith("before\n")
    assert text.endswith("after\n")
    assert "old" not in text
    assert "### a" in text
