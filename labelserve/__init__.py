"""labelserve as a library: read, train, load, predict, evaluate; and ask a running service.

Names are imported on first use, so that `import labelserve` costs next to nothing, and a program
that only asks a service imports neither numpy nor scikit-learn. docs/python.md shows them all.
"""

from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from labelserve.own_app import require_own_app

if TYPE_CHECKING:
    from app.errors import AppError
    from labelserve.client.async_client import AsyncClient
    from labelserve.client.client import Client
    from labelserve.client.errors import ServiceError
    from labelserve.data import LabelledData, read
    from labelserve.estimator import LabelClassifier
    from labelserve.model import LabelModel, load
    from labelserve.predictions import TextPrediction
    from labelserve.report import EvaluationReport
    from labelserve.training import train

    __version__: str

WITH_APP = {
    "AppError": "app.errors",
    "LabelClassifier": "labelserve.estimator",
    "LabelModel": "labelserve.model",
    "LabelledData": "labelserve.data",
    "load": "labelserve.model",
    "read": "labelserve.data",
    "train": "labelserve.training",
}
WITHOUT_APP = {
    "AsyncClient": "labelserve.client.async_client",
    "Client": "labelserve.client.client",
    "EvaluationReport": "labelserve.report",
    "ServiceError": "labelserve.client.errors",
    "TextPrediction": "labelserve.predictions",
}
"""What works where another package hides `app`: all that a client of a service needs."""

__all__ = [
    "AppError",
    "AsyncClient",
    "Client",
    "EvaluationReport",
    "LabelClassifier",
    "LabelModel",
    "LabelledData",
    "ServiceError",
    "TextPrediction",
    "load",
    "read",
    "train",
]


def __getattr__(name: str) -> Any:
    """A name of the catalogues, imported now; ImportError where it needs an `app` that is hidden.

    It is not kept here: who asks again gets it from its module, and mistakes are told again.
    """
    if name == "__version__":
        return version("labelserve")
    if name in WITH_APP:
        require_own_app()
    elif name not in WITHOUT_APP:
        raise AttributeError(f"module 'labelserve' has no attribute {name!r}")
    return getattr(import_module({**WITH_APP, **WITHOUT_APP}[name]), name)


def __dir__() -> list[str]:
    """The public names, also those not imported yet."""
    return __all__
