"""Arms of the default config and of the evidence of the study `tabpate`, the latter laid over the former."""

from memaudit.common.compared_arms import compared_arms


def test_arms_of_both_configs_are_there_and_the_evidence_changes_those_of_the_default():
    arms = compared_arms()
    assert arms["learned_labels"]["settings"]["labels"] == "learned"
    assert arms["dp_sgd"]["method"] == "dp-sgd"
    assert arms["mst"]["datasets"] == ["blood-transfusion", "diabetes-pima", "phoneme", "kc1"]
    assert arms["mst"]["settings"]["bins"] == 16
