"""`make containers`: images built, docker-compose.yml run as it stands, and asked from outside.

Finds docker, or podman with a storage of its own (.cache/containers); says what it would install
and asks first. Images are kept for the next run, all else is removed, also after Ctrl-C.
`--only build` builds the image, starts one container and asks it once.
"""

import argparse
import fcntl
import shutil
import signal
import socket
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType

sys.path.insert(0, str(Path(__file__).parents[1]))
from containers.engine.command import CommandError
from containers.engine.engine import Engine, find_engine
from containers.engine.installing import NotAllowedError
from containers.images.base_images import BaseImages
from containers.images.service_image import BASE, ServiceImage
from containers.phases import build_alone, whole
from containers.report import Report
from containers.stack import PROJECT, ROOT, Stack

HOME = ROOT / ".cache" / "containers"
COMPOSE_FILES = [ROOT / "docker-compose.yml", ROOT / "deploy" / "haproxy" / "compose.yml"]


def main() -> int:
    """0 if every check was good and nothing is left behind."""
    arguments = parsed()
    HOME.mkdir(parents=True, exist_ok=True)
    signal.signal(signal.SIGTERM, _stop)
    try:
        with only_one_run(), run_of(arguments) as (stack, report):
            go(arguments, stack, report)
    except (NotAllowedError, CommandError) as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("stopped; what was made is removed", file=sys.stderr)
        return 130
    return 0 if report.is_good else 1


def parsed() -> argparse.Namespace:
    """The arguments of the command line."""
    parser = argparse.ArgumentParser(prog="make containers", description=__doc__)
    parser.add_argument("--yes", action="store_true", help="install what is missing without asking")
    parser.add_argument("--only", choices=["build"], help="the image, one start, one request")
    parser.add_argument("--neural", action="store_true", help="build the target `neural` too")
    parser.add_argument("--fresh", action="store_true", help="forget images of earlier runs first")
    return parser.parse_args()


def go(arguments: argparse.Namespace, stack: Stack, report: Report) -> None:
    """Make the images, then run the checks; the table at the end."""
    began = time.monotonic()
    print(f"{stack.engine.version}; its output: {stack.log}")
    files = [] if arguments.only else COMPOSE_FILES
    images = BaseImages(stack.engine, HOME, stack.log)
    is_ready = report.check("images of others", lambda: origins(images, files, report))
    ours = ServiceImage(stack.engine, HOME, stack.log)
    if is_ready and report.check("image `service`", lambda: ours.build(report)):
        layers = ours.layers()
        (build_alone if arguments.only else whole)(stack, report, ours)
        if arguments.neural:
            report.check("image `neural`", lambda: ours.build(report, target="neural"))
        print("", report.table(), "", sep="\n")
        print(*(f"| {size} | {words[:100]} |" for size, words in layers), sep="\n")
    print(f"{time.monotonic() - began:.0f} s in all")


def origins(images: BaseImages, files: list[Path], report: Report) -> None:
    """Where every image of others came from."""
    found = images.ready(BASE, files)
    report.found(", ".join(f"{name} {origin}" for name, origin in found.items()))


@contextmanager
def run_of(arguments: argparse.Namespace) -> Iterator[tuple[Stack, Report]]:
    """An engine and a stack; what they made is removed at the end, images excepted."""
    engine = find_engine(HOME, is_allowed=arguments.yes)
    if arguments.fresh:
        engine.forget_images()
    log = HOME / "log.txt"
    log.write_text("")
    stack, report = Stack(engine, HOME / "project", free_port(), log), Report()
    engine.remove_all()
    engine.prepare()
    try:
        yield stack, report
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        report.check("nothing left behind", lambda: clean(engine, stack, report))


def clean(engine: Engine, stack: Stack, report: Report) -> None:
    """Remove everything that was made, then look whether anything is still there."""
    with suppress(CommandError, OSError):
        stack.down()
    engine.remove_all()
    shutil.rmtree(stack.folder, ignore_errors=True)
    left = engine.leftovers(PROJECT)
    report.expect(not left, f"still there: {', '.join(left)}")
    report.found("no container, network, volume or mount")


@contextmanager
def only_one_run() -> Iterator[None]:
    """Refuse a second run at the same time: both would use the same addresses."""
    with (HOME / "lock").open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise CommandError("another run of `make containers` is under way") from None
        yield


def free_port() -> int:
    """A port of this machine that nobody listens on."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def _stop(signum: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


if __name__ == "__main__":
    sys.exit(main())
