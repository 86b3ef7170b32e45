"""Names of models and ids of versions: what they look like, and the next id."""

import re
from datetime import UTC, datetime

NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")
VERSION = re.compile(r"\d{8}T\d{6}-[0-9a-f]{6}")
TICKS = 16**6  # the six hex digits count the fractions of a second, so ids sort by time


def is_name(text: str) -> bool:
    """Whether this can be a model's name."""
    return NAME.fullmatch(text) is not None


def is_version(text: str) -> bool:
    """Whether this looks like a version id.

    >>> is_version("20261115T120000-1f3c9a"), is_version("../20261115T120000-1f3c9a")
    (True, False)
    """
    return VERSION.fullmatch(text) is not None


def next_version(moment: datetime, newest: str | None) -> str:
    """The id of a version made at this moment; always after `newest`, even if the clock went back.

    >>> noon = datetime(2026, 11, 15, 12, tzinfo=UTC)
    >>> next_version(noon, None)
    '20261115T120000-000000'
    >>> next_version(noon, "20261115T120000-ffffff")
    '20261115T120001-000000'
    """
    utc = moment.astimezone(UTC)
    ticks = int(utc.replace(microsecond=0).timestamp()) * TICKS
    ticks += utc.microsecond * TICKS // 1_000_000
    if newest is not None:
        ticks = max(ticks, _ticks(newest) + 1)
    seconds, fraction = divmod(ticks, TICKS)
    return f"{datetime.fromtimestamp(seconds, UTC):%Y%m%dT%H%M%S}-{fraction:06x}"


def _ticks(version: str) -> int:
    stamp, _, fraction = version.partition("-")
    moment = datetime.strptime(stamp, "%Y%m%dT%H%M%S").replace(tzinfo=UTC)
    return int(moment.timestamp()) * TICKS + int(fraction, 16)
