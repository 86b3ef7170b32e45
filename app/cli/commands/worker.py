"""Work on evaluations that were handed in to a service: a worker on a machine of its own."""

from pathlib import Path
from typing import Annotated

from app.catalogue import find
from app.cli.examples import CommandWithExamples, examples
from app.cli.options.settings import environment_with, setting
from app.cli.terminal import command
from app.settings import Settings

app = command("Work on evaluations that were handed in.")

WORKER = {
    "options": "app.serving.jobs.workers.worker_options:WorkerOptions",
    "run": "app.serving.jobs.workers.worker_process:run_alone",
}
EXAMPLES = examples(
    "",
    "--data-dir /srv/labelserve/var --models-dir /srv/models",
    "--jobs-url postgresql://labelserve@db/labelserve",
)


@app.command(cls=CommandWithExamples, epilog=EXAMPLES)
def main(
    models_dir: Annotated[Path | None, setting("models_dir")] = None,
    data_dir: Annotated[Path | None, setting("data_dir")] = None,
    jobs_url: Annotated[str | None, setting("jobs_url")] = None,
    log_level: Annotated[str | None, setting("log_level")] = None,
) -> None:
    """Work until Ctrl-C or SIGTERM; what is under way then goes back to the queue.

    It needs the service's models and its data folder, where uploads are read and reports written.
    """
    environment = environment_with(
        models_dir=models_dir, data_dir=data_dir, jobs_url=jobs_url, log_level=log_level
    )
    settings = Settings.from_environment(environment)
    options, run = (find(WORKER, name, "worker") for name in ("options", "run"))
    run(options.of(settings))
