"""The examples of docs/cluster.md, read out of the page: what is run is what is printed."""

import re

from cluster.nodes import ROOT

PAGE = ROOT / "docs" / "cluster.md"
FENCED = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def example(language: str, word: str) -> str:
    """The only example of a language that has a word in it."""
    found = [
        text for name, text in FENCED.findall(PAGE.read_text()) if name == language and word in text
    ]
    if len(found) != 1:
        raise LookupError(f"{PAGE.name} has {len(found)} examples in {language} with {word}")
    return str(found[0])


def slurm_job() -> str:
    """The job for sbatch."""
    return example("sh", "#SBATCH")


def jobqueue_program() -> str:
    """The program that has dask-jobqueue submit workers."""
    return example("python", "SLURMCluster")


def dask_cluster() -> str:
    """The DaskCluster for the operator on Kubernetes."""
    return example("yaml", "kind: DaskCluster")
