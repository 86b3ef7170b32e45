"""micro-f is the global maximum: brute force, Algorithm 1 and the hulls agree."""

import numpy as np

from app.decisions.tuning.hulls import Hulls
from app.decisions.tuning.macro_f import f_by_vertex, macro_f, macro_f_vertices
from app.decisions.tuning.micro_f import micro_f, micro_f_vertices
from app.heldout import HeldOut
from tests.decisions.cases import (
    BETAS,
    algorithm_1,
    counts,
    dense_truth,
    every_cut,
    every_decision,
    f_beta,
    given_patiently,
    held_outs,
)


@given_patiently(held_outs(), BETAS)
def test_micro_f_equals_the_best_of_all_cuts(held_out: HeldOut, beta: float) -> None:
    hulls, truth = Hulls.of(held_out), dense_truth(held_out)
    positives = int(truth.sum())
    best = max(
        f_beta(*counts(marks, truth), positives, beta) for marks in every_decision(held_out.scores)
    )
    vertices = micro_f_vertices(hulls, beta)
    assert abs(micro_f(hulls, vertices, beta) - best) < 1e-12
    marks = held_out.scores > hulls.cuts[vertices]
    assert abs(f_beta(*counts(marks, truth), positives, beta) - best) < 1e-12


@given_patiently(held_outs(), BETAS)
def test_the_sweeps_of_algorithm_1_reach_the_same_value(held_out: HeldOut, beta: float) -> None:
    hulls = Hulls.of(held_out)
    value, sweeps = algorithm_1(held_out.scores, dense_truth(held_out), beta)
    assert abs(micro_f(hulls, micro_f_vertices(hulls, beta), beta) - value) < 1e-12
    assert sweeps <= 1 + held_out.scores.size


@given_patiently(held_outs(), BETAS)
def test_among_equal_cuts_the_highest_is_taken(held_out: HeldOut, beta: float) -> None:
    hulls, truth = Hulls.of(held_out), dense_truth(held_out)
    vertices = micro_f_vertices(hulls, beta)
    cuts, best = hulls.cuts[vertices], micro_f(hulls, vertices, beta)
    for label in range(held_out.n_labels):
        for cut in every_cut(held_out.scores[:, label]):
            higher = cuts.copy()
            higher[label] = cut
            marks = held_out.scores > higher
            if marks[:, label].sum() < (held_out.scores > cuts)[:, label].sum():
                assert f_beta(*counts(marks, truth), int(truth.sum()), beta) < best


@given_patiently(held_outs(), BETAS)
def test_macro_f_equals_every_labels_best_cut(held_out: HeldOut, beta: float) -> None:
    hulls, truth = Hulls.of(held_out), dense_truth(held_out)
    best = [
        max(
            f_beta(*counts(marks, truth[:, [label]]), int(truth[:, label].sum()), beta)
            for marks in every_decision(held_out.scores[:, [label]])
        )
        for label in range(held_out.n_labels)
    ]
    vertices = macro_f_vertices(hulls, beta)
    np.testing.assert_allclose(f_by_vertex(hulls, beta)[vertices], best, atol=1e-12)
    assert abs(macro_f(hulls, vertices, beta) - np.mean(best)) < 1e-12
