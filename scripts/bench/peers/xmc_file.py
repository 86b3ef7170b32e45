"""Training data as omikuji reads it: the XMC repository's text format."""


def write_xmc(path, rows, label_lists, n_labels):
    """Write a csr matrix and each row's label columns; the first line has the three sizes."""
    with open(path, "w") as file:
        file.write(f"{rows.shape[0]} {rows.shape[1]} {n_labels}\n")
        for row, labels in enumerate(label_lists):
            values = "".join(f" {column}:{value:.6g}" for column, value in row_pairs(rows, row))
            file.write(",".join(map(str, labels)) + values + "\n")


def row_pairs(rows, row):
    """One document's (column, value) pairs."""
    span = slice(rows.indptr[row], rows.indptr[row + 1])
    return list(zip(rows.indices[span].tolist(), rows.data[span].tolist(), strict=True))


def row_columns(marks):
    """The columns that are marked, row by row."""
    return [marks.indices[marks.indptr[i] : marks.indptr[i + 1]] for i in range(marks.shape[0])]
