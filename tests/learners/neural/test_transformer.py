"""The transformer: what it keeps still, how it ends and goes on, and what it is served as."""

from pathlib import Path

import numpy as np
import pytest
import torch
from scipy.sparse import csr_array

from app.errors import InvalidRequestError
from app.learners.base import Fitting
from app.learners.neural.layers import frozen
from app.learners.neural.layers.dropout import ByteDropout
from app.learners.neural.layers.int8_linear import Int8Linear
from app.learners.neural.pretrained import read_weights
from app.learners.neural.training import checkpoints, clock
from app.learners.neural.training.batches import first_tokens
from app.learners.neural.training.optimizers import Optimizer
from app.learners.neural.training.validation import validation_figure
from app.state import State
from app.training.members import built
from app.training.recipe import read_recipe
from app.vectorizers.sequences import stacked
from tests.learners.neural.made_up import checkpoint, data_for, documents, learner_for


def equal(first: State, second: State) -> bool:
    return all(np.array_equal(a, second.arrays[n]) for n, a in first.arrays.items())


def test_bytes_drop_the_share_that_is_asked_for_and_keep_the_mean() -> None:
    torch.manual_seed(0)
    layer, values = ByteDropout(0.25), torch.ones(1003, 401, requires_grad=True)
    dropped = layer(values)
    assert (dropped == 0).float().mean().item() == pytest.approx(0.25, abs=0.005)
    assert dropped.unique().tolist() == pytest.approx([0, 256 / 192])
    by_row, by_column = (dropped == 0).float().mean(1), (dropped == 0).float().mean(0)
    for part in (by_row, by_column):  # as spread as independent draws are
        expected = (0.25 * 0.75 / (dropped.numel() / len(part))) ** 0.5
        assert part.std().item() == pytest.approx(expected, rel=0.15)
    dropped.sum().backward()
    assert torch.equal(values.grad, dropped)
    assert layer.eval()(values) is values


def test_rows_of_eight_bits_give_the_product_up_to_half_a_step_of_their_scales() -> None:
    torch.manual_seed(0)
    layer, values = torch.nn.Linear(64, 8), torch.randn(3, 5, 64)
    rounded = Int8Linear.of(layer)
    step = layer.weight.abs().amax(1) / 127
    kept = rounded.weight * rounded.scale[:, None]
    assert ((kept - layer.weight).abs() <= step[:, None] * 0.501).all()
    token = values[1, 2]
    scale = token.abs().max() / 127
    by_hand = (torch.round(token / scale) * scale) @ kept.T + layer.bias
    with torch.no_grad():
        torch.testing.assert_close(rounded(values)[1, 2], by_hand)
        torch.testing.assert_close(rounded(values[1, 2:3])[0], rounded(values)[1, 2])


def test_a_model_of_eight_bits_is_stored_small_decides_alike_and_explains() -> None:
    features, truth, vectorizer = data_for("transformer", 100)
    plain, small = (
        learner_for("transformer", int8=int8, valid_share=0.0).fit(features, truth)
        for int8 in (False, True)
    )
    scores, rounded = plain.scores(features), small.scores(features)
    assert not np.array_equal(scores, rounded)
    assert np.corrcoef(scores.ravel(), rounded.ravel())[0, 1] > 0.99
    state = small.state()
    assert state.arrays["encoder.layers.0.hidden.weight"].dtype == np.int8
    for array in state.arrays.values():
        array.flags.writeable = False
    again = type(small).from_state(state)
    assert np.array_equal(again.scores(features), rounded)
    row = vectorizer.transform(["filler1 word3a word3b filler3 word3c"])
    speaks = again.contributions_approximate(row, 3)
    assert speaks[[2, 3, 5]].sum() > speaks[[1, 4]].sum()


def test_the_output_of_frozen_layers_is_the_same_kept_and_computed_again() -> None:
    _, truth, vectorizer = data_for("transformer", 12)
    features = vectorizer.transform([*documents(10)[0], "", "filler1 " * 40])
    learner = learner_for("transformer", epochs=1).fit(features, truth)
    kept, again = (frozen.LowerStates(learner.network, 1, learner.collate) for _ in range(2))
    kept.keep(features, torch.device("cpu"))
    for rows in ([3, 11, 0], [5, 10]):
        batches = [own.batch(features, np.array(rows)) for own in (kept, again)]
        inside = batches[0].windows.inside()
        assert inside.sum() == sum(max(features[[row]].nnz, 1) for row in rows)
        ours, theirs = (batch.states[inside] for batch in batches)
        torch.testing.assert_close(ours, theirs, rtol=2e-3, atol=2e-3)
    expected = learner.network.from_vectors
    upper = frozen.UpperLayers(learner.network, 1).eval()
    windows = learner.collate(features, np.arange(12))
    with torch.no_grad():
        whole = expected(learner.network.encoder.tokens(windows.numbers()), windows)
        parts = upper(kept.batch(features, np.arange(12)).to(torch.device("cpu")))
    torch.testing.assert_close(parts, whole, rtol=0.01, atol=0.01)


def test_frozen_layers_stay_and_those_above_learn() -> None:
    features, truth, _ = data_for("transformer", 60)
    learner = learner_for("transformer", frozen_layers=1, epochs=2).fit(features, truth)
    before = read_weights(checkpoint())
    moved = {
        name
        for name, weight in learner.network.encoder.state_dict().items()
        if not torch.equal(weight, before[name])
    }
    assert moved
    assert all(name.startswith("layers.1.") for name in moved)
    with pytest.raises(InvalidRequestError, match="has 2"):
        learner_for("transformer", frozen_layers=3).fit(features, truth)


def test_the_layers_that_learn_have_their_dropout_whether_states_are_kept_or_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    features, truth, _ = data_for("transformer", 40)
    settings = {"frozen_layers": 1, "epochs": 1}
    monkeypatch.setattr(frozen, "MOST_BYTES", 0)
    with_dropout, without = (
        learner_for("transformer", **settings, dropout=share).fit(features, truth)
        for share in (0.5, 0.0)
    )
    name = "encoder.layers.1.hidden.weight"
    assert not np.array_equal(with_dropout.state().arrays[name], without.state().arrays[name])


def test_biases_and_norms_do_not_decay_and_the_labels_have_a_rate_of_their_own() -> None:
    features, truth, _ = data_for("transformer", 20)
    settings = {"learning_rate": 1e-4, "head_rate": 0.02, "weight_decay": 0.5, "epochs": 1}
    learner = learner_for("transformer", **settings).fit(features, truth)
    network = learner.network.requires_grad_(True)
    (adam,) = Optimizer(network, learner, torch.device("cpu")).optimizers
    names = {id(weight): name for name, weight in network.named_parameters()}
    by_name = {
        names[id(weight)]: (group["lr"], group["weight_decay"])
        for group in adam.param_groups
        for weight in group["params"]
    }
    assert len(by_name) == len(names)
    assert by_name["output.weight"] == (0.02, 0.5)
    assert by_name["output.bias"] == (0.02, 0.0)
    assert by_name["encoder.layers.0.output.weight"] == (1e-4, 0.5)
    assert by_name["encoder.layers.0.output_norm.weight"] == (1e-4, 0.0)


class Minutes:
    """A clock that goes on by half a minute whenever it is looked at."""

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        self.now += 30.0
        return self.now


def test_a_training_ends_by_the_clock_and_counts_the_minutes_of_runs_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    features, truth, _ = data_for("transformer", 160)
    monkeypatch.setattr(clock, "time", Minutes())
    seen: list[tuple[int, int]] = []

    def stop(stage: str, done: int, total: int) -> None:
        seen.append((done, total))
        if len(seen) == 15:
            raise KeyboardInterrupt

    factors: list[float] = []
    set_rate = Optimizer.set_rate

    def watched(optimizer: Optimizer, factor: float) -> None:
        factors.append(factor)
        set_rate(optimizer, factor)

    monkeypatch.setattr(Optimizer, "set_rate", watched)
    settings = {"minutes": 60.0, "epochs": 500, "patience": 500, "keep": "last"}
    learner_for("transformer", **settings).fit(
        features, truth, Fitting(progress=stop, checkpoint=tmp_path)
    )
    in_first = len(seen)
    resumed = learner_for("transformer", **settings)
    resumed.fit(features, truth, Fitting(progress=stop, checkpoint=tmp_path))
    assert {total for _, total in seen} == {3600}
    assert seen[in_first][0] > 600
    assert 3500 < seen[-1][0] < 4000
    assert len(resumed.history) < 500
    assert max(factors) > 0.9
    assert factors[-1] < 0.1  # the rate fell with the clock, long before the last epoch


@pytest.mark.parametrize("kind", ["transformer", "mlp", "kim-cnn"])
def test_a_training_stopped_within_an_epoch_goes_on_there(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoints, "SECONDS_BETWEEN", -1.0)
    monkeypatch.setattr(checkpoints, "TIMES_A_WRITE", 0)
    features, truth, _ = data_for(kind, 80)
    settings = {"epochs": 3, "patience": 3, "dropout": 0.2}
    through = learner_for(kind, **settings).fit(features, truth)
    stopped = []

    def stop_once(stage: str, done: int, total: int) -> None:
        stopped.append(done)
        if len(stopped) == 9:
            raise KeyboardInterrupt

    fitting = Fitting(progress=stop_once, checkpoint=tmp_path)
    learner_for(kind, **settings).fit(features, truth, fitting)
    resumed = learner_for(kind, **settings).fit(features, truth, fitting)
    assert stopped[9] == stopped[8] != 6  # the step under way at the stop is done again
    assert equal(through.state(), resumed.state())
    assert resumed.history == through.history


def test_the_last_weights_stay_where_documents_aside_are_to_choose_nothing() -> None:
    features, truth, _ = data_for("transformer", 64)
    valid = (features[:10], csr_array(~truth[:10].toarray()))  # worse with all that is learnt
    settings = {"epochs": 5, "patience": 9, "valid_share": 0.0, "metric": "loss"}
    best, last, alone = (
        learner_for("transformer", **settings, keep=keep).fit(features, truth, Fitting(valid=aside))
        for keep, aside in (("best", valid), ("last", valid), ("last", None))
    )
    assert equal(last.state(), alone.state())
    assert not equal(best.state(), last.state())
    assert len(last.history) == 5


def test_training_in_bfloat16_learns_and_leaves_weights_in_single_precision() -> None:
    features, truth, _ = data_for("transformer", 120)
    settings = {"precision": "bfloat16", "valid_share": 0.0, "epochs": 24}
    learner = learner_for("transformer", **settings).fit(features, truth)
    assert validation_figure("micro-f1", learner.scores(features), truth) > 0.9
    assert {a.dtype for a in learner.state().arrays.values()} == {np.dtype(np.float32)}


def test_training_reads_the_first_tokens_and_the_mark_at_the_end() -> None:
    rows = stacked([[2, 5, 6, 7, 3], [2, 3], []], 8)
    cut = first_tokens(rows, 3)
    assert [cut[[i]].data.tolist() for i in range(3)] == [[2, 5, 3], [2, 3], []]
    assert cut.shape == rows.shape
    assert first_tokens(rows, 5).data.tolist() == rows.data.tolist()
    features, truth, _ = data_for("transformer", 40)
    short, long = (
        learner_for("transformer", epochs=1, training_tokens=n).fit(features, truth) for n in (4, 0)
    )
    assert not equal(short.state(), long.state())


def test_a_model_stored_before_these_settings_still_loads() -> None:
    features, truth, _ = data_for("transformer", 20)
    learner = learner_for("transformer", epochs=1).fit(features, truth)
    state = learner.state()
    new = (
        "frozen_layers",
        "attention_dropout",
        "training_tokens",
        "int8",
        "head_rate",
        "precision",
        "keep",
        "minutes",
    )
    old = {name: value for name, value in state.settings.items() if name not in new}
    again = type(learner).from_state(State(state.kind, old, state.arrays))
    assert np.array_equal(again.scores(features), learner.scores(features))


def test_the_recipe_of_words_and_an_encoder_is_accepted_as_it_stands() -> None:
    file = Path(__file__).parents[3] / "docs" / "recipes" / "encoder.toml"
    places = ("features", "settings")
    changes = [f"members.1.{place}.checkpoint={checkpoint()}" for place in places]
    members = read_recipe(file, changes=changes).members
    (words, linear), (pieces, encoder) = map(built, members)
    assert (words.kind, linear.kind) == ("tfidf", "one-vs-rest")
    assert (pieces.kind, encoder.kind) == ("wordpieces", "transformer")
    assert encoder.keep == "last"
    assert encoder.training_tokens < pieces.n_features
