"""The models that are loaded right now; new versions are loaded beside the old and swapped in."""

import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from time import monotonic, thread_time
from typing import Any

from app.artifacts.store import Store
from app.errors import AppError, InvalidRequestError, ModelNotFoundError, ModelUnavailableError
from app.explanation import explain
from app.model import Model, load_model
from app.prediction import Odds, Plan, Query, plan_of

MOST_PLANS, MOST_LABELS_KEPT = 256, 100
WARM_ROUNDS, QUICK_SECONDS = 3, 0.002
FIRST_RETRY, LAST_RETRY = 1.0, 60.0

log = logging.getLogger("labelserve.registry")


@dataclass(frozen=True, slots=True)
class Loaded:
    """A model ready to answer, with the plans of the queries it was asked lately."""

    model: Model
    is_quick: bool = True
    """Whether a short text is answered in so little time that no thread is worth it."""
    odds: Odds | None = None
    _plans: dict[Query, Plan] = field(default_factory=dict)

    @property
    def _held_out(self) -> dict[str, Any] | None:
        figures = self.model.manifest.figures.get("held_out")
        return figures if isinstance(figures, dict) else None

    def has_plan(self, query: Query) -> bool:
        """Whether the query was resolved before: doing so may take a while."""
        return query in self._plans

    def plan(self, query: Query) -> Plan:
        """The query's plan, resolved once."""
        found = self._plans.get(query)
        if found is None:
            if self.model.classifier.is_ready_made:
                raise InvalidRequestError("this model reads ready-made features, not texts")
            found = plan_of(
                query,
                self.model.classifier,
                odds=self.odds,
                explainer=explain,
                held_out=self._held_out,
            )
            if len(self._plans) >= MOST_PLANS:
                self._plans.clear()
            if len(query.labels or ()) <= MOST_LABELS_KEPT:
                self._plans[query] = found
        return found


@dataclass(frozen=True, slots=True)
class Failure:
    """A version that could not be loaded: why, and when it is tried again."""

    version: str
    reason: str
    kind: str
    retry_at: float
    wait: float


OnFailure = Callable[[str, str], None]
Visible = Callable[[str], bool]


class Registry:
    """Readers see the old model or the new one, never a mixture; `refresh` runs in one thread."""

    def __init__(
        self,
        store: Store,
        *,
        default: str | None = None,
        required: tuple[str, ...] = (),
        on_failure: OnFailure = lambda name, kind: None,
    ) -> None:
        self._store, self._default, self._required = store, default, required
        self._on_failure = on_failure
        self._loaded: dict[str, Loaded] = {}
        self._failures: dict[str, Failure] = {}
        self._names: list[str] = []
        self._was_read = False

    @property
    def loaded(self) -> dict[str, Loaded]:
        """What answers now, by name."""
        return self._loaded

    @property
    def failures(self) -> dict[str, Failure]:
        """What could not be loaded, by name; an older version of it may still answer."""
        return self._failures

    @property
    def names(self) -> list[str]:
        """Every model of the store, loaded or not."""
        return self._names

    def get(self, reference: str | None, visible: Visible = lambda name: True) -> Loaded:
        """The model of `NAME` or `NAME@VERSION`; without one the default, else the only one.

        Only models that are `visible` to the caller count, and are named in errors.
        """
        if reference is None:
            reference = self._default_name(visible)
        name, at, version = reference.partition("@")
        found = self._loaded.get(name)
        if found is None:
            raise self._missing(name, visible)
        if at and version != found.model.version:
            raise ModelNotFoundError([f"{name}@{found.model.version}"])
        return found

    def missing(self) -> list[str]:
        """The required models that are not loaded: the service is ready when there are none."""
        if not self._was_read:
            return ["the models folder was not read yet"]
        default = (self._default,) if self._default else tuple(self._names)
        if not self._required and not default:
            return ["there is no model in the models folder"]
        return [name for name in self._required or default if name not in self._loaded]

    def refresh(self) -> None:
        """Load what is new, drop what is gone; a version that fails never takes over."""
        names = [name for name in self._store.names() if self._was_promoted(name)]
        for name in names:
            self._refresh_one(name)
        gone = self._loaded.keys() - set(names)
        if gone:
            self._loaded = {k: v for k, v in self._loaded.items() if k not in gone}
        self._failures = {k: v for k, v in self._failures.items() if k in set(names)}
        self._names, self._was_read = names, True

    def _was_promoted(self, name: str) -> bool:
        """Whether the name is a model yet: a version that was only tried out is none."""
        try:
            return self._store.current(name) is not None
        except (AppError, OSError):
            return True  # a pointer that cannot be read is a failure to show

    def _refresh_one(self, name: str) -> None:
        try:
            version = self._store.current(name)
        except (AppError, OSError) as error:
            self._fail(name, "current", error)
            return
        loaded, failed = self._loaded.get(name), self._failures.get(name)
        if loaded is not None and loaded.model.version == version:
            self._failures = {k: v for k, v in self._failures.items() if k != name}
            return
        if failed is not None and failed.version == version and monotonic() < failed.retry_at:
            return
        if version is not None:
            self._load(name, version)

    def _load(self, name: str, version: str) -> None:
        try:
            model = load_model(self._store, f"{name}@{version}")
            calibration = model.classifier.calibration
            odds = None if calibration is None else Odds(calibration)
            loaded = Loaded(model, _is_quick(model), odds)
        except Exception as error:  # whatever is wrong with one model, the others are loaded
            self._fail(name, version, error)
            return
        self._loaded = {**self._loaded, name: loaded}
        self._failures = {k: v for k, v in self._failures.items() if k != name}
        log.info("loaded %s@%s", name, version)

    def _fail(self, name: str, version: str, error: Exception) -> None:
        before = self._failures.get(name)
        again = before is not None and before.version == version
        wait = min(before.wait * 2, LAST_RETRY) if before is not None and again else FIRST_RETRY
        if before is not None and again and monotonic() < before.retry_at:
            return
        kind = error.code if isinstance(error, AppError) else type(error).__name__
        reason = str(error) if isinstance(error, AppError) else kind
        failure = Failure(version, reason, kind, monotonic() + wait, wait)
        self._failures = {**self._failures, name: failure}
        if not again:
            log.error("%s@%s cannot be loaded: %s", name, version, reason)
        self._on_failure(name, kind)

    def _default_name(self, visible: Visible) -> str:
        if self._default:
            return self._default
        names = [name for name in self._names if visible(name)]
        if len(names) == 1:
            return names[0]
        if not self._was_read:  # 503, so that a gateway asks another replica
            raise ModelUnavailableError("the models are being loaded")
        known = ", ".join(names) or "none"
        raise InvalidRequestError(f"name a model; there are: {known}", pointer="/model")

    def _missing(self, name: str, visible: Visible) -> AppError:
        failed = self._failures.get(name)
        if failed is not None:
            return ModelUnavailableError(f"model {name} could not be loaded: {failed.reason}")
        if name in self._names or not self._was_read:
            return ModelUnavailableError("the model is being loaded")
        return ModelNotFoundError(sorted(filter(visible, self._loaded)))


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
