"""Packed models: equal bytes, equal models, and archives from strangers that are refused."""

import stat
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from soak import damages

from app.artifacts import packing
from app.artifacts.info import Artifact
from app.artifacts.packing import pack, unpack
from app.artifacts.store import Store
from app.errors import AppError, ConflictError, DamagedArtifactError, InvalidRequestError
from app.model import load_model, model_from
from tests.artifacts.test_damage import MESSAGES, write_model


def accepts(_: Artifact) -> None:
    """Any verified artifact."""


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "models")


@pytest.fixture
def elsewhere(tmp_path: Path) -> Store:
    (tmp_path / "elsewhere").mkdir()
    return Store(tmp_path / "elsewhere")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "packed.zip"


def zipped(folder: Path, file: Path) -> None:
    """The folder as an archive, made without looking at what is in it; links stay links."""
    with zipfile.ZipFile(file, "w") as archive:
        for path in sorted(folder.iterdir()):
            name = f"{folder.parent.name}/{folder.name}/{path.name}"
            if path.is_symlink():
                link = zipfile.ZipInfo(name)
                link.create_system, link.external_attr = 3, (stat.S_IFLNK | 0o777) << 16
                archive.writestr(link, str(path.readlink()))
            else:
                archive.write(path, name)


def untouched(store: Store) -> bool:
    """Whether nothing is in the store, hidden or not."""
    return list(store.path.iterdir()) == []


def test_a_model_packed_here_and_unpacked_there_answers_alike(
    tiny_models: Path, elsewhere: Store, file: Path
) -> None:
    store = Store(tiny_models)
    name, version = store.resolve("tiny")
    assert pack(store, name, version, file) == file.stat().st_size
    assert unpack(elsewhere, file, check=model_from) == (name, version, True)
    texts = ["the app crashes at login", "an invoice and a refund", ""]
    here, there = (
        load_model(one, f"{name}@{version}").classifier.scores(texts) for one in (store, elsewhere)
    )
    assert here.tobytes() == there.tobytes()
    assert elsewhere.current(name) is None
    assert [path.name for path in elsewhere.path.iterdir()] == [name]


def test_the_same_version_gives_the_same_bytes(store: Store, file: Path, tmp_path: Path) -> None:
    version = write_model(store).name
    pack(store, "demo", version, file)
    for path in (store.path / "demo" / version).iterdir():
        path.touch()
    pack(store, "demo", version, tmp_path / "again.zip")
    assert (tmp_path / "again.zip").read_bytes() == file.read_bytes()


def test_unpacking_twice_changes_nothing_and_another_of_that_id_is_a_conflict(
    store: Store, elsewhere: Store, file: Path
) -> None:
    folder = write_model(store)
    pack(store, "demo", folder.name, file)
    unpack(elsewhere, file, check=accepts)
    assert unpack(elsewhere, file, check=accepts) == ("demo", folder.name, False)
    damages.rewrite(elsewhere.path / "demo" / folder.name, seed=7)
    with pytest.raises(ConflictError, match="--name unpacks this one under another name"):
        unpack(elsewhere, file, check=accepts)
    assert unpack(elsewhere, file, name="other", check=accepts) == ("other", folder.name, True)
    assert elsewhere.load("other", folder.name).manifest.seed == 0


def test_what_the_check_refuses_never_appears(store: Store, elsewhere: Store, file: Path) -> None:
    pack(store, "demo", write_model(store).name, file)

    def refuse(artifact: Artifact) -> None:
        assert artifact.name == "demo"
        assert elsewhere.names() == []
        raise DamagedArtifactError("golden documents differ")

    with pytest.raises(DamagedArtifactError, match="golden"):
        unpack(elsewhere, file, check=refuse)
    assert untouched(elsewhere)


def test_a_name_that_no_model_may_have_is_refused(
    store: Store, elsewhere: Store, file: Path
) -> None:
    pack(store, "demo", write_model(store).name, file)
    with pytest.raises(InvalidRequestError, match="a model's name is"):
        unpack(elsewhere, file, name="../out", check=accepts)
    assert untouched(elsewhere)


def test_a_damaged_version_is_not_packed(store: Store, file: Path) -> None:
    folder = write_model(store)
    damages.bit_flip(folder)
    with pytest.raises(DamagedArtifactError, match="SHA-256 differs"):
        pack(store, "demo", folder.name, file)
    assert not file.exists()


@pytest.mark.parametrize("damage", damages.DAMAGES, ids=lambda damage: damage.__name__)
def test_every_damage_is_refused_inside_an_archive_as_in_a_folder(
    store: Store, elsewhere: Store, file: Path, damage: Callable[[Path], None]
) -> None:
    folder = write_model(store)
    damage(folder)
    zipped(folder, file)
    # A link of an archive is unpacked as a plain file that holds its target's name.
    said = "weights.npy ends" if damage is damages.symlink_out else MESSAGES[damage]
    with pytest.raises(AppError) as refused:
        unpack(elsewhere, file, check=accepts)
    assert said in str(refused.value)
    assert untouched(elsewhere)


def write_entries(file: Path, *names: str, compression: int = zipfile.ZIP_STORED) -> None:
    with zipfile.ZipFile(file, "w", compression) as archive:
        for name in names:
            archive.writestr(name, b"0" * 1000)


VERSION = "20261115T120000-1f3c9a"


@pytest.mark.parametrize(
    ("names", "said"),
    [
        ([f"demo/{VERSION}/../../../evil.npy"], "one NAME/VERSION/, no others"),
        ([f"/demo/{VERSION}/a.npy"], "one NAME/VERSION/, no others"),
        ([f"demo/{VERSION}/.."], "a file that no model has"),
        ([f"demo/{VERSION}/"], "a file that no model has"),
        ([f"demo/{VERSION}/a\\..\\b.npy"], "a file that no model has"),
        ([f"../{VERSION}/a.npy"], "no model's name and version"),
        (["demo/latest/a.npy"], "no model's name and version"),
        ([f"demo/{VERSION}/a.npy", f"other/{VERSION}/a.npy"], "one NAME/VERSION/, no others"),
        ([f"demo/{VERSION}/a.npy"], "has no manifest.json"),
        (["manifest.json"], "one NAME/VERSION/, no others"),
        ([], "one NAME/VERSION/, no others"),
    ],
)
def test_an_archive_with_other_paths_is_refused(
    elsewhere: Store, file: Path, names: list[str], said: str
) -> None:
    write_entries(file, *names)
    with pytest.raises(DamagedArtifactError, match=said):
        unpack(elsewhere, file, check=accepts)
    assert untouched(elsewhere)


def test_an_archive_that_names_a_file_twice_is_refused(elsewhere: Store, file: Path) -> None:
    with pytest.warns(UserWarning, match="Duplicate name"):
        write_entries(file, f"demo/{VERSION}/a.npy", f"demo/{VERSION}/a.npy")
    with pytest.raises(DamagedArtifactError, match="names a file twice"):
        unpack(elsewhere, file, check=accepts)


def test_a_compressed_archive_is_refused_before_it_is_inflated(
    elsewhere: Store, file: Path
) -> None:
    write_entries(file, f"demo/{VERSION}/a.npy", compression=zipfile.ZIP_DEFLATED)
    with pytest.raises(DamagedArtifactError, match="stored, not compressed"):
        unpack(elsewhere, file, check=accepts)


def test_entries_that_share_their_bytes_are_refused(elsewhere: Store, file: Path) -> None:
    """Many directory entries for one stored file: small on disk, large when unpacked."""
    names = [f"demo/{VERSION}/a{i}.npy" for i in range(9)]
    write_entries(file, *names)
    content = file.read_bytes()
    start = content.index(b"PK\1\2")
    directory = bytearray(content[start:])
    at = 0
    while (at := directory.find(b"PK\1\2", at)) >= 0:
        struct.pack_into("<L", directory, at + 42, 0)  # every entry points to the first file
        at += 4
    struct.pack_into("<L", directory, len(directory) - 6, 1200)
    file.write_bytes(content[:1200] + directory)
    with pytest.raises(DamagedArtifactError, match=r"overlap|damaged"):
        unpack(elsewhere, file, check=accepts)
    assert untouched(elsewhere)


def test_a_directory_that_would_fill_the_memory_is_not_read(
    elsewhere: Store, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_entries(file, *(f"demo/{VERSION}/a{i}.npy" for i in range(100)))
    monkeypatch.setattr(packing, "MOST_DIRECTORY_BYTES", 5000)
    with pytest.raises(DamagedArtifactError, match="far more files than a model has"):
        unpack(elsewhere, file, check=accepts)


@pytest.mark.parametrize("content", [b"", b"PK\5\6", b"no archive at all" * 9], ids=len)
def test_what_is_no_archive_is_refused_with_a_sentence(
    elsewhere: Store, file: Path, content: bytes
) -> None:
    file.write_bytes(content)
    with pytest.raises(DamagedArtifactError, match="this is no packed model"):
        unpack(elsewhere, file, check=accepts)


@pytest.mark.parametrize("share", [0.2, 0.5, 0.9, 0.999])
def test_an_archive_that_ends_early_or_was_changed_is_refused(
    store: Store, elsewhere: Store, file: Path, share: float
) -> None:
    pack(store, "demo", write_model(store).name, file)
    whole = file.read_bytes()
    at = int(len(whole) * share)
    changed = bytes([whole[at] ^ 0xFF])
    for content in (whole[:at], whole[:at] + changed + whole[at + 1 :]):
        file.write_bytes(content)
        with pytest.raises(DamagedArtifactError):
            unpack(elsewhere, file, check=accepts)
        assert untouched(elsewhere)
