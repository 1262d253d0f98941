"""What a mitigation costs, for classifiers and for regressors."""

from audit_examples import mitigation, value


def test_a_cost_is_that_of_the_models_kind():
    classified = mitigation(cost=(-0.02, -0.03, -0.01))
    assert (classified.cost.estimate, classified.measure) == (-0.02, "balanced accuracy")
    predicted = classified.model_copy(
        update={"balanced_accuracy_difference": None, "r2_difference": value(-0.1, -0.2, 0.0, 0.0)}
    )
    assert (predicted.cost.estimate, predicted.measure) == (-0.1, "R²")
    assert mitigation(reason="no bags of one record").cost is None


def test_a_mitigation_is_called_by_words():
    assert "4" in mitigation("bags 4").called
