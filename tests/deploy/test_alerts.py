"""Prometheus's own tool reads the alerts, and plays each of them through on figures made up."""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

PROMTOOL = shutil.which("promtool")
CONFIGURATION = Path(__file__).parents[2] / "deploy" / "prometheus"

if PROMTOOL is None:
    pytest.skip("promtool is not installed", allow_module_level=True)

OTHER = 'job="labelserve",instance="other"'
REPLICA = 'job="labelserve",instance="replica"'
MODEL = 'model="demo",version="1"'
REQUESTS = f'http_request_duration_seconds_%s{{{REPLICA},method="POST",route="/predict"'
HOURS = 12 * 60

# A minute: 600 quick requests of a document, two labels for each. One model, two replicas.
CALM = {
    f"up{{{REPLICA}}}": f"1x{HOURS}",
    f"up{{{OTHER}}}": f"1x{HOURS}",
    f"labelserve_model_info{{{REPLICA},{MODEL}}}": f"1x{HOURS}",
    f"labelserve_model_info{{{OTHER},{MODEL}}}": f"1x{HOURS}",
    f'{REQUESTS % "count"},status="200"}}': f"0+600x{HOURS}",
    f'{REQUESTS % "bucket"},status="200",le="0.1"}}': f"0+600x{HOURS}",
    f'{REQUESTS % "bucket"},status="200",le="1"}}': f"0+600x{HOURS}",
    f'{REQUESTS % "bucket"},status="200",le="+Inf"}}': f"0+600x{HOURS}",
    f'labelserve_loop_lag_seconds_bucket{{{REPLICA},le="0.25"}}': f"0+600x{HOURS}",
    f"labelserve_loop_lag_seconds_count{{{REPLICA}}}": f"0+600x{HOURS}",
    f'labelserve_labels_per_document_sum{{{REPLICA},model="demo"}}': f"0+1200x{HOURS}",
    f'labelserve_labels_per_document_count{{{REPLICA},model="demo"}}': f"0+600x{HOURS}",
}
CASES: list[tuple[str, dict[str, str], int, set[str]]] = [
    ("all is well", {}, HOURS, set()),
    ("a replica was away for half a minute", {f"up{{{OTHER}}}": "1x9 0 1x9"}, 11, set()),
    ("a replica is away", {f"up{{{OTHER}}}": "0x9"}, 3, {"ReplicaDown"}),
    (
        "all replicas are away",
        {f"up{{{OTHER}}}": "0x9", f"up{{{REPLICA}}}": "0x9"},
        3,
        {"ReplicaDown", "AllReplicasDown"},
    ),
    (
        "one request in sixty fails",
        {f'{REQUESTS % "count"},status="500"}}': "0+10x60"},
        20,
        {"ServerErrors"},
    ),
    (
        "one request in thirty is slow",
        {f'{REQUESTS % "bucket"},status="200",le="0.1"}}': "0+580x60"},
        20,
        {"PredictSlow"},
    ),
    (
        "the event loop is often held up",
        {f'labelserve_loop_lag_seconds_bucket{{{REPLICA},le="0.25"}}': "0+580x60"},
        20,
        {"LoopHeldUp"},
    ),
    (
        "one request in six is refused",
        {f'labelserve_rejected_total{{{REPLICA},reason="too-many-requests"}}': "0+100x60"},
        20,
        {"TurnsAway"},
    ),
    (
        "a replica has no memory left",
        {f'labelserve_resource_use_ratio{{{REPLICA},resource="memory"}}': "0.5x5 1.01x60"},
        20,
        {"ResourcesShort"},
    ),
    (
        "a wrong key is tried all the time",
        {f'labelserve_rejected_total{{{REPLICA},reason="unauthorized"}}': "0+100x60"},
        20,
        set(),
    ),
    (
        "the first version that a new replica sees is damaged",
        {f'labelserve_model_load_failures_total{{{OTHER},model="demo",reason="damaged"}}': "1x9"},
        5,
        {"ModelNotLoaded"},
    ),
    (
        "a version was damaged an hour ago",
        {f'labelserve_model_load_failures_total{{{OTHER},model="demo",reason="damaged"}}': "1x60"},
        60,
        set(),
    ),
    (
        "a replica has no model",
        {f"labelserve_model_info{{{OTHER},{MODEL}}}": "0x60"},
        10,
        {"ModelMissing", "NoModel"},
    ),
    (
        "a replica stays at another version",
        {
            f"labelserve_model_info{{{OTHER},{MODEL}}}": "0x60",
            f'labelserve_model_info{{{OTHER},model="demo",version="2"}}': "1x60",
        },
        30,
        {"VersionsDiffer"},
    ),
    (
        "a replica has lost its models folder",
        {f'labelserve_models_folder_failures_total{{{OTHER},reason="ESTALE"}}': "1+6x60"},
        20,
        {"ModelsFolderFails"},
    ),
    (
        "a keys file was written over by something else",
        {f"labelserve_keys_file_failures_total{{{OTHER}}}": "0x5 0+60x60"},
        20,
        {"KeysFileFails"},
    ),
    (
        "the disk takes no counts of keys",
        {f'labelserve_quota_failures_total{{{OTHER},reason="ENOSPC"}}': "1+60x60"},
        20,
        {"QuotasNotCounted"},
    ),
    (
        "keys are over their limits all the time",
        {f'labelserve_rejected_total{{{REPLICA},reason="quota"}}': "0+300x60"},
        20,
        set(),
    ),
    (
        "an evaluation has waited for two hours",
        {f"labelserve_evaluation_oldest_queued_seconds{{{REPLICA}}}": "0+60x120"},
        120,
        {"EvaluationsWait"},
    ),
    (
        "processes that evaluate die",
        {f'labelserve_evaluation_failures_total{{{REPLICA},reason="internal"}}': "1x60"},
        20,
        {"EvaluationsFail"},
    ),
    (
        "clients send test sets that cannot be read",
        {f'labelserve_evaluation_failures_total{{{REPLICA},reason="bad-record"}}': "0+9x60"},
        20,
        set(),
    ),
    (
        "the database of evaluations is away",
        {
            f'labelserve_evaluation_upkeep_failures_total{{{REPLICA},reason="jobs-unavailable"}}': (
                "0+30x60"
            )
        },
        20,
        {"EvaluationsOutOfReach"},
    ),
    (
        "nobody reads the log of a replica",
        {f'labelserve_log_lines_dropped_total{{{OTHER},stream="stdout"}}': "0x5 0+100x60"},
        20,
        {"LogLinesDropped"},
    ),
    (
        "documents get three times as many labels as before",
        {
            f'labelserve_labels_per_document_sum{{{REPLICA},model="demo"}}': (
                f"0+1200x{HOURS - 300} {1200 * (HOURS - 300)}+3600x300"
            )
        },
        HOURS,
        {"LabelsShift"},
    ),
    (
        "documents are longer than those held out",
        {
            f'labelserve_drift_psi{{{REPLICA},{MODEL},measure="characters"}}': "0.05x9 0.4x60",
            f'labelserve_drift_p_value{{{REPLICA},{MODEL},measure="characters"}}': "0.3x9 0.0x60",
        },
        40,
        {"DocumentsDrift"},
    ),
    (
        "few documents are longer by chance",
        {
            f'labelserve_drift_psi{{{REPLICA},{MODEL},measure="characters"}}': "0.4x60",
            f'labelserve_drift_p_value{{{REPLICA},{MODEL},measure="characters"}}': "0.01x60",
        },
        40,
        set(),
    ),
    (
        "a shadow cannot answer what clients ask",
        {
            f'labelserve_shadow_documents_total{{{REPLICA},{MODEL},outcome="failed"}}': "0+5x60",
            f'labelserve_shadow_documents_total{{{OTHER},{MODEL},outcome="dropped"}}': "0+50x60",
        },
        20,
        {"ShadowFails"},
    ),
]


def test_the_configuration_is_one_that_prometheus_takes() -> None:
    _promtool("check", "config", str(CONFIGURATION / "prometheus.yml"))


def test_each_alert_fires_in_its_case_and_no_other_does(tmp_path: Path) -> None:
    tests = [_played(*case) for case in CASES]
    file = tmp_path / "cases.json"
    file.write_text(json.dumps({"rule_files": [str(CONFIGURATION / "alerts.yml")], "tests": tests}))
    _promtool("test", "rules", str(file))


def test_each_alert_has_a_case() -> None:
    alerts = (CONFIGURATION / "alerts.yml").read_text().count("- alert: ")
    assert len(set.union(*(fires for *_, fires in CASES))) == alerts


def _played(name: str, series: dict[str, str], minutes: int, fires: set[str]) -> dict[str, Any]:
    """One case as promtool reads it; the names of its alerts are what fires, and nothing else."""
    figures = {**CALM, **series}
    firing = "count by (alertname) (count by (alertname, instance) (ALERTS{alertstate='firing'}))"
    expected = [{"labels": f'{{alertname="Labelserve{alert}"}}', "value": 1} for alert in fires]
    return {
        "name": name,
        "interval": "1m",
        "input_series": [{"series": key, "values": figures[key]} for key in figures],
        "promql_expr_test": [
            {
                "expr": f"{firing} > bool 0",
                "eval_time": f"{minutes}m",
                "exp_samples": sorted(expected, key=lambda one: str(one["labels"])),
            }
        ],
    }


def _promtool(*arguments: str) -> None:
    assert PROMTOOL is not None
    found = subprocess.run([PROMTOOL, *arguments], capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stdout + found.stderr
