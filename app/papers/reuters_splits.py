"""The versions of Reuters that Yang (1999) compares, and which of them is to be had."""

from app.papers.experiments import Experiments

FOLDER = "reuters"
OUR_SPLIT = "another split: ModApte of 90 labels, 7,770/3,019 documents, for {}"
VERSIONS = {
    "version 1": "of CONSTRUE: 182 labels, 21,450/723 documents",
    "version 2": "of Lewis: 113 labels, 14,704/6,746 documents, 58 % of the test set unlabelled",
    "version 3": "of Apté: 93 labels, 7,789/3,309 documents",
    "version 4": "of PARC: 93 labels, 9,610/3,662 documents",
}


def same_data(version: str) -> str:
    """How our split differs from a version."""
    return OUR_SPLIT.format(f"{version} {VERSIONS[version]}")


def why_version_is_absent(version: str) -> str:
    """Why there is no value of ours for a version."""
    return f"{version} ({VERSIONS[version]}) is not to be had"


def why_reuters_is_absent(experiments: Experiments) -> str | None:
    """Why there is no Reuters in the folder at all; None where there is."""
    return experiments.why_absent(FOLDER)
