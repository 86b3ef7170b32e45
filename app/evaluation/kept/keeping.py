"""keep: what was recorded of the documents becomes a kept evaluation."""

from typing import Any

from app.evaluation.kept.facts import FORMAT, KeptFacts, write_facts
from app.evaluation.measure.measurement import Measurement
from app.evaluation.measure.truth import TruthReader
from app.evaluation.report.headline_figures import headline_figures


def keep(measurement: Measurement, truth: TruthReader, report: dict[str, Any]) -> None:
    """Finish the folder that the options name, through to the disk; nothing where they do not."""
    options, recorder, data = measurement.options, measurement.recorder, report["data"]
    if options.keep is None or recorder is None:
        return
    facts = KeptFacts(
        format=FORMAT,
        model=report["model"],
        version=report["version"],
        decision=report["conventions"]["decision"],
        data=data["sha256"],
        label_separator=data.get("label_separator", ""),
        unlabelled=options.unlabelled,
        k=list(options.k),
        beta=options.beta,
        zero_division=options.zero_division,
        include_test_labels=options.include_test_labels,
        labels=list(truth.labels.names),
        zero_shot=list(truth.columns),
        figures=headline_figures(report),
        arrays=recorder.seal(measurement.inverse),
    )
    write_facts(options.keep, facts)
