"""Whether `import app` finds labelserve's own package, and not one of the caller's project."""

from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from pathlib import Path

OURS = Path(__file__).resolve().parents[1] / "app"


def require_own_app() -> None:
    """Nothing where `app` is ours; an ImportError that names the file which hides it.

    Nothing is imported to find out: a script of that name may start a program.
    """
    spec = _spec()
    if spec is not None and OURS in _folders(spec):
        return
    raise ImportError(
        "labelserve is hidden: it is made of a package `app`, and `import app` finds "
        f"{_place(spec)} instead; rename that, or run Python from another folder "
        "(labelserve.Client works all the same)"
    )


def _spec() -> ModuleSpec | None:
    try:
        return find_spec("app")
    except ValueError:  # a module that was put into sys.modules without a spec
        return None


def _folders(spec: ModuleSpec) -> list[Path]:
    return [Path(folder).resolve() for folder in spec.submodule_search_locations or ()]


def _place(spec: ModuleSpec | None) -> str:
    if spec is None:
        return "nothing that has a file"
    return spec.origin or ", ".join(map(str, _folders(spec)))
