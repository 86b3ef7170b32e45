"""`python -m app.compiling`: all kernels compiled; `… NICENESS NAME…`: those, in this process."""

import os
import sys

from app.compiling.completeness import is_wanted
from app.compiling.processes import compile_kernels
from app.kernels import load_compiled


def main(arguments: list[str]) -> None:
    """Compile, and write the name of each kernel that is done; an error code where that failed."""
    if not arguments:
        compile_kernels()
        sys.exit(1 if is_wanted() else 0)
    os.nice(int(arguments[0]))
    for name in arguments[1:]:
        load_compiled((name,))
        sys.stdout.write(f"{name}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1:])
