"""From files to documents. Catalogue of the formats by name; each reader loads on first use."""

FORMATS = {
    "tsv": "app.datasets.formats.tsv:documents",
    "jsonl": "app.datasets.formats.jsonl:documents",
    "json": "app.datasets.formats.json:documents",
    "csv": "app.datasets.formats.csv:documents",
    "xlsx": "app.datasets.formats.xlsx:documents",
    "parquet": "app.datasets.formats.parquet:documents",
    "svmlight": "app.datasets.formats.svmlight:documents",
    "folder": "app.datasets.formats.folder:documents",
}
