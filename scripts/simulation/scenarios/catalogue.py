"""The scenarios, by name."""

from simulation.scenario import Scenario
from simulation.scenarios.evaluations import Evaluations
from simulation.scenarios.keys_file import Keys
from simulation.scenarios.model_store import ModelStore
from simulation.scenarios.spool_folders import SpoolFolders
from simulation.scenarios.usage import KeyUsage

SCENARIOS: dict[str, type[Scenario]] = {
    kind.name: kind for kind in (ModelStore, Keys, SpoolFolders, KeyUsage, Evaluations)
}
