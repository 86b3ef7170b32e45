"""What operating points can be expected to reach, along the model's best ones."""

from app.classifier import Classifier
from app.decisions.decision import Expected
from app.errors import InvalidRequestError


def expected_curve(classifier: Classifier, average: str) -> list[Expected]:
    """Precision and recall by rising recall; an InvalidRequestError where they are not known."""
    if classifier.operating_points is None:
        raise InvalidRequestError(
            "this model was not tuned on held-out scores, so it has no curve: train it with folds"
        )
    if classifier.has_merged_labels:
        raise InvalidRequestError(
            "labels of this version were merged, so its curve is not known: ask the version that "
            "it was relabelled from"
        )
    return classifier.operating_points.curve(average)
