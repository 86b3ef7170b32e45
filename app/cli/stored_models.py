"""Models of the store for commands; where one is not there, the error says what there is."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from app.artifacts.store import Store
from app.cli.completion import model_names
from app.cli.terminal import prepare_kernels
from app.errors import DamagedArtifactError, ModelNotFoundError
from app.model import Model, load_model
from app.settings import PREFIX

ModelArgument = Annotated[
    str,
    typer.Argument(metavar="MODEL", help="NAME or NAME@VERSION.", autocompletion=model_names),
]
ModelsDir = Annotated[
    Path, typer.Option(help="The model store.", envvar=f"{PREFIX}MODELS_DIR", show_envvar=True)
]
MODELS = Path("models")
SHOWN_VERSIONS = 3


def stored_model(models_dir: Path, reference: str) -> Model:
    """The model `NAME` (its current version) or `NAME@VERSION`, verified; kernels are ready."""
    store = Store(models_dir)
    name, version = resolved(store, reference)
    prepare_kernels()
    return load_model(store, f"{name}@{version}")


def resolved(store: Store, reference: str) -> tuple[str, str]:
    """The name and version that the reference means."""
    with naming_the_others(store, reference):
        return store.resolve(reference)


@contextmanager
def naming_the_others(store: Store, reference: str) -> Iterator[None]:
    """Let an error for a missing model say what there is, or that the store is the wrong folder."""
    try:
        yield
    except ModelNotFoundError:
        if reference.partition("@")[0] in store.names():  # the error has its versions already
            raise
        known = [f"{name} ({_versions(store, name)})" for name in store.names()]
        raise ModelNotFoundError(known, instead=why_none(store)) from None


def _versions(store: Store, name: str) -> str:
    """The newest versions, the current one with a star, and how many there are besides."""
    try:
        current = store.current(name)
    except DamagedArtifactError:
        current = None
    newest_first = store.versions(name)[::-1]
    words = [f"{v} *" if v == current else v for v in newest_first[:SHOWN_VERSIONS]]
    n_older = len(newest_first) - len(words)
    return ", ".join([*words, f"{n_older} older"] if n_older else words)


def why_none(store: Store) -> str:
    """What to say of a store without models: where it is, or is not, and what to do."""
    if not store.path.is_dir():
        return f"none, since there is no folder {store.path.absolute()}; --models-dir names another"
    return f"none in {store.path.absolute()}; labelserve train DATA --model NAME makes one"
