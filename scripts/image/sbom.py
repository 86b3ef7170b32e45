"""`python scripts/image/sbom.py`: lists the packages of this environment as CycloneDX (JSON).

The image is built with it and keeps the file as /app/sbom.json. It names Python packages only:
those of the operating system are the base image's.
"""

import argparse
import json
import os
import re
import uuid
from datetime import UTC, datetime
from email.message import Message
from importlib.metadata import Distribution, distributions
from pathlib import Path
from typing import Any

PRODUCT = "labelserve"


def main() -> None:
    """Write the list to a file, or print it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, help="the file to write (else: standard output)")
    output = parser.parse_args().output
    text = json.dumps(bill_of_materials(), indent=1, sort_keys=True) + "\n"
    if output is None:
        print(text, end="")
    else:
        output.write_text(text)


def bill_of_materials() -> dict[str, Any]:
    """What is installed, by name; the same packages and SOURCE_DATE_EPOCH give the same list."""
    found = {normalized(one.metadata["Name"]): one for one in distributions()}
    components = {name: component(name, one) for name, one in sorted(found.items())}
    product = {**components.pop(PRODUCT), "type": "application"}
    packages = list(components.values())
    serial = uuid.uuid5(uuid.NAMESPACE_OID, json.dumps([product, packages], sort_keys=True))
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "serialNumber": f"urn:uuid:{serial}",
        "version": 1,
        "metadata": {"timestamp": timestamp(), "component": product},
        "components": packages,
    }


def component(name: str, distribution: Distribution) -> dict[str, Any]:
    """One package, with its package URL and its licence in its own words."""
    purl = f"pkg:pypi/{name}@{distribution.version}".replace("+", "%2B")
    entry = {"type": "library", "name": name, "version": distribution.version, "purl": purl}
    return {**entry, "bom-ref": purl, **licence(distribution.metadata)}  # type: ignore[arg-type]


def licence(metadata: Message) -> dict[str, Any]:
    """The SPDX expression, or else the first line of what the package calls its licence."""
    if expression := metadata["License-Expression"]:
        return {"licenses": [{"expression": expression}]}
    classifiers = [line for line in metadata.get_all("Classifier", []) if "License ::" in line]
    names = [line.rpartition(" :: ")[2] for line in classifiers]
    written = (metadata["License"] or "").strip().partition("\n")[0]
    names = names or ([written] if written else [])
    return {"licenses": [{"license": {"name": name}} for name in names]} if names else {}


def normalized(name: str) -> str:
    """A package's name as package URLs spell it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def timestamp() -> str:
    """SOURCE_DATE_EPOCH, where it is set, or else now."""
    seconds = os.environ.get("SOURCE_DATE_EPOCH")
    moment = datetime.fromtimestamp(int(seconds), UTC) if seconds else datetime.now(UTC)
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


if __name__ == "__main__":
    main()
