from pathlib import Path
from typing import Any

import pytest

from app.errors import InvalidRequestError
from app.training.recipe import Recipe, read_recipe


def test_the_default_recipe_is_one_vs_rest_on_tfidf_with_micro_f_cuts() -> None:
    recipe = read_recipe(None)
    (member,) = recipe.members
    assert (member.learner, member.vectorizer) == ("one-vs-rest", "tfidf")
    assert (recipe.decision.name, recipe.decision.folds) == ("micro-f", 5)


def test_a_file_and_set_and_learner_are_applied_in_that_order(tmp_path: Path) -> None:
    file = tmp_path / "r.toml"
    file.write_text('[features]\nscheme = "log"\n[learner]\noptions = "-c 2"\n')
    recipe = read_recipe(
        file,
        learner="binary-and-multiclass",
        changes=["features.min_df=2", "decision.folds=3", "features.ngram_range=[1, 2]"],
    )
    (member,) = recipe.members
    assert member.learner == "binary-and-multiclass"
    assert member.settings == {"options": "-c 2"}
    assert member.features == {"scheme": "log", "min_df": 2, "ngram_range": [1, 2]}
    assert recipe.decision.folds == 3


def test_tuned_linear_models_weigh_terms_by_log_tf_and_the_untuned_reference_does_not() -> None:
    recipe = read_recipe(None)
    assert recipe.completed().members[0].vectorizer_settings == {"scheme": "log"}
    assert recipe.with_decision(name="zero").completed().members[0].vectorizer_settings == {}
    chosen = read_recipe(None, changes=["features.scheme=ltc"]).completed()
    assert chosen.members[0].vectorizer_settings == {"scheme": "ltc"}


def test_networks_shrink_the_cuts_of_rare_labels_to_a_common_one_unless_told_otherwise() -> None:
    def settings(learner: str, *changes: str) -> dict[str, Any]:
        return read_recipe(None, learner=learner, changes=changes).completed().decision.settings

    assert settings("one-vs-rest") == {}
    assert settings("mlp") == settings("ensemble:one-vs-rest,mlp") == {"shrinkage": 10}
    assert settings("mlp", "decision.shrinkage=0") == {"shrinkage": 0}


def test_shrinkage_is_also_read_under_its_former_name(tmp_path: Path) -> None:
    file = tmp_path / "r.toml"
    file.write_text("[decision]\ndraw = 3\n")
    assert read_recipe(file, learner="mlp").completed().decision.settings == {"shrinkage": 3}
    both = ["decision.draw=3", "decision.shrinkage=4"]
    for changes in (both, both[::-1]):
        assert read_recipe(None, changes=changes).decision.settings == {"shrinkage": 4}


def test_an_ensemble_names_its_learners() -> None:
    recipe = read_recipe(None, learner="ensemble:one-vs-rest, binary-and-multiclass")
    assert [member.learner for member in recipe.members] == [
        "one-vs-rest",
        "binary-and-multiclass",
    ]


def test_members_keep_features_of_their_own_over_the_shared_ones(tmp_path: Path) -> None:
    file = tmp_path / "r.toml"
    file.write_text(
        '[features]\nscheme = "log"\n[[members]]\n[[members]]\n'
        'features = {analyzer = "char_wb", scheme = "ltc"}\nsettings = {options = "-c 4"}\n'
    )
    first, second = read_recipe(file, changes=["members.0.settings.options=-c 2"]).members
    assert first.features == {"scheme": "log"}
    assert first.settings == {"options": "-c 2"}
    assert second.features == {"scheme": "ltc", "analyzer": "char_wb"}


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        (["nonsense"], "section.key=value"),
        (["wrong.key=1"], "features, learner, decision, members"),
        (["learner.kind=magic"], "no such learner; accepted: "),
        (["learner.kind=ensemble:one-vs-rest"], "two learners or more"),
    ],
)
def test_a_wrong_change_says_what_is_accepted(changes: list[str], says: str) -> None:
    with pytest.raises(InvalidRequestError, match=says.replace("…", ".")):
        read_recipe(None, changes=changes)


def test_an_unknown_section_or_broken_toml_is_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidRequestError, match=r"no section \[learnr\]"):
        Recipe.from_tables({"learnr": {}})
    file = tmp_path / "broken.toml"
    file.write_text("[learner\n")
    with pytest.raises(InvalidRequestError, match=r"broken\.toml: not TOML"):
        read_recipe(file)
