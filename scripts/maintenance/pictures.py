"""Make the pictures of docs/page.md: the demo model, a service, and Chromium.

    python scripts/maintenance/pictures.py [NAME ...]

Without names all are made. Each is written to docs/pictures as the page shows it.
"""

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1]))
from bench.harness.processes import free_ports
from bench.harness.server_process import replica
from maintenance.evaluation_pictures import check, compare, evaluate, label_table, review

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "docs" / "pictures"
TEXT = (
    "The courier left my parcel in the rain. I would like my money back for the order, and the "
    "camera in the hallway goes offline every night since the last update."
)


class Picture(NamedTuple):
    """A view, what is done there before the picture is taken, and the window."""

    view: str
    arrange: Callable[[Any], None]
    width: int = 1200
    height: int = 760
    scheme: Literal["light", "dark"] = "light"


def type_text(page: Any) -> None:
    """A text, and its labels."""
    page.get_by_role("textbox", name="Text").fill(TEXT)
    page.locator(".is-assigned").first.wait_for()
    page.get_by_role("slider").wait_for()


def open_label(page: Any) -> None:
    """The same with the first label's reasons."""
    type_text(page)
    page.locator(".is-assigned .bar-row").first.click()
    page.locator(".reasons").wait_for()


def move_slider(page: Any) -> None:
    """The same at a cut that misses less."""
    type_text(page)
    slider = page.get_by_role("slider")
    with page.expect_response("**/predict"):
        slider.fill(str(int(slider.input_value()) + 6))


def wait_for_plots(page: Any) -> None:
    """A view of models, with its plots."""
    page.locator("svg.plot").first.wait_for()


def try_operation(page: Any) -> None:
    """The first operation, tried."""
    page.locator("summary").first.click()
    page.get_by_role("button", name="Send").click()
    page.get_by_role("group", name="Answer").wait_for()


PICTURES = {
    "try": Picture("try", type_text),
    "why": Picture("try", open_label),
    "slider": Picture("try", move_slider, scheme="dark"),
    "phone": Picture("try", open_label, 390, 844, "dark"),
    "table": Picture("table", label_table, height=900),
    "check": Picture("evaluate", check, height=960),
    "report": Picture("evaluate", evaluate, height=1000),
    "compare": Picture("evaluate", compare, height=900, scheme="dark"),
    "review": Picture("evaluate", review),
    "model": Picture("models/demo", wait_for_plots, height=900),
    "label": Picture("models/demo/label/refund", wait_for_plots, height=900, scheme="dark"),
    "docs": Picture("docs", try_operation, height=900),
}


def main(names: list[str]) -> None:
    """Make the pictures of these names, or all."""
    with tempfile.TemporaryDirectory() as folder:
        models = train_demo(Path(folder))
        service = replica(models, free_ports(1)[0], Path(folder))
        service.start()
        try:
            service.wait_until_ready()
            take(f"http://127.0.0.1:{service.port}/", names or list(PICTURES))
        finally:
            service.end()


def train_demo(folder: Path) -> Path:
    """A models folder with the demo model, made by the product's own commands."""
    commands = [
        ["make_demo.py", "demo"],
        ["train.py", "demo/train.jsonl", "--model=demo", "--quality=fast"],
    ]
    for script, *arguments in commands:
        command = [sys.executable, str(ROOT / "scripts" / script), *arguments]
        subprocess.run(command, check=True, cwd=folder, stdout=subprocess.DEVNULL)
    return folder / "models"


def take(address: str, names: list[str]) -> None:
    """Arrange and take each picture in a tab of its own."""
    from playwright.sync_api import sync_playwright

    FOLDER.mkdir(exist_ok=True)
    with sync_playwright() as playwright:
        program = shutil.which("chromium")
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        for name in names:
            view, arrange, width, height, scheme = PICTURES[name]
            page = browser.new_page(
                viewport={"width": width, "height": height},
                color_scheme=scheme,
                reduced_motion="reduce",
            )
            page.goto(f"{address}#/{view}")
            arrange(page)
            page.wait_for_load_state("networkidle")
            page.screenshot(path=FOLDER / f"{name}.png")
            print(f"{FOLDER.name}/{name}.png")
            page.close()
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1:])
