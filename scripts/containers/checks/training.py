"""Training in a container: the model that the stack serves, and its next version."""

import threading
import time

from containers.client import Client
from containers.report import Report
from containers.stack import REPLICAS, Stack, wait_for

POLL_SECONDS = 2  # LABELSERVE_POLL_SECONDS, where nothing sets it
VERIFYING_SECONDS = 5  # on a busy machine


def write_demo(stack: Stack, report: Report) -> None:
    """The demo corpus, written by the image's own command into ./data."""
    volume = f"{stack.folder / 'data'}:/data"
    words = ["run", "--rm", "--network=none", "--user=1000:1000", f"--volume={volume}"]
    stack.engine(*words, "labelserve:0.1.0", "demo", "/data")
    found = sorted(path.name for path in (stack.folder / "data").iterdir())
    report.expect(found == ["test.jsonl", "train.jsonl"], f"data has {found}")


def train(stack: Stack, report: Report) -> None:
    """Train the model with the `train` profile."""
    words = ["--profile", "train", "run", "--rm", "--no-deps", "train"]
    stack.compose(*words, "data/train.jsonl", "--model", "demo")
    versions = list((stack.folder / "models" / "demo").glob("*/manifest.json"))
    report.expect(bool(versions), "no version was written")


def picked_up(stack: Stack, report: Report) -> None:
    """Both replicas answer with a new version within the poll time after it was promoted."""
    replicas = [Client(stack.address(name), 8000, stack.key) for name in REPLICAS]
    old = {client.version() for client in replicas}
    training = threading.Thread(target=train, args=(stack, report))
    training.start()  # its container is removed seconds after the version was promoted
    wait_for(lambda: not old & {one.version() for one in replicas}, 120, "a new version on both")
    promoted = (stack.folder / "models" / "demo" / "current").lstat().st_mtime
    seconds = time.time() - promoted
    training.join()
    report.expect(seconds < POLL_SECONDS + VERIFYING_SECONDS, f"only after {seconds:.1f} s")
    report.expect(len({client.version() for client in replicas}) == 1, "two versions answer")
    report.found(f"both replicas {seconds:.1f} s after it was promoted")
