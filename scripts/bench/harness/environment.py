"""What every benchmark is given: folders, the corpora, the machine, and whether it is a check."""

import os
import platform
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]
WORK = ROOT / ".cache" / "bench"
PEERS = Path(__file__).parents[1] / "peers"
QUICK = "LABELSERVE_BENCH_QUICK"
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


def is_quick() -> bool:
    """Whether a minute's check is wanted, of which nothing is kept."""
    return "--quick" in sys.argv[1:] or QUICK in os.environ


def data_folder() -> Path:
    """Where the corpora are: LABELSERVE_BENCH_DATA, else ../shared/data."""
    return Path(os.environ.get("LABELSERVE_BENCH_DATA", ROOT.parent / "shared" / "data"))


def kernel_cache() -> str:
    """The folder of compiled kernels, which all programs of a benchmark share."""
    return os.environ.get("NUMBA_CACHE_DIR", str(ROOT / ".cache" / "numba"))


def program_environment(name: str) -> dict[str, str]:
    """A measured program's variables: one thread, the data's folder, for ours the source tree."""
    modules = [str(ROOT), str(PEERS)] if name == "labelserve" else [str(PEERS)]
    return {
        **os.environ,
        **dict.fromkeys(THREADS, "1"),
        "LABELSERVE_BENCH_DATA": str(data_folder()),
        "LABELSERVE_BENCH_MODELS": str(WORK / "models"),
        "NUMBA_CACHE_DIR": kernel_cache(),
        "PYTHONPATH": os.pathsep.join(modules),
    }


def machine() -> str:
    """One line about the machine and what it was busy with."""
    model = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        names = [line for line in cpuinfo.read_text().splitlines() if line.startswith("model name")]
        model = names[0].partition(":")[2].strip() if names else model
    load = ", ".join(f"{value:.1f}" for value in os.getloadavg())
    python = platform.python_version()
    return f"{model}, {os.cpu_count()} cores (load {load}), Python {python}"
