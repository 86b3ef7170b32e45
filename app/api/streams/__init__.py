"""Bodies of many documents, answered while they arrive. Catalogue of their forms by media type."""

EXCHANGES = {
    "application/x-ndjson": "app.api.streams.ndjson:NdjsonExchange",
    "text/csv": "app.api.streams.csv:CsvExchange",
}
