"""check_workers: what every worker must have, asked before it gets a task.

A worker without labelserve would end itself over the first one, and nobody would be told.
"""

from pathlib import Path
from typing import Any

from distributed import Client

from app.engines.shared_files import differing_versions
from app.errors import ClusterError

QUESTION = (
    "(__import__('app.engines.shared_files', fromlist=['versions']).versions(), "
    "__import__('os').path.isdir({folder!r}))"
)
"""An expression, which a Python without our functions can evaluate, too."""


def check_workers(client: Client, folder: Path) -> None:
    """Refuse workers without labelserve, with other versions, or without the shared folder."""
    question = QUESTION.format(folder=str(folder.resolve()))
    answers: dict[str, Any] = client.run(eval, question, on_error="return")
    wrong = {worker: problem(answer, folder) for worker, answer in answers.items()}
    if any(wrong.values()):
        raise ClusterError("; ".join(f"{worker} {what}" for worker, what in wrong.items() if what))


def problem(answer: Any, folder: Path) -> str:
    """What is wrong with a worker that gave this answer; empty if nothing is."""
    if isinstance(answer, ImportError):
        return (
            f"has no labelserve ({answer}): install 'labelserve[cluster]' there, of the versions "
            "that are here"
        )
    if isinstance(answer, Exception):
        return f"does not answer: {str(answer) or type(answer).__name__}"
    versions, has_folder = answer
    if differing := differing_versions(versions):
        return (
            "has other versions than the command (in brackets), which may give another model: "
            f"{differing}; install the same on both"
        )
    if not has_folder:
        return f"does not see {folder}: the models folder must be there under the same path"
    return ""
