"""Objects as labelling tools write them. Catalogue of the shapes; the first that fits counts."""

EXPORTS = {
    "Label Studio (JSON)": "app.datasets.exports.label_studio:LabelStudio",
    "Label Studio (JSON-MIN)": "app.datasets.exports.label_studio_min:LabelStudioMin",
    "Argilla": "app.datasets.exports.argilla:Argilla",
    "Prodigy": "app.datasets.exports.prodigy:Prodigy",
    "text and labels, as of doccano and Hugging Face": (
        "app.datasets.exports.text_and_labels:TextAndLabels"
    ),
}
