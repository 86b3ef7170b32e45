"""Predictions beside the data they are about. Catalogue of the file formats by suffix."""

WRITERS = {
    ".csv": "app.prediction.tables.csv:CsvFile",
    ".jsonl": "app.prediction.tables.jsonl:JsonlFile",
    ".parquet": "app.prediction.tables.parquet:ParquetFile",
    ".xlsx": "app.prediction.tables.xlsx:XlsxFile",
}
