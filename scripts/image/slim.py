"""`python scripts/image/slim.py VENV`: removes what a service never opens from an image.

Of the installed packages go their tests, headers, sources of compiled modules, type stubs, sample
data and lexers; of the compiled modules the symbols that only a debugger reads. Then every module
is compiled, once, without the time of its source, so that the same packages give the same files.
Licences stay.
"""

import argparse
import compileall
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from py_compile import PycInvalidationMode

FOLDERS = {"test", "tests", "__pycache__"}
SAMPLES = ("sklearn/datasets/data", "sklearn/datasets/images", "sklearn/datasets/descr")
SUFFIXES = {
    *(".h", ".hpp", ".hh", ".cuh", ".c", ".cc", ".cpp", ".f", ".f90"),
    *(".pyx", ".pxd", ".pxi", ".pyi", ".tp", ".a", ".lib", ".cmake"),
}
# A traceback on a terminal is coloured by the lexer of Python; no other is ever loaded.
LEXERS = {"__init__.py", "_mapping.py", "python.py", "special.py"}
# Made by tools that strip does not know all about (patchelf): left as they are.
UNTOUCHED = (".libs", "torch")


def main() -> None:
    """Slim the packages of one virtual environment and say what that saved."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("venv", type=Path, help="the virtual environment")
    (site,) = parser.parse_args().venv.glob("lib/python*/site-packages")
    before = size(site)
    for path in list(removable(site)):
        remove(path)
    strip(site)
    compileall.compile_dir(
        site, quiet=2, workers=0, invalidation_mode=PycInvalidationMode.UNCHECKED_HASH
    )
    print(f"{before / 1e6:.0f} MB of packages became {size(site) / 1e6:.0f}", file=sys.stderr)


def removable(site: Path) -> Iterator[Path]:
    """Folders and files below a package that only its developers open."""
    yield from (site / sample for sample in SAMPLES if (site / sample).exists())
    yield from (one for one in site.glob("pygments/lexers/*.py") if one.name not in LEXERS)
    for path in site.rglob("*"):
        is_folder = path.is_dir() and not path.is_symlink()
        is_rubbish = path.name in FOLDERS if is_folder else path.suffix in SUFFIXES
        if is_rubbish and is_code(path, site):
            yield path


def is_code(path: Path, site: Path) -> bool:
    """Whether it belongs to a package, not to what is said about one: licences are kept."""
    return not path.relative_to(site).parts[0].endswith(".dist-info")


def remove(path: Path) -> None:
    """Remove a folder or a file, which may have gone with its folder already."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def strip(site: Path) -> None:
    """Take the symbols that linking does not need out of compiled modules."""
    modules = [
        path
        for path in site.rglob("*.so*")
        if path.is_file() and not path.relative_to(site).parts[0].endswith(UNTOUCHED)
    ]
    if modules and shutil.which("strip"):
        subprocess.run(["strip", "--strip-unneeded", *map(str, modules)], check=True)


def size(folder: Path) -> int:
    """The bytes of all files below a folder."""
    return sum(path.lstat().st_size for path in folder.rglob("*") if not path.is_dir())


if __name__ == "__main__":
    main()
