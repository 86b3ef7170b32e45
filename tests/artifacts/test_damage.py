"""Every kind of damage to a version is refused, each with its own message, none by luck."""

import json
import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from soak import damages
from soak.damages import WEIGHTS

from app.artifacts.info import Info
from app.artifacts.store import Store
from app.errors import AppError, DamagedArtifactError, FormatVersionError
from app.state import State, pack_strings


def write_model(store: Store) -> Path:
    """A promoted version; its weights span several pages."""
    weights = np.linspace(-1, 1, 40_000, dtype=np.float32).reshape(-1, 2)
    member = State("member", parts={"learner": State("one-vs-rest", {}, {"weights": weights})})
    labels = pack_strings(["corn", "wheat"], "labels")
    state = State("classifier", {"members": 1}, labels, {"member0": member})
    version = store.write("demo", state, Info("0" * 64, {}, np.array([4, 5])))
    store.promote("demo", version)
    return store.path / "demo" / version


MESSAGES = {
    damages.truncated: "weights.npy ends 80064 of 160128 bytes too early",
    damages.one_byte_short: "weights.npy ends 1 of 160128 bytes too early",
    damages.bit_flip: "weights.npy was changed: its SHA-256 differs",
    damages.zeroed_page: "weights.npy was changed: its SHA-256 differs",
    damages.trailing_bytes: "weights.npy has 4 bytes after its end",
    damages.missing_file: "lacks labels_ends.npy: 1 of its 4 files",
    damages.extra_file: "holds a file that is not its own: 'weights.pkl'",
    damages.wrong_manifest: "manifest.json is that of another version",
    damages.label_count: "training_counts.npy is not for the 3 labels",
    damages.future_format: "format 7, this labelserve reads formats 1 to 2; use labelserve 9.1.0",
    damages.symlink_out: "weights.npy is a symbolic link",
    damages.terabytes: "weights.npy claims a shape that 160128 bytes cannot hold",
    damages.nan_weights: "weights.npy holds values that are not finite",
    damages.copy_under_way: "has no manifest.json: a copy is still under way",
}


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "models")


@pytest.mark.parametrize("damage", damages.DAMAGES, ids=lambda damage: damage.__name__)
def test_a_damaged_version_is_refused_with_its_own_message(
    store: Store, damage: Callable[[Path], None]
) -> None:
    folder = write_model(store)
    store.load("demo", folder.name)
    damage(folder)
    with pytest.raises((DamagedArtifactError, FormatVersionError)) as refused:
        store.load("demo", folder.name)
    assert MESSAGES[damage] in str(refused.value)
    assert str(refused.value).startswith(f"demo@{folder.name}")


def test_a_model_of_an_older_format_is_read(store: Store) -> None:
    folder = write_model(store)
    damages.rewrite(folder, format=1)
    assert store.load("demo", folder.name).manifest.format == 1


def make_pipe(folder: Path) -> None:
    (folder / WEIGHTS).unlink()
    os.mkfifo(folder / WEIGHTS)


def make_object_array(folder: Path) -> None:
    content = (folder / WEIGHTS).read_bytes().replace(b"'<f4'", b"'|O' ")
    damages.vouch(folder, content)


def link_the_folder(folder: Path) -> None:
    folder.rename(folder.parent / "elsewhere")
    folder.symlink_to(folder.parent / "elsewhere")


def forge_a_setting(folder: Path) -> None:
    path = folder / "manifest.json"
    path.write_text(path.read_text().replace('"members": 1', '"members": 2'))


def forge_the_file_list(folder: Path) -> None:
    files = json.loads((folder / "manifest.json").read_text())["files"]
    files["../../../outside.npy"] = files.pop(WEIGHTS)
    damages.rewrite(folder, files=files)


OTHER_DAMAGES = {
    make_pipe: "is not a plain file",
    make_object_array: "has a header that differs from its manifest",
    link_the_folder: "is a symbolic link",
    forge_a_setting: "manifest.json was changed: its checksum differs",
    forge_the_file_list: "parts and files do not agree",
}


@pytest.mark.parametrize("damage", OTHER_DAMAGES, ids=lambda damage: damage.__name__)
def test_other_tricks_are_refused_too(store: Store, damage: Callable[[Path], None]) -> None:
    folder = write_model(store)
    damage(folder)
    with pytest.raises(DamagedArtifactError, match=OTHER_DAMAGES[damage]):
        store.load("demo", folder.name)


@pytest.fixture
def busy(store: Store) -> Iterator[Path]:
    """A version whose weights are touched all the time, as by a copy that goes on."""
    folder, done = write_model(store), threading.Event()

    def touch() -> None:
        while not done.is_set():
            (folder / WEIGHTS).touch()

    toucher = threading.Thread(target=touch)
    toucher.start()
    yield folder
    done.set()
    toucher.join()


def load_often(store: Store, version: str) -> None:
    for _ in range(1000):
        store.load("demo", version)


def test_a_file_that_changes_while_it_is_read_is_refused(store: Store, busy: Path) -> None:
    with pytest.raises(DamagedArtifactError, match="changed while it was read"):
        load_often(store, busy.name)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_model(Store(tmp_path_factory.mktemp("shared")))


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_any_changed_byte_of_any_file_is_noticed(shared: Path, data: st.DataObject) -> None:
    path = shared / data.draw(st.sampled_from(sorted(os.listdir(shared))))
    original = path.read_bytes()
    place = data.draw(st.integers(0, len(original) - 1))
    value = data.draw(st.integers(1, 255))
    changed = bytearray(original)
    changed[place] ^= value
    try:
        path.write_bytes(changed)
        manifest = Store(shared.parents[1]).load("demo", shared.name).manifest
    except AppError:
        return
    finally:
        path.write_bytes(original)
    # Only the time stamps are outside the checksum, and spaces in JSON mean nothing.
    ours = json.loads(original)
    assert path.name == "manifest.json"
    assert ours["checksum"] == manifest.checksum


@settings(max_examples=100, deadline=None)
@given(
    content=st.one_of(
        st.binary(max_size=200),
        st.recursive(
            st.none() | st.integers() | st.text(max_size=5) | st.floats(),
            lambda inner: (
                st.lists(inner, max_size=3)
                | st.dictionaries(
                    st.sampled_from(["format", "state", "files", "labels", "parts"]),
                    inner,
                    max_size=4,
                )
            ),
            max_leaves=12,
        ).map(lambda value: json.dumps(value).encode()),
    )
)
def test_any_bytes_as_manifest_are_refused_by_name(shared: Path, content: bytes) -> None:
    path = shared / "manifest.json"
    original = path.read_bytes()
    try:
        path.write_bytes(content)
        with pytest.raises((DamagedArtifactError, FormatVersionError)):
            Store(shared.parents[1]).load("demo", shared.name)
    finally:
        path.write_bytes(original)
