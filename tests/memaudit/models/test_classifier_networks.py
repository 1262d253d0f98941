"""Classifiers that return hidden states: the last is the input of the head, and records do not depend on a batch."""

import pytest
import small_classifiers
import torch
from small_classifiers import RECORDS, in_context, mlp, one_token, wrn

from memaudit.common.errors import AuditError
from memaudit.models.classifier_networks import WideResNet


@pytest.mark.parametrize(
    ("kind", "build", "layers"), [("mlp", mlp, 2), ("wrn", wrn, 3), ("text", one_token, 2), ("mlp", in_context, 2)]
)
def test_a_network_returns_the_input_of_its_head_and_records_are_independent(kind, build, layers):
    module, x = build(0), small_classifiers.data()[kind].x
    with torch.no_grad():
        logits, hidden = module(x)
        some, of_some = module(x[3:7])
        head = {
            "OneTokenClassifier": lambda: module.module.lm_head,
            "InContext": lambda: module.module.icl_predictor.decoder,
        }
        read = head.get(type(module).__name__, lambda: module.head)()(hidden[-1])
    assert len(hidden) == layers
    assert all(state.shape[0] == RECORDS and state.dim() == 2 for state in hidden)
    torch.testing.assert_close(read[:, : logits.shape[1]], logits)
    for whole, part in zip([logits, *hidden], [some, *of_some], strict=True):
        torch.testing.assert_close(whole[3:7], part, atol=1e-5, rtol=1e-4)


def test_a_depth_that_is_no_wide_residual_network_is_refused():
    with pytest.raises(AuditError, match="depth 12 is not 6 n"):
        WideResNet(1, 3, 12, 1, 4)
