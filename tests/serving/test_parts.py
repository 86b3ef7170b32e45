"""Admission, keys, spool and picking, each by itself."""

import errno
import fcntl
import hashlib
import json
import stat
from pathlib import Path
from shutil import rmtree
from typing import Any, BinaryIO, NoReturn

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.decisions.decision import best
from app.errors import (
    DeadlineError,
    ForbiddenError,
    InvalidRequestError,
    PayloadTooLargeError,
    SettingsError,
    TooManyRequestsError,
    UnauthorizedError,
)
from app.kernels import kernels
from app.kernels.linear import picking_plain
from app.serving.admission import SMALL_BODY, Admission, BodyBudget, Deadline
from app.serving.keys import KeysFile
from app.serving.service import Service
from app.serving.spool import Spool, Upload
from app.settings import Settings


def test_admission_counts_units_and_lets_a_large_request_in_alone() -> None:
    admission = Admission(10, "documents")
    with admission.admit(50):
        assert admission.is_full
        with pytest.raises(TooManyRequestsError) as refused, admission.admit(1):
            pass
        assert refused.value.retry_after >= 1
    with admission.admit(6), admission.admit(4), pytest.raises(TooManyRequestsError):
        admission.refuse_if_full()
    assert admission.in_flight == 0


def test_where_most_are_refused_the_door_is_shut_while_anything_is_under_way() -> None:
    admission = Admission(10, "documents")
    with admission.admit(5):
        admission.refuse_if_full()
        while not admission.is_overrun:
            with pytest.raises(TooManyRequestsError):
                admission.check(6)
        with pytest.raises(TooManyRequestsError):
            admission.refuse_if_full()
        admission.check(5)  # what is answered at once, or has begun, is let through
    admission.refuse_if_full()
    while admission.is_overrun:
        with admission.admit(5):
            pass
    with admission.admit(5):
        admission.refuse_if_full()


def test_an_overload_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr("app.serving.admission.monotonic", lambda: now)
    admission = Admission(1, "documents")
    with admission.admit(1):
        for _ in range(100):
            with pytest.raises(TooManyRequestsError):
                admission.refuse_if_full()
    assert admission.is_overrun
    now += 2
    assert not admission.is_overrun


def test_nobody_is_let_in_to_wait_longer_than_is_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr("app.serving.admission.monotonic", lambda: now)
    admission = Admission(1000, "documents", longest_wait=3.0)
    for _ in range(100):  # two seconds for ten, of which each waits for the one before
        with admission.admit(10):
            now += 2
    with admission.admit(10):
        admission.refuse_if_full()
        with admission.admit(10), pytest.raises(TooManyRequestsError) as refused:
            admission.refuse_if_full()
    assert refused.value.retry_after == 4


def test_nobody_is_told_to_come_back_later_than_in_half_a_minute(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = 100.0
    monkeypatch.setattr("app.serving.admission.monotonic", lambda: now)
    admission = Admission(10, "documents")
    for _ in range(100):
        with admission.admit(1):
            now += 600
    with admission.admit(10), pytest.raises(TooManyRequestsError) as refused:
        admission.refuse_if_full()
    assert refused.value.retry_after == 30


def test_the_service_applies_each_limit_to_its_own_work(tmp_path: Path) -> None:
    limits = {"max_concurrency": 11, "max_evaluations": 3, "max_body_bytes": 2000}
    service = Service.of(Settings(data_dir=tmp_path, request_seconds=8, **limits))
    assert service.documents.capacity == 11
    assert service.evaluations.capacity == 3
    assert service.bodies.capacity >= 2 * 2000  # one long body keeps no other out
    assert service.documents.longest_wait < 8  # who waits longer would be answered 504


def test_room_is_taken_for_large_bodies_only_and_given_back() -> None:
    bodies = Admission(10 * SMALL_BODY, "large bodies")
    with BodyBudget(bodies) as room, BodyBudget(bodies) as other:
        room.take(SMALL_BODY)
        assert bodies.in_flight == 0
        room.take(8 * SMALL_BODY)
        with pytest.raises(TooManyRequestsError):
            other.take(3 * SMALL_BODY)
    assert bodies.in_flight == 0


def test_a_deadline_ends_work() -> None:
    Deadline.after(60).check()
    with pytest.raises(DeadlineError):
        Deadline.after(-1).check()
    assert Deadline.after(-1).remaining == 0


def test_only_hashes_of_keys_are_kept_in_a_private_file(tmp_path: Path) -> None:
    file = tmp_path / "keys.json"
    keys = KeysFile(file)
    key, secret = keys.create(["predict"], ["team-*"])
    assert secret not in file.read_text()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    identity = KeysFile(file).identify(secret.encode())
    assert identity.name == key.id
    identity.require("predict")
    with pytest.raises(ForbiddenError):
        identity.require("evaluate")
    assert identity.may_use("team-a")
    assert not identity.may_use("other")
    keys.revoke(key.id)
    with pytest.raises(UnauthorizedError):
        KeysFile(file).identify(secret.encode())
    with pytest.raises(InvalidRequestError):
        keys.revoke(key.id)
    with pytest.raises(InvalidRequestError):
        keys.create(["root"])


def test_a_change_of_the_keys_is_seen_within_seconds_and_a_damaged_file_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 100.0
    monkeypatch.setattr("app.serving.keys.monotonic", lambda: now)
    keys = KeysFile(tmp_path / "keys.json")
    first, secret = keys.create(["predict"])
    other = keys.create(["admin"])[1]
    serving = KeysFile(tmp_path / "keys.json")
    keys.revoke(first.id)
    now += 5
    with pytest.raises(UnauthorizedError):
        serving.identify(secret.encode())
    (tmp_path / "keys.json").write_text("damaged")
    now += 5
    assert serving.identify(other.encode()).scopes == {"admin"}


def test_a_file_that_is_no_keys_file_is_refused_at_the_start(tmp_path: Path) -> None:
    for content in ("", "[]", '{"keys": [{"id": 1}]}', json.dumps({"keys": [1]}), "\ud800"):
        (tmp_path / "keys.json").write_bytes(content.encode(errors="surrogatepass"))
        with pytest.raises(SettingsError, match="is not a keys file of"):
            KeysFile(tmp_path / "keys.json")


WRONG: list[tuple[str, Any]] = [
    ("id", 7),
    ("id", "a b\n"),
    ("sha256", "é" * 64),
    ("sha256", None),
    ("scopes", "predict"),
    ("scopes", []),
    ("scopes", [["predict"]]),
    ("scopes", ["root"]),
    ("models", [1]),
    ("models", "team-*"),
    ("created", 2026),
    ("expires", "tomorrow"),
    ("expires", "2026-01-01T00:00:00"),
    ("requests_per_minute", "10"),
    ("requests_per_minute", 0),
    ("documents_per_day", 1.5),
]


@pytest.mark.parametrize(("field", "value"), WRONG)
def test_a_value_of_the_wrong_kind_in_a_keys_file_is_named_and_the_old_keys_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, field: str, value: Any
) -> None:
    now, failures = 100.0, list[float]()
    monkeypatch.setattr("app.serving.keys.monotonic", lambda: now)
    file = tmp_path / "keys.json"
    secret = KeysFile(file).create(["predict"])[1].encode()
    serving = KeysFile(file, lambda: failures.append(now))
    content = json.loads(file.read_text())
    good = json.dumps(content)
    content["keys"][0][field] = value
    file.write_text(json.dumps(content))
    with pytest.raises(SettingsError, match=r"\$\.keys\[0\]"):
        KeysFile(file)
    for _ in range(2):
        now += 5
        assert serving.identify(secret).scopes == {"predict"}
    file.unlink()
    now += 5
    assert serving.identify(secret).scopes == {"predict"}
    assert len(failures) == 3
    file.write_text(good)
    now += 5
    assert serving.identify(secret).scopes == {"predict"}
    assert len(failures) == 3


def test_a_keys_file_that_could_not_be_read_for_a_moment_is_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Or else a key that was revoked meanwhile would stay valid until the next change."""
    now = 100.0
    monkeypatch.setattr("app.serving.keys.monotonic", lambda: now)
    keys = KeysFile(tmp_path / "keys.json")
    key, secret = keys.create(["predict"])
    serving = KeysFile(tmp_path / "keys.json")
    keys.revoke(key.id)

    def refused(path: Path) -> NoReturn:
        raise OSError(errno.EMFILE, "Too many open files")

    with monkeypatch.context() as failing:
        failing.setattr(Path, "read_bytes", refused)
        now += 5
        assert serving.identify(secret.encode()).name == key.id
    now += 5
    with pytest.raises(UnauthorizedError):
        serving.identify(secret.encode())


def test_a_keys_file_of_before_there_were_limits_is_read(tmp_path: Path) -> None:
    entry = {
        "id": "0a1b2c3d",
        "sha256": hashlib.sha256(b"ls_secret").hexdigest(),
        "scopes": ["predict"],
        "models": [],
        "created": "2026-01-01T00:00:00+00:00",
    }
    (tmp_path / "keys.json").write_text(json.dumps({"keys": [entry]}))
    found = KeysFile(tmp_path / "keys.json").identify(b"ls_secret")
    assert (found.name, found.expires, found.limits) == ("0a1b2c3d", None, None)


DEAD = "0123456789abcdef"


def test_the_spool_keeps_what_the_living_use_and_removes_what_the_dead_left(
    tmp_path: Path,
) -> None:
    (tmp_path / "spool" / f"{DEAD}-0123abcd").mkdir(parents=True)
    (tmp_path / "spool" / f"{DEAD}.lock").touch()
    one, other = Spool(tmp_path), Spool(tmp_path)
    with one.folder() as mine:
        other.open()
        assert mine.exists()
        assert not (tmp_path / "spool" / f"{DEAD}-0123abcd").exists()
        upload = Upload(mine / "upload", 10)
        upload.write(b"12345")
        with pytest.raises(PayloadTooLargeError):
            upload.write(b"123456")
        upload.close()
    assert not mine.exists()
    one.close()
    other.close()
    assert list((tmp_path / "spool").iterdir()) == []


def test_a_lock_that_another_worker_removed_meanwhile_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    flock, calls = fcntl.flock, []

    def late(lock: BinaryIO, how: int) -> None:
        if not calls:
            Path(lock.name).unlink()
        calls.append(how)
        flock(lock, how)

    monkeypatch.setattr("app.serving.spool.fcntl.flock", late)
    one, other = Spool(tmp_path), Spool(tmp_path)
    one.open()
    assert len(calls) == 2
    with one.folder() as mine:
        other.open()
        assert mine.exists()
    one.close()
    other.close()


@pytest.mark.parametrize("is_whole", [True, False])
def test_a_spool_that_was_removed_is_made_again(tmp_path: Path, is_whole: bool) -> None:
    one, other, folder = Spool(tmp_path), Spool(tmp_path), tmp_path / "spool"
    with one.folder():
        pass
    rmtree(folder) if is_whole else (folder / f"{one._owner}.lock").unlink()
    with one.folder() as mine:
        other.open()
        assert mine.exists()  # the other one sees that its owner lives
    other.close()
    one.close()
    assert list(folder.iterdir()) == []


@settings(deadline=None)  # the first call may compile
@given(
    st.lists(st.tuples(st.integers(-3, 3), st.integers(-3, 4)), min_size=1, max_size=300),
    st.one_of(st.none(), st.integers(1, 400)),
)
def test_picking_is_a_stable_sort_of_what_passes(
    pairs: list[tuple[int, int]], k: int | None
) -> None:
    scores = np.array([score if score > -3 else -np.inf for score, _ in pairs], np.float32)
    cuts = np.array([cut if cut < 4 else np.inf for _, cut in pairs], np.float32)
    passing = [i for i in range(len(pairs)) if scores[i] > cuts[i]]
    expected = sorted(passing, key=lambda i: (-scores[i], i))[:k]
    columns, found = best(scores, cuts, k)
    assert columns.tolist() == expected
    assert found.tolist() == scores[expected].tolist()
    room = np.empty(5, np.int64), np.empty(5, np.float32)
    plain = np.empty(5, np.int64), np.empty(5, np.float32)
    n_passing = kernels("linear.picking").pick(scores, cuts, *room)
    assert n_passing == picking_plain.pick(scores, cuts, *plain) == len(passing)
    n_kept = min(n_passing, 5)
    assert room[0][:n_kept].tolist() == plain[0][:n_kept].tolist()
