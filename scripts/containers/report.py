"""What a run has found: a line a check while it runs, and a table of all at the end."""

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from containers.engine.command import CommandError


@dataclass
class Row:
    """One check: its name, what was found, how long it took, and what was wrong."""

    name: str
    found: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def words(self) -> str:
        """What was found and what was wrong, in one line."""
        return "; ".join([*self.found, *(f"**{fault}**" for fault in self.faults)])


@dataclass
class Report:
    """All checks of a run, in order."""

    rows: list[Row] = field(default_factory=list)

    def check(self, name: str, action: Callable[[], object]) -> bool:
        """Run one check and print its line; a failure of it does not end the run."""
        self.rows.append(Row(name))
        began = time.monotonic()
        try:
            action()
        except (AssertionError, CommandError, OSError, ValueError, LookupError) as error:
            self.rows[-1].faults.append(f"{type(error).__name__}: {error}")
        row = self.rows[-1]
        row.seconds = time.monotonic() - began
        print(f"{'FAILED' if row.faults else 'ok':6} {row.seconds:6.1f} s  {name}: {row.words}")
        sys.stdout.flush()
        return not row.faults

    def expect(self, holds: bool, fault: str) -> None:
        """Note a fault of the check that runs, unless it holds."""
        if not holds:
            self.rows[-1].faults.append(fault)

    def found(self, words: str) -> None:
        """Note a figure of the check that runs."""
        self.rows[-1].found.append(words)

    @property
    def is_good(self) -> bool:
        """Whether no check found a fault."""
        return not any(row.faults for row in self.rows)

    def table(self) -> str:
        """All rows, as docs/operations.md has them."""
        lines = [f"| {row.name} | {row.words} | {row.seconds:.0f} s |" for row in self.rows]
        return "\n".join(["| check | found | took |", "|---|---|---|", *lines])
