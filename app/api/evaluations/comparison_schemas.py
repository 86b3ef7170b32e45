"""What is answered about several evaluations, as the OpenAPI document has it."""

from pydantic import BaseModel, ConfigDict, Field

from app.api.evaluations.schemas import Evaluation

LONGEST_ID = 100


class ComparedEvaluations(BaseModel):
    """The ids of two evaluations of the same data."""

    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)

    a: str = Field(max_length=LONGEST_ID)
    b: str = Field(max_length=LONGEST_ID)


class SignTestFigures(BaseModel):
    """How often each was the better one."""

    wins_a: int
    wins_b: int
    p: float


class TTestFigures(BaseModel):
    """The mean of A − B; `t` is null where all differences are equal."""

    mean: float
    t: float | None
    p: float


class BootstrapFigures(BaseModel):
    """The 95 % interval of A − B."""

    interval: list[float]
    p: float


class ComparisonTests(BaseModel):
    """Tests of whether the two differ; `bootstrap` by figure."""

    micro_sign: SignTestFigures
    macro_sign: SignTestFigures
    macro_t: TTestFigures
    bootstrap: dict[str, BootstrapFigures]


class ComparedLabel(BaseModel):
    """A label, and who has the higher F1 on it."""

    label: str
    support: int
    f1_a: float
    f1_b: float
    difference: float


class DifferingDocument(BaseModel):
    """A document that was not assigned the same labels; `true` has its true ones."""

    id: str | None
    line: int
    a: list[str]
    b: list[str]
    true: list[str]


class Comparison(BaseModel):
    """Two evaluations side by side; `documents` are the first hundred of `n_documents`."""

    a: Evaluation
    b: Evaluation
    tests: ComparisonTests
    labels: list[ComparedLabel]
    conclusion: str
    n_documents: int
    documents: list[DifferingDocument]


class LeaderboardRow(BaseModel):
    """An evaluation in its place. Rows that share a letter of `group` cannot be told apart."""

    rank: int
    group: str | None
    evaluation: Evaluation
    value: float | None
    interval: list[float] | None


class LeaderboardPair(BaseModel):
    """The paired bootstrap of two rows, by their evaluations' ids; `p_holm` is over all pairs."""

    a: str
    b: str
    difference: float
    interval: list[float]
    p: float
    p_holm: float


class LeftOut(BaseModel):
    """An evaluation that is not on the leaderboard."""

    evaluation: str
    why: str


class Leaderboard(BaseModel):
    """The evaluations of one data set, the best first."""

    data: str
    figure: str
    resamples: int
    rows: list[LeaderboardRow]
    pairs: list[LeaderboardPair]
    left_out: list[LeftOut]
