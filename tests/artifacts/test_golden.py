"""Golden documents: a version that scores otherwise than when it was written is refused."""

from pathlib import Path

import pytest

from app.artifacts.store import Store
from app.errors import DamagedArtifactError
from app.model import check_golden, load_model


def test_a_score_that_moved_by_a_hundredth_is_refused_and_rounding_is_not(
    tiny_models: Path,
) -> None:
    model = load_model(Store(tiny_models), "tiny")
    for change, is_refused in ((1e-5, False), (0.01, True), (-0.01, True)):
        moved = [
            document.model_copy(
                update={"top": [(label, score + change * (1 + abs(score))) for label, score in top]}
            )
            for document in model.manifest.golden
            for top in [document.top]
        ]
        if is_refused:
            with pytest.raises(DamagedArtifactError, match="golden document 1"):
                check_golden(model.classifier, moved)
        else:
            check_golden(model.classifier, moved)


def test_a_golden_label_beyond_the_models_own_is_refused(tiny_models: Path) -> None:
    model = load_model(Store(tiny_models), "tiny")
    last = model.manifest.golden[-1].model_copy(update={"top": [(5, 0.0)]})
    with pytest.raises(DamagedArtifactError, match="golden document 3"):
        check_golden(model.classifier, [*model.manifest.golden[:-1], last])
