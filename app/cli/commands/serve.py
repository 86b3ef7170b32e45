"""Serve the models of a folder over HTTP: app.main, with the commonest settings as options."""

from pathlib import Path
from typing import Annotated

from app.catalogue import find
from app.cli.completion import model_names
from app.cli.examples import CommandWithExamples, examples
from app.cli.options.settings import environment_with, setting
from app.cli.terminal import command

app = command("Serve the models of a folder over HTTP.")

SERVICE = {"serve": "app.main:main"}
EXAMPLES = examples(
    "",
    "--port 9000 --workers 2",
    "--models-dir /srv/models --default-model tickets",
    "--host 0.0.0.0 --api-keys-file keys.json",
)


@app.command(cls=CommandWithExamples, epilog=EXAMPLES)
def main(  # noqa: PLR0913
    models_dir: Annotated[Path | None, setting("models_dir")] = None,
    default_model: Annotated[str | None, setting("default_model", completion=model_names)] = None,
    host: Annotated[str | None, setting("host")] = None,
    port: Annotated[int | None, setting("port")] = None,
    workers: Annotated[int | None, setting("workers")] = None,
    api_keys_file: Annotated[Path | None, setting("api_keys_file")] = None,
    log_level: Annotated[str | None, setting("log_level")] = None,
) -> None:
    """Serve until Ctrl-C or SIGTERM. Each option wins over the variable of the same name.

    Every other setting is a variable alone: docs/settings.md lists them.
    """
    serve = find(SERVICE, "serve", "service")  # help and completion do without its imports
    serve(
        environment_with(
            models_dir=models_dir,
            default_model=default_model,
            host=host,
            port=port,
            workers=workers,
            api_keys_file=api_keys_file,
            log_level=log_level,
        )
    )
