"""Doctor: what is wrong with this installation and its models, and how to mend it."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from app import kernels
from app.cli.doctor.finding import Finding
from app.cli.doctor.installation import installation_findings
from app.cli.doctor.service import service_findings
from app.cli.examples import CommandWithExamples, examples
from app.cli.options.settings import environment_with, setting
from app.cli.terminal import EXIT_FAILED, Json, command, out, write_json

app = command("Say what is wrong with this installation, and how to mend it.")


@app.command(
    cls=CommandWithExamples,
    epilog=examples("", "--models-dir /srv/models --port 9000", "--json -"),
)
def main(
    models_dir: Annotated[Path | None, setting("models_dir")] = None,
    host: Annotated[str | None, setting("host")] = None,
    port: Annotated[int | None, setting("port")] = None,
    json: Json = None,
) -> None:
    """Look at Python, packages, kernels, settings, models, ports, keys and disk; change nothing.

    The exit code is 0 where nothing is wrong, and 1 where something is.
    """
    environment = environment_with(models_dir=models_dir, host=host, port=port)
    findings = list(installation_findings())
    kernels.use("plain")  # verifying a model is no reason to compile for half a minute
    findings += service_findings(environment)
    is_fine = all(finding.state != "wrong" for finding in findings)
    if str(json) != "-":
        _show(findings, is_fine=is_fine)
    write_json(json, {"fine": is_fine, "findings": [asdict(finding) for finding in findings]})
    if not is_fine:
        raise typer.Exit(EXIT_FAILED)


def _show(findings: list[Finding], *, is_fine: bool) -> None:
    width = max(len(finding.check) for finding in findings)
    for finding in findings:
        _line(f"{finding.state:5}  {finding.check:{width}}  {finding.found}")
        if finding.mend:
            _line(f"{'':5}  {'':{width}}  → {finding.mend}")
    _line("nothing is wrong" if is_fine else "something is wrong; → says how to mend it")


def _line(text: str) -> None:
    """Print the text unbroken, so that a command in it can be copied."""
    out.print(text, markup=False, soft_wrap=True)
