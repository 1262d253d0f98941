"""A tabular in-context model as a classifier: it trains, and it can be copied."""

from dataclasses import replace

from small_classifiers import SETTINGS, in_context, trained


def test_an_in_context_model_can_be_trained_and_copied(membership, data, tmp_path):
    settings = replace(SETTINGS, epochs=1, checkpoints=(0, 1), learning_rate=0.003)
    trace = trained(tmp_path, membership, data["mlp"], range(1), in_context, settings)[1]
    assert trace.loss[1, 0, membership[0]].mean() < trace.loss[0, 0, membership[0]].mean() - 0.05
