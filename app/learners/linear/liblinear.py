"""LIBLINEAR itself: one problem built once, then a weight vector per label vector."""

import ctypes
from typing import Any

import numpy as np
from liblinear import liblinear as library
from numpy.typing import NDArray

from app.arrays import Features
from app.errors import InvalidRequestError
from app.learners.linear.options import LinearOptions

_NODE = np.dtype(library.feature_node)
_C_LIBRARY = ctypes.CDLL(None)


class LiblinearProblem:
    """Documents in LIBLINEAR's own form, with the bias feature appended as the last one."""

    def __init__(self, features: Features, bias: float | None) -> None:
        n_documents, n_features = features.shape
        self.n_weights = n_features + (bias is not None)
        extra = 1 + (bias is not None)  # the end marker, and the bias before it
        shift = np.arange(n_documents + 1, dtype=np.int64) * extra
        starts = features.indptr.astype(np.int64) + shift
        self._nodes = np.zeros(features.nnz + n_documents * extra, dtype=_NODE)
        at = np.arange(features.nnz) + np.repeat(shift[:-1], np.diff(features.indptr))
        self._nodes["index"][at] = features.indices + 1
        self._nodes["value"][at] = features.data
        self._nodes["index"][starts[1:] - 1] = -1
        if bias is not None:
            self._nodes["index"][starts[1:] - 2] = n_features + 1
            self._nodes["value"][starts[1:] - 2] = bias
        base = self._nodes.ctypes.data
        self._rows = (base + starts[:-1] * _NODE.itemsize).astype(np.uint64)
        self._problem = _empty(library.problem)
        self._problem.l, self._problem.n, self._problem.bias = n_documents, self.n_weights, -1
        self._problem.x = ctypes.cast(
            self._rows.ctypes.data, ctypes.POINTER(ctypes.POINTER(library.feature_node))
        )

    def train(
        self, marks: NDArray[np.float64], options: LinearOptions, *, seed: int = 0
    ) -> tuple[NDArray[np.float64], list[int]]:
        """Weights (features, columns) and the class each column stands for.

        Two classes have one column, that of the first class, but for solver 4. LIBLINEAR draws
        from the C library's generator, so it is seeded here, and threads must not share it.
        """
        marks = np.ascontiguousarray(marks, np.float64)
        self._problem.y = marks.ctypes.data_as(ctypes.POINTER(ctypes.c_double))
        parameter = library.parameter(_words(options))
        refused = library.liblinear.check_parameter(self._problem, parameter)
        if refused:
            raise InvalidRequestError(f"LIBLINEAR: {refused.decode()}")
        _C_LIBRARY.srand(seed)
        trained = library.toPyModel(library.liblinear.train(self._problem, parameter))
        return _weights(trained, options), list(trained.get_labels())


def _weights(trained: Any, options: LinearOptions) -> NDArray[np.float64]:
    classes = trained.get_nr_class()
    columns = 1 if classes == 2 and options.solver != 4 else classes
    flat = np.ctypeslib.as_array(trained.w, (trained.nr_feature * columns,))
    return flat.reshape(trained.nr_feature, columns).copy()


def _words(options: LinearOptions) -> str:
    words = ["-q", "-s", options.solver, "-c", options.cost, "-e", options.tolerance]
    for label, cost in options.class_costs.items():
        words += [f"-w{label}", cost]
    return " ".join(map(str, words))


def _empty(structure: Any) -> Any:
    """A ctypes structure made without its Python constructor, which would copy the data."""
    return structure.__new__(structure)
