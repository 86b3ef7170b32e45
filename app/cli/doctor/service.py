"""Checks of what the service would find: settings, models, ports, keys, disk space."""

import errno
import http.client
import json
import os
import shutil
import socket
import stat
import time
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path

from app.artifacts.store import Store
from app.cli.checkpoints import FOLDER as CHECKPOINTS
from app.cli.doctor.finding import Finding
from app.cli.doctor.folders import nearest_folder
from app.errors import AppError, SettingsError, errno_text
from app.model import load_model
from app.serving.keys import KeysFile
from app.settings import Settings

TRAIN = "labelserve train DATA --model NAME makes one; labelserve demo writes data to try it with"
ANSWER_SECONDS = 2.0
FILES_A_TEST_SET = 4  # the upload itself, and what the evaluation writes beside it


def service_findings(environment: Mapping[str, str]) -> Iterator[Finding]:
    """What is to be said of the settings, and with them of all that they name."""
    try:
        settings = Settings.from_environment(environment)
    except SettingsError as error:
        mend = "change the variables (docs/settings.md), or the options that stand for them"
        yield Finding("settings", "wrong", str(error), mend)
        return
    yield Finding("settings", "good", "valid")
    yield from models_findings(settings)
    yield from port_findings(settings)
    yield keys_finding(settings)
    yield disk_finding(settings)


def models_findings(settings: Settings) -> Iterator[Finding]:
    """Which models can be loaded: every byte of the current versions is checked."""
    store, folder = Store(settings.models_dir), settings.models_dir.absolute()
    try:
        names = store.folder_names()
    except FileNotFoundError:
        mend = f"{TRAIN}; or name another folder by --models-dir or LABELSERVE_MODELS_DIR"
        yield Finding("models", "note", f"there is no folder {folder}", mend)
        return
    except OSError as error:
        mend = "let this user read it"
        yield Finding("models", "wrong", f"{folder}: {errno_text(error)}", mend)
        return
    if not names:
        yield Finding("models", "note", f"{folder} holds none", TRAIN)
    for name in names:
        yield model_finding(store, name)
    yield from checkpoint_findings(folder / CHECKPOINTS)
    asked = {model.partition("@")[0] for model in settings.required_models}
    for name in sorted({*asked, settings.default_model or ""} - {"", *names}):
        mend = "train it, or change LABELSERVE_DEFAULT_MODEL or LABELSERVE_REQUIRED_MODELS"
        yield Finding(f"model {name}", "wrong", "asked for by the settings, and not here", mend)


def checkpoint_findings(folder: Path) -> Iterator[Finding]:
    """What trainings left there that were interrupted: one that is at work is among them."""
    for left in sorted(folder.glob("*/")) if folder.is_dir() else ():
        files = [file.stat() for file in left.rglob("*") if file.is_file()]
        days = (time.time() - max((file.st_mtime for file in files), default=0)) / 86400
        size = sum(file.st_size for file in files) / 1e6
        found = f"{size:,.0f} MB, written {days:.0f} days ago" if files else "empty"
        mend = "if it is not at work: the same command with --resume goes on, or remove the folder"
        yield Finding(f"interrupted training {left}", "note", found, mend)


def model_finding(store: Store, name: str) -> Finding:
    """Whether the model's current version is whole and scores as it did."""
    check, versions = f"model {name}", store.versions(name)
    if not versions:
        return Finding(check, "note", "a folder without a version", "remove it, or train a version")
    mend = f"labelserve models use {name}@VERSION goes to another version; or train again"
    try:
        current = store.current(name)
        if current is None:
            found = f"none of its {len(versions)} versions is current"
            return Finding(check, "wrong", found, f"labelserve models use {name}@VERSION")
        load_model(store, f"{name}@{current}")
    except AppError as error:
        return Finding(check, "wrong", str(error), mend)
    return Finding(check, "good", f"{current}, whole; {len(versions)} versions")


def port_findings(settings: Settings) -> Iterator[Finding]:
    """Whether the ports are free, or taken by a labelserve that runs."""
    yield port_finding("port", settings.host, settings.port)
    if settings.metrics_port is not None:
        yield port_finding("metrics port", settings.host, settings.metrics_port)


def port_finding(check: str, host: str, port: int) -> Finding:
    """Whether the service could listen there."""
    where = f"{host}:{port}"
    try:
        with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind((host, port))
    except OSError as error:
        if error.errno == errno.EADDRINUSE and (status := _health(host, port)):
            return Finding(check, "good", f"{where} is served by labelserve, which is {status}")
        mend = "end what listens there, or take another: --port, --host, LABELSERVE_METRICS_PORT"
        return Finding(check, "wrong", f"{where}: {errno_text(error)}", mend)
    return Finding(check, "good", f"{where} is free")


def keys_finding(settings: Settings) -> Finding:
    """Whether the keys that are wanted can be read, are valid, and are nobody else's to read."""
    path = settings.api_keys_file
    if settings.effective_auth != "keys" or path is None:
        return Finding("keys", "good", f"not used: LABELSERVE_AUTH is {settings.effective_auth}")
    make = f"labelserve keys create --scope predict,evaluate --file {path}"
    if not path.exists():
        return Finding("keys", "wrong", f"there is no file {path}", make)
    try:
        keys = KeysFile(path).keys()
    except SettingsError as error:
        return Finding(
            "keys", "wrong", str(error), f"take it from a backup, or remove it and {make}"
        )
    now = datetime.now(UTC)
    valid = [key for key in keys if key.expires is None or key.expires > now]
    found = f"{path}: {len(valid)} valid, {len(keys) - len(valid)} expired"
    if not valid:
        return Finding("keys", "wrong", found, make)
    if path.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO):
        return Finding("keys", "note", f"{found}; others can read it", f"chmod 600 {path}")
    return Finding("keys", "good", found)


def disk_finding(settings: Settings) -> Finding:
    """Whether uploads can be written, and whether the largest that are allowed have the space."""
    folder = nearest_folder(settings.data_dir)
    if not os.access(folder, os.W_OK):
        mend = "let this user write there, or set LABELSERVE_DATA_DIR"
        return Finding("disk", "wrong", f"{folder} cannot be written", mend)
    free = shutil.disk_usage(folder).free
    uploads = settings.workers * settings.max_evaluations * settings.max_upload_bytes
    found = f"{free / 1e9:.1f} GB free at {folder}"
    if free >= FILES_A_TEST_SET * uploads:
        return Finding("disk", "good", found)
    found += f"; test sets may take {FILES_A_TEST_SET * uploads / 1e9:.1f} GB"
    mend = "free some, set LABELSERVE_DATA_DIR, or lower LABELSERVE_MAX_UPLOAD_BYTES"
    return Finding("disk", "note", found, mend)


def _health(host: str, port: int) -> str:
    """What a labelserve on that port says of itself; nothing where something else listens."""
    connection = http.client.HTTPConnection(host, port, timeout=ANSWER_SECONDS)
    try:
        connection.request("GET", "/health/ready")
        return str(json.loads(connection.getresponse().read())["status"])
    except (OSError, http.client.HTTPException, ValueError, KeyError, TypeError):
        return ""
    finally:
        connection.close()
