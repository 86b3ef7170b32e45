"""What a long run has found: figures in words, and whether every bound held."""

from dataclasses import dataclass, field


@dataclass
class Findings:
    """What a run has found, in words, and whether every bound held."""

    words: list[str] = field(default_factory=list)
    held: bool = True

    def note(self, words: str, held: bool = True) -> None:
        """Add a figure; one out of its bounds is set in bold."""
        self.words.append(words if held else f"**{words}**")
        self.held = self.held and held
