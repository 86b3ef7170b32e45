"""The models that are loaded right now; new versions are loaded beside the old and swapped in."""

import errno
import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from time import thread_time
from typing import Any
from weakref import WeakValueDictionary

from app.artifacts.store import Store
from app.errors import (
    AppError,
    ConflictError,
    DamagedArtifactError,
    InvalidRequestError,
    ModelNotFoundError,
    ModelUnavailableError,
)
from app.explanation import explain
from app.model import Model, load_model
from app.prediction.plan import Plan
from app.prediction.planning import plan_of
from app.prediction.query import Query
from app.serving.failures import Failure, Failures, OnFailure, kind_of, reason_of
from app.serving.live.trials import Trials

MOST_PLANS, MOST_LABELS_KEPT = 256, 100
WARM_ROUNDS, QUICK_SECONDS = 3, 0.002
READ_ONLY = (
    "this service may not write its models folder; promote where it may be written, with "
    "`labelserve models use NAME@VERSION`"
)

log = logging.getLogger("labelserve.registry")


@dataclass(frozen=True, slots=True, weakref_slot=True)
class Loaded:
    """A model ready to answer, with the plans of the queries it was asked lately."""

    model: Model
    is_quick: bool = True
    """Whether a short text is answered in so little time that no thread is worth it."""
    _plans: dict[Query, Plan] = field(default_factory=dict)

    @property
    def _held_out(self) -> dict[str, Any] | None:
        figures = self.model.manifest.figures.get("held_out")
        return figures if isinstance(figures, dict) else None

    def known_plan(self, query: Query) -> Plan | None:
        """The query's plan, if it was resolved before: doing so may take a while."""
        return self._plans.get(query)

    def plan(self, query: Query) -> Plan:
        """The query's plan, resolved once."""
        found = self._plans.get(query)
        if found is None:
            if self.model.classifier.is_ready_made:
                raise InvalidRequestError("this model reads ready-made features, not texts")
            found = plan_of(
                query,
                self.model.classifier,
                explainer=explain,
                held_out=self._held_out,
            )
            if len(self._plans) >= MOST_PLANS:
                self._plans.clear()
            if len(query.labels or ()) <= MOST_LABELS_KEPT:
                self._plans[query] = found
        return found


Visible = Callable[[str], bool]


class Registry:
    """Readers see the old model or the new one, never a mixture; `refresh` runs in one thread.

    Every name answers with its current version. `required` names models that must be there; a
    version among them (`NAME@VERSION`) stays loaded beside the current one. Any other version can
    be asked for as long as requests that began with it are under way.
    """

    def __init__(
        self,
        store: Store,
        *,
        default: str | None = None,
        required: tuple[str, ...] = (),
        on_failure: OnFailure = lambda name, kind: None,
    ) -> None:
        self._store, self._default, self._required = store, default, required
        self._failures = Failures(on_failure)
        self.trials: Trials[Loaded] = Trials()
        self._loaded: dict[str, Loaded] = {}
        self._kept: dict[str, Loaded] = {}
        self._alive: WeakValueDictionary[str, Loaded] = WeakValueDictionary()
        self._names: list[str] = []
        self._found: list[str] = []
        self._was_read = False
        self._bad_pointers: set[str] = set()

    @property
    def store(self) -> Store:
        """Where the models are."""
        return self._store

    @property
    def loaded(self) -> dict[str, Loaded]:
        """What answers now, by name."""
        return self._loaded

    @property
    def failures(self) -> dict[str, Failure]:
        """What could not be loaded, by name; an older version of it may still answer."""
        return self._failures.by_name

    @property
    def names(self) -> list[str]:
        """Every model of the store, loaded or not; those that are being loaded included."""
        return sorted({*self._names, *self._found})

    def versions(self, name: str) -> list[str]:
        """The versions of a model that can be asked for now, oldest first."""
        found = [reference.partition("@") for reference in list(self._alive.keys())]
        return sorted(version for model, _, version in found if model == name)

    def get(self, reference: str | None, visible: Visible = lambda name: True) -> Loaded:
        """The model of `NAME` or `NAME@VERSION`; without one the default, else the only one.

        Only models that are `visible` to the caller count, and are named in errors.
        """
        if reference is None:
            reference = self._default_name(visible)
        found = self._loaded.get(reference)
        if found is None:
            found = self._alive.get(reference)
        if found is None:
            raise self._missing(reference, visible)
        return found

    def missing(self) -> list[str]:
        """The required models that are not loaded: the service is ready when there are none."""
        if not self._was_read:
            return ["the models folder was not read yet"]
        default = (self._default,) if self._default else tuple(self._names)
        if not self._required and not default:
            return ["there is no model in the models folder"]
        loaded = self._loaded.keys() | self._kept.keys()
        return [name for name in self._required or default if name not in loaded]

    def refresh(self) -> None:
        """Load what is new, drop what was removed; a version that fails never takes over.

        OSError where the models folder cannot be listed, or shows no model at all though some are
        loaded, as one does whose file system is not mounted: then everything stays as it is.
        """
        names = [name for name in self._folder_names() if self._is_model(name)]
        if self._loaded and not names:
            raise FileNotFoundError(errno.ENOENT, "none of the models that were loaded is there")
        versions = [name for name in self._required if "@" in name]
        self._found = names  # named while they are loaded; what is ready is told by `_names`
        for name in names:
            self._refresh_one(name)
        for reference in versions:
            self._keep(reference)
        gone = self._loaded.keys() - set(names)
        if gone:
            log.info("removed from the models folder: %s", ", ".join(sorted(gone)))
            self._loaded = {k: v for k, v in self._loaded.items() if k not in gone}
        self._refresh_trials()
        self._failures.keep({*names, *versions, *self.trials.references(), *self._bad_pointers})
        self._names, self._was_read = names, True

    def promote(self, name: str, version: str) -> Loaded:
        """Make a version current once it is verified; it answers after the next `refresh`.

        That need not load it again, as long as somebody holds what is returned. ConflictError where
        it cannot be loaded, or the store is read-only: then everything stays as it is.
        """
        if not self._store.may_promote(name):
            raise ConflictError(READ_ONLY)
        reference = f"{name}@{version}"
        try:
            found = _ready(load_model(self._store, reference))
        except ModelNotFoundError:
            raise
        except Exception as error:  # whatever is wrong with it, it does not take over
            reason = reason_of(error)
            raise ConflictError(f"{reference} was not made current: {reason}") from None
        self._store.promote(name, version)
        self._failures.forget(name)
        return self._alive.setdefault(reference, found)  # it may answer already

    def reload(self) -> None:
        """Load all again that is loaded, as other kernels are to answer; what fails stays."""
        every = (*self._loaded.values(), *self._kept.values(), *self.trials.loaded)
        before = {id(found): found for found in every}
        again = {key: self._again(found) for key, found in before.items()}
        self.trials.replace(lambda found: again[id(found)])
        self._loaded = {name: again[id(found)] for name, found in self._loaded.items()}
        self._kept = {name: again[id(found)] for name, found in self._kept.items()}

    def _again(self, loaded: Loaded) -> Loaded:
        reference = f"{loaded.model.name}@{loaded.model.version}"
        try:
            found = _ready(load_model(self._store, reference))
        except Exception as error:  # it answers as it did
            log.warning("%s stays as it was loaded: %s", reference, kind_of(error))
            return loaded
        self._alive[reference] = found
        return found

    def _folder_names(self) -> list[str]:
        """The folders there are; none where the models folder is still to be made."""
        try:
            return self._store.folder_names()
        except FileNotFoundError:
            if self._loaded:
                raise
            if not self._was_read:
                log.warning("there is no models folder %s: it is waited for", self._store.path)
            return []

    def _is_model(self, name: str) -> bool:
        """Whether the folder is a model's: it was loaded, or one of its versions was promoted.

        What was loaded stays one, whatever its folder lacks now: only its pointer replaces it.
        """
        if name in self._loaded:
            return True
        try:
            return bool(self._store.versions(name)) and self._store.current(name) is not None
        except (AppError, OSError):
            return True  # a pointer that cannot be read is a failure to show

    def _refresh_one(self, name: str) -> None:
        try:
            version = self._store.current(name)
            if version is None:
                raise DamagedArtifactError(f"{name}: current is not there")
        except (AppError, OSError) as error:
            if self._failures.is_due(name, "current"):
                self._failures.note(name, "current", error)
            return
        loaded = self._loaded.get(name)
        if loaded is not None and loaded.model.version == version:
            self._failures.forget(name)
        elif found := self._load(name, version, f"{name}@{version}"):
            self._loaded = {**self._loaded, name: found}

    def _refresh_trials(self) -> None:
        """Load the versions that are tried on live traffic, and let those go whose trial ended."""
        current = {name: found.model.version for name, found in self._loaded.items()}
        self._bad_pointers = set()
        self.trials.refresh(self._store, current, self._tried, self._bad_pointer)

    def _tried(self, name: str, version: str) -> Loaded | None:
        reference = f"{name}@{version}"
        return self._alive.get(reference) or self._load(reference, version, reference)

    def _bad_pointer(self, name: str, kind: str, error: Exception) -> None:
        reference = f"{name}@{kind}"
        self._bad_pointers.add(reference)
        if self._failures.is_due(reference, kind):
            self._failures.note(reference, kind, error)

    def _keep(self, reference: str) -> None:
        """Have a version stay loaded, whatever is current."""
        if reference not in self._kept:
            version = reference.partition("@")[2]
            found = self._alive.get(reference) or self._load(reference, version, reference)
            if found is not None:
                self._kept = {**self._kept, reference: found}

    def _load(self, name: str, version: str, reference: str) -> Loaded | None:
        """The version, ready to answer; None where it cannot be loaded, or not yet again."""
        if not self._failures.is_due(name, version):
            return None
        try:
            found = self._alive.get(reference) or _ready(load_model(self._store, reference))
        except Exception as error:  # whatever is wrong with one model, the others are loaded
            self._failures.note(name, version, error)
            return None
        self._alive[reference] = found
        self._failures.forget(name)
        log.info("loaded %s", reference)
        return found

    def _default_name(self, visible: Visible) -> str:
        if self._default:
            return self._default
        if len(self._names) == 1 and visible(self._names[0]):
            return self._names[0]
        names = [name for name in self._names if visible(name)]
        if len(names) == 1:
            return names[0]
        if not self._was_read:  # 503, so that a gateway asks another replica
            raise ModelUnavailableError("the models are being loaded")
        known = ", ".join(names) or "none"
        raise InvalidRequestError(f"name a model; there are: {known}", pointer="/model")

    def _missing(self, reference: str, visible: Visible) -> AppError:
        name, at, _ = reference.partition("@")
        failed = self.failures.get(reference)
        if failed is not None:
            return ModelUnavailableError(f"model {reference} could not be loaded: {failed.reason}")
        if at and name in self._loaded:
            return ModelNotFoundError([f"{name}@{version}" for version in self.versions(name)])
        if name in self._names or name in self._found or not self._was_read:
            return ModelUnavailableError("the model is being loaded")
        return ModelNotFoundError(sorted(filter(visible, self._loaded)))


def _ready(model: Model) -> Loaded:
    return Loaded(model, _is_quick(model))


def _is_quick(model: Model) -> bool:
    """Answer a few times before clients ask: pages come in, kernels are compiled, time is taken."""
    if model.classifier.is_ready_made:
        return True
    plan = plan_of(Query(), model.classifier)
    times = []
    for _ in range(WARM_ROUNDS):
        start = thread_time()
        plan.predictions(["a first document to answer"])
        times.append(thread_time() - start)
    return min(times) < QUICK_SECONDS
