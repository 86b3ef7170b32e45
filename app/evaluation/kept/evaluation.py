"""OpenedEvaluation: a kept evaluation, opened to be compared with others."""

from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from app.artifacts.manifest import File
from app.artifacts.npy import checked_array, open_plain
from app.errors import DamagedArtifactError, DamagedEvaluationError
from app.evaluation.kept.counted_documents import CountedDocuments
from app.evaluation.kept.documents import KeptDocuments
from app.evaluation.kept.facts import KeptFacts, read_facts
from app.evaluation.storage.array_file import ArrayFile
from app.metrics.counting.document_values import DocumentValues

BY_DOCUMENT = ("line", "id_length", "pair_count")


@dataclass(frozen=True)
class OpenedEvaluation:
    """What was evaluated, and every document's labels and ranks."""

    facts: KeptFacts
    documents: KeptDocuments
    inverse: NDArray[np.float64] | None
    """1/propensity of each label, and of zero-shot ones; None: not known."""

    @property
    def name(self) -> str:
        """NAME@VERSION of the model; empty where it has no name."""
        return f"{self.facts.model}@{self.facts.version}".rstrip("@")

    def names(self, *, with_zero_shot: bool) -> list[str]:
        """The name of every column that is counted."""
        return [*self.facts.labels, *(self.facts.zero_shot if with_zero_shot else ())]

    def counted(self, k: tuple[int, ...], *, with_zero_shot: bool) -> CountedDocuments:
        """The documents with the labels that are counted, measured at these K."""
        values = DocumentValues(k, self.facts.averaging, self.inverse is not None)
        n_columns = len(self.names(with_zero_shot=with_zero_shot))
        return CountedDocuments(self.documents, values, n_columns, self.inverse)


@contextmanager
def opened(folder: Path) -> Iterator[OpenedEvaluation]:
    """The evaluation kept there, if every file is to the byte what was written."""
    facts = read_facts(folder)
    with ExitStack() as stack:
        files = {
            name: stack.enter_context(closing(_checked(folder / f"{name}.npy", expected)))
            for name, expected in facts.arrays.items()
        }
        _check_lengths(files, facts)
        inverse = files["inverse_propensity"].read(0, len(facts.labels) + 1)
        yield OpenedEvaluation(facts, KeptDocuments(files), inverse if len(inverse) else None)


def _checked(path: Path, expected: File) -> ArrayFile:
    try:
        with open_plain(path) as file:
            _, offset = checked_array(file, expected, f"kept evaluation: {path.name}")
        return ArrayFile(path, expected.dtype, offset=offset, length=expected.shape[0])
    except (DamagedArtifactError, OSError) as error:
        why = str(error) if isinstance(error, DamagedArtifactError) else f"{path.name} is missing"
        raise DamagedEvaluationError(why) from None


def _check_lengths(files: dict[str, ArrayFile], facts: KeptFacts) -> None:
    """Refuse arrays that do not belong together, whatever their checksums say."""
    lengths = {name: file.length for name, file in files.items()}
    same = len({lengths[name] for name in BY_DOCUMENT}) == 1
    ranks = lengths["rank"] == lengths["at_least"] <= lengths["pair"]
    weights = lengths["inverse_propensity"] in (0, len(facts.labels) + 1)
    if not (same and ranks and weights):
        raise DamagedEvaluationError("the arrays of a kept evaluation do not belong together")
