"""Layers and losses against their literal definitions."""

import numpy as np
import pytest
import torch
from scipy.sparse import csr_array

from app.errors import InvalidRequestError
from app.learners.base import Fitting
from app.learners.neural.attention_xml import AttentionXml
from app.learners.neural.cooccurrence import cooccurrence_vectors
from app.learners.neural.label_clusters import label_clusters
from app.learners.neural.layers.convolutions import LargestWindows
from app.learners.neural.layers.encoder import Encoder
from app.learners.neural.layers.label_attention import LabelAttention
from app.learners.neural.layers.recurrent import Bidirectional
from app.learners.neural.layers.words import Text, Words
from app.learners.neural.pretrained import read_architecture, read_weights
from app.learners.neural.training.batches import Ids, training_batches
from app.learners.neural.training.losses import asymmetric, loss_for
from app.learners.neural.training.normalized_sgd import NormalizedSgd
from app.learners.neural.training.validation import validation_figure
from app.vectorizers.sequences import stacked
from tests.learners.neural.made_up import checkpoint, data_for, learner_for

BATCH = Ids(
    torch.tensor([[2, 3, 2, 4, 3], [5, 2, 0, 0, 0], [4, 0, 0, 0, 0]]), torch.tensor([5, 2, 1])
)


def text_of(batch: Ids) -> tuple[Text, torch.Tensor]:
    """The batch by its words, and its vectors place by place."""
    torch.manual_seed(1)
    words = Words(8, 6, 0.0).eval()
    return words(batch), words.vectors(batch.ids)


@pytest.mark.parametrize("pools", [1, 2, 3])
def test_largest_windows_equal_a_convolution_and_a_maximum_taken_document_by_document(
    pools: int,
) -> None:
    text, vectors = text_of(BATCH)
    layer = LargestWindows(6, 4, (1, 3), pools=pools)
    torch.nn.init.normal_(layer.bias)
    found = layer(text)
    weights = layer.products.weight.split([4, 12])
    for document, length in enumerate(BATCH.lengths.tolist()):
        expected = []
        for width, weight, bias in zip((1, 3), weights, layer.bias.split(4), strict=True):
            # rows of the products go by place in the window, then by filter
            kernel = weight.view(width, 4, 6).permute(1, 2, 0)
            inside = torch.nn.functional.pad(
                vectors[document, :length], (0, 0, 0, max(width - length, 0))
            )
            values = torch.nn.functional.conv1d(inside.T[None], kernel)[0]
            count = values.shape[1]
            for pool in range(pools):
                places = [t for t in range(count) if t * pools // count == pool]
                largest = values[:, places].amax(dim=1) if places else torch.zeros(4)
                expected.append(largest + bias)
        torch.testing.assert_close(found[document], torch.cat(expected))


def test_the_gradient_of_the_largest_windows_is_that_of_a_convolution() -> None:
    text, vectors = text_of(Ids(BATCH.ids[:1], BATCH.lengths[:1]))
    layer = LargestWindows(6, 4, (3,), pools=1)
    (ours,) = torch.autograd.grad(layer(text).square().sum(), layer.products.weight)
    kernel = layer.products.weight.detach().view(3, 4, 6).permute(1, 2, 0).clone().requires_grad_()
    values = torch.nn.functional.conv1d(vectors.transpose(1, 2), kernel).amax(dim=2)
    (theirs,) = torch.autograd.grad(values.square().sum(), kernel)
    torch.testing.assert_close(ours, theirs.permute(2, 0, 1).reshape(12, 6))


def test_label_attention_is_a_weighted_mean_of_the_places_inside() -> None:
    layer = LabelAttention(3, 2)
    places, inside = torch.randn(1, 4, 3), torch.tensor([[True, True, False, False]])
    weights = torch.softmax(layer.attention.weight @ places[0, :2].T, dim=1)
    expected = (layer.output.weight * (weights @ places[0, :2])).sum(dim=1) + layer.output.bias
    torch.testing.assert_close(layer(places, inside)[0], expected)


@pytest.mark.parametrize("kind", ["gru", "lstm"])
def test_recurrent_layers_equal_those_of_torch_on_each_document_alone(kind: str) -> None:
    text, vectors = text_of(BATCH)
    ours = Bidirectional(kind, 6, 8, layers=2)
    theirs = {"gru": torch.nn.GRU, "lstm": torch.nn.LSTM}[kind](6, 4, 2, bidirectional=True)
    for layer in range(2):
        for way, end in enumerate(("", "_reverse")):
            taken = ours.taken[layer]
            for name, value in (
                ("weight_ih", taken.weight.chunk(2)[way]),
                ("bias_ih", taken.bias.chunk(2)[way]),
                ("weight_hh", ours.kept[layer][way].T),
                ("bias_hh", ours.kept_bias[layer][way, 0]),
            ):
                getattr(theirs, f"{name}_l{layer}{end}").data.copy_(value)
    found = ours(text)
    for document, length in enumerate(BATCH.lengths.tolist()):
        expected = theirs(vectors[document, :length, None])[0][:, 0]
        torch.testing.assert_close(found[document, :length], expected)


@pytest.mark.parametrize("family", ["bert", "roberta", "distilbert"])
def test_weights_of_each_family_fill_the_encoder_completely(family: str) -> None:
    shape = read_architecture(checkpoint(family))
    encoder = Encoder(shape, 0.0).eval()
    encoder.load_state_dict(read_weights(checkpoint(family)))
    vectors = encoder.tokens(torch.tensor([[2, 5, 3]]))
    alone = encoder(vectors, torch.ones(1, 3, dtype=torch.bool))
    padded = torch.cat([vectors, torch.randn(1, 2, 16)], dim=1)
    beside = encoder(padded, torch.tensor([[True, True, True, False, False]]))[:, :3]
    torch.testing.assert_close(alone, beside)
    assert shape.first_position == (2 if family == "roberta" else 0)


def test_words_that_stand_together_get_vectors_that_lie_together() -> None:
    pair = [[2, 3, 2, 3, 2, 3], [4, 5, 4, 5, 4, 5]] * 20
    vectors = cooccurrence_vectors(stacked(pair, 6), 6, 4, seed=0)
    assert not vectors[:2].any()
    near, far = vectors[2] @ vectors[3], vectors[2] @ vectors[4]
    assert near > far + 0.1


def test_labels_of_the_same_words_share_a_cluster_and_clusters_are_of_equal_size() -> None:
    features = stacked([[2, 3], [2, 3], [7, 8], [7, 8]], 2)
    truth = csr_array(np.eye(4, dtype=bool))
    clusters = label_clusters(features, truth, 2, seed=0)
    assert clusters[0] == clusters[1] != clusters[2] == clusters[3]


def test_labels_outside_of_the_beam_have_no_score() -> None:
    features, truth, _ = data_for("attention-xml", 60)
    learner = learner_for("attention-xml", beam=1, epochs=6).fit(features, truth)
    scores = learner.scores(features)
    assert isinstance(learner, AttentionXml)
    assert (np.isfinite(scores).sum(axis=1) <= 2).all()
    assert not np.isnan(scores).any()


def test_the_asymmetric_loss_forgives_easy_negatives_and_counts_positives_in_full() -> None:
    positive = asymmetric(torch.tensor([[0.0]]), torch.tensor([[1.0]]))
    assert positive.item() == pytest.approx(np.log(2))
    easy = asymmetric(torch.tensor([[-4.0]]), torch.tensor([[0.0]]))
    assert easy.item() == 0.0
    hard = asymmetric(torch.tensor([[0.0]]), torch.tensor([[0.0]]))
    assert hard.item() == pytest.approx(-np.log(0.55) * 0.45**4, rel=1e-5)


def test_rare_labels_weigh_more_in_the_class_balanced_loss() -> None:
    truth = csr_array(np.array([[1, 1], [1, 0], [1, 0], [1, 0]], dtype=bool))
    loss = loss_for("class-balanced", truth)
    frequent = loss(torch.tensor([[0.0, -9.0]]), torch.tensor([[1.0, 0.0]]))
    rare = loss(torch.tensor([[-9.0, 0.0]]), torch.tensor([[0.0, 1.0]]))
    assert rare > 2 * frequent


@pytest.mark.parametrize("loss", ["class-balanced", "asymmetric"])
def test_every_loss_learns(loss: str) -> None:
    features, truth, _ = data_for("mlp", 64)
    learner = learner_for("mlp", loss=loss, epochs=40, label_smoothing=0.05).fit(features, truth)
    assert validation_figure("micro-f1", learner.scores(features), truth) > 0.95


def test_validation_figures_by_hand() -> None:
    scores = np.array([[3.0, 1.0, -2.0], [0.5, -1.0, -3.0]], np.float32)
    truth = csr_array(np.array([[1, 0, 1], [1, 0, 0]], dtype=bool))
    assert validation_figure("p@1", scores, truth) == 1.0
    assert validation_figure("ndcg@3", scores, truth) == pytest.approx(
        (1 + (1.5 / 1.63093)) / 2, 1e-4
    )
    # the best single cut lies below -2: three hits of five, and three were wanted
    assert validation_figure("micro-f1", scores, truth) == pytest.approx(2 * 3 / (5 + 3))
    assert validation_figure("loss", np.zeros((2, 3), np.float32), truth) == pytest.approx(
        -np.log(2)
    )


def test_batches_hold_every_document_once_and_lengths_alike() -> None:
    lengths = np.random.default_rng(0).integers(0, 50, 400)
    features = stacked([[2] * n for n in lengths], 50)
    batches = training_batches(features, 16, np.random.default_rng(1))
    assert sorted(np.concatenate(batches)) == list(range(400))
    assert np.mean([np.ptp(lengths[batch]) for batch in batches]) < 6


def test_a_frozen_encoder_stays_as_it_was_while_the_layer_over_it_learns() -> None:
    features, truth, _ = data_for("transformer", 120)
    settings = {"frozen": True, "epochs": 60, "learning_rate": 0.05, "valid_share": 0.0}
    learner = learner_for("transformer", **settings).fit(features, truth)
    before = read_weights(checkpoint())
    for name, weight in learner.network.encoder.state_dict().items():
        assert torch.equal(weight, before[name])
    assert validation_figure("p@1", learner.scores(features), truth) > 0.5  # by chance: 0.25
    again = type(learner).from_state(learner.state())
    assert np.array_equal(again.scores(features), learner.scores(features))


def test_known_word_vectors_are_where_a_network_starts() -> None:
    features, truth, _ = data_for("kim-cnn", 20)
    known = np.full((90, 12), np.nan, np.float32)
    known[5] = 3.0
    learner = learner_for("kim-cnn", epochs=1, learning_rate=1e-9)
    learner.fit(features, truth, Fitting(word_vectors=known))
    weights = learner.network.words.vectors.weight
    assert len(weights) == 90
    assert torch.allclose(weights[5], torch.full((12,), 3.0))
    assert torch.isfinite(weights).all()
    assert not weights[0].any()
    with pytest.raises(InvalidRequestError, match="dimensions=4"):
        learner.fit(features, truth, Fitting(word_vectors=known[:, :4]))


def test_a_layer_of_terms_moves_as_far_as_its_gradients_ask_for() -> None:
    layer = torch.nn.EmbeddingBag(3, 2, mode="sum", sparse=True)
    before, steps = layer.weight.detach().clone(), NormalizedSgd([layer.weight], lr=0.5)
    for _ in range(2):
        steps.zero_grad()
        terms = torch.tensor([0, 0, 0, 1])
        layer(terms, torch.arange(4)).sum().backward()
        steps.step()
    moved = (before - layer.weight.detach())[:, 0]
    np.testing.assert_allclose(moved / moved[1], [3, 1, 0], rtol=1e-4)
    np.testing.assert_allclose(moved[1], 2 * 0.5 / 8**0.5, rtol=1e-4)
