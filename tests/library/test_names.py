"""The package as it is imported: what it costs, what it needs, what hides it."""

import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

import labelserve
from app import errors
from app.datasets.base import ReadOptions
from app.evaluation.options import EvaluationOptions
from app.prediction.query import Query
from labelserve.arguments import EvaluateArguments, PredictArguments, ReadArguments
from labelserve.client.errors import SLUGS

ROOT = Path(__file__).parents[2]
HEAVY = {"app", "httpx", "numpy", "pandas", "scipy", "sklearn"}


def run(code: str, folder: Path = ROOT) -> subprocess.CompletedProcess[str]:
    """Run code as a script of that folder would, with the library behind it on the path."""
    path = f"import sys; sys.path[:0] = [{str(folder)!r}, {str(ROOT)!r}]\n"
    command = [sys.executable, "-I", "-c", path + code]
    return subprocess.run(command, capture_output=True, text=True, cwd=folder, timeout=60)


def test_every_public_name_is_there_and_no_other() -> None:
    assert sorted(labelserve.__all__) == sorted({**labelserve.WITH_APP, **labelserve.WITHOUT_APP})
    assert dir(labelserve) == sorted(labelserve.__all__)
    assert all(callable(getattr(labelserve, name)) for name in labelserve.__all__)
    assert labelserve.__version__ == version("labelserve")
    with pytest.raises(AttributeError, match="has no attribute 'Model'"):
        labelserve.Model  # noqa: B018


@pytest.mark.parametrize(
    ("used", "needed"),
    [("labelserve", set()), ("labelserve.Client", {"httpx"}), ("labelserve.TextPrediction", set())],
)
def test_nothing_is_imported_before_it_is_used(used: str, needed: set[str]) -> None:
    done = run(f"import labelserve, sys\n{used}\nprint(*sys.modules)")
    assert done.returncode == 0, done.stderr
    assert HEAVY & set(done.stdout.split()) == needed


def test_a_model_is_loaded_without_scikit_learn(tiny_models: Path) -> None:
    code = f"import labelserve, sys\nprint(labelserve.load({str(tiny_models)!r}, 'tiny').labels)\n"
    done = run(code + "print('sklearn' in sys.modules)")
    assert done.stdout.splitlines()[-1] == "False", done.stderr


@pytest.mark.parametrize("hiding", ["app/__init__.py", "app.py"])
def test_an_app_of_the_project_is_named_and_a_client_works_beside_it(
    tmp_path: Path, hiding: str
) -> None:
    other = tmp_path / hiding
    other.parent.mkdir(exist_ok=True)
    other.write_text("raise SystemExit('the project has started')")
    for use in ("labelserve.load('models', 'demo')", "from labelserve import train"):
        done = run(f"import labelserve\n{use}", tmp_path)
        last = done.stderr.splitlines()[-1]
        assert last.startswith("ImportError: labelserve is hidden: it is made of a package `app`")
        assert f"`import app` finds {other} instead; rename that" in last
    code = "import labelserve\nprint(labelserve.Client('http://127.0.0.1:1').health().is_ready)\n"
    done = run(code + "labelserve.AsyncClient, labelserve.ServiceError", tmp_path)
    assert (done.stdout, done.stderr) == ("False\n", "")


def test_every_error_of_a_service_has_a_type_here() -> None:
    codes = {one.code for one in vars(errors).values() if isinstance(one, type) and _is_ours(one)}
    assert codes == SLUGS.keys()


def _is_ours(kind: type) -> bool:
    return issubclass(kind, errors.AppError)


def test_arguments_are_those_of_the_product() -> None:
    fields = set(Query._fields) - {"marks_doubt"}  # of tables, which have a column for it
    assert PredictArguments.__optional_keys__ == fields
    fields = set(ReadOptions.__dataclass_fields__) - {"labels", "limits"}
    assert ReadArguments.__optional_keys__ - {"min_label_documents"} <= fields
    fields = set(EvaluationOptions.__dataclass_fields__) - {"max_scores", "predictions", "keep"}
    assert EvaluateArguments.__optional_keys__ == fields
