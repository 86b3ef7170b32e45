"""CsrRows: the rows of a sparse matrix as kernels read them."""

from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from app.kernels.array_table import read_only


class CsrRows(NamedTuple):
    """Read-only arrays of CSR, in the types that kernels are compiled for."""

    starts: NDArray[np.int64]
    columns: NDArray[np.int32]
    values: NDArray[np.float32]

    @classmethod
    def of(cls, matrix: Any) -> Self:
        """The rows of a csr_array; arrays that have their type already are not copied."""
        return cls(
            read_only(matrix.indptr.astype(np.int64, copy=False)),
            read_only(matrix.indices.astype(np.int32, copy=False)),
            read_only(matrix.data.astype(np.float32, copy=False)),
        )

    def at(self, rows: slice) -> tuple[Any, Any, Any]:
        """Neighbouring rows; a plain tuple, since a kernel is compiled anew for a named one."""
        return self.starts[rows.start : rows.stop + 1], self.columns, self.values
