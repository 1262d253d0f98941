import pytest
import torch
from torch import nn

from memaudit.common.errors import AuditError
from memaudit.models.training_state import resume, save

ORIGIN = {"settings": {"steps": 3}, "texts": 5}


def trained():
    """A layer and its optimiser after one step, from weights that every call draws alike."""
    torch.manual_seed(0)
    layer = nn.Linear(3, 2)
    optimizer = torch.optim.AdamW(layer.parameters(), 0.1)
    step(layer, optimizer)
    return layer, optimizer


def step(layer, optimizer):
    optimizer.zero_grad()
    layer(torch.ones(4, 3)).square().sum().backward()
    optimizer.step()


def test_a_resumed_run_continues_as_if_it_had_not_stopped(tmp_path):
    layer, optimizer = trained()
    save(tmp_path / "state", ORIGIN, layer.state_dict(), optimizer, {"step": 1})
    other = nn.Linear(3, 2)
    its_optimizer = torch.optim.AdamW(other.parameters(), 0.1)
    assert resume(tmp_path / "state", ORIGIN, other.state_dict(), its_optimizer) == {"step": 1}
    step(layer, optimizer)
    step(other, its_optimizer)
    assert torch.equal(layer.weight, other.weight)
    assert torch.equal(layer.bias, other.bias)


def test_weights_that_require_gradients_are_set_in_place(tmp_path):
    layer, optimizer = trained()
    save(tmp_path / "state", ORIGIN, dict(layer.named_parameters()), optimizer, (1, {}, False))
    other = nn.Linear(3, 2)
    its_optimizer = torch.optim.AdamW(other.parameters(), 0.1)
    assert resume(tmp_path / "state", ORIGIN, dict(other.named_parameters()), its_optimizer) == (1, {}, False)
    assert torch.equal(layer.weight, other.weight)


def test_without_a_file_nothing_changes(tmp_path):
    layer, optimizer = trained()
    before = layer.weight.clone()
    assert resume(tmp_path / "state", ORIGIN, layer.state_dict(), optimizer) is None
    assert torch.equal(before, layer.weight)


def test_a_state_of_another_origin_is_refused_by_the_part_that_differs(tmp_path):
    layer, optimizer = trained()
    save(tmp_path / "state", ORIGIN, layer.state_dict(), optimizer, {"step": 1})
    for part, value in {"texts": 6, "settings": {"steps": 4}, "weights": "x"}.items():
        with pytest.raises(AuditError, match=f"run with other {part}; move it away"):
            resume(tmp_path / "state", ORIGIN | {part: value}, layer.state_dict(), optimizer)


@pytest.mark.parametrize("content", [b"", b"no state", b"PK\x03\x04 cut short"])
def test_a_damaged_file_is_named(content, tmp_path):
    (tmp_path / "state").write_bytes(content)
    with pytest.raises(AuditError, match="state"):
        resume(tmp_path / "state", ORIGIN, *_unused())


@pytest.mark.parametrize("content", [[1, 2], {"model": {}, "optimizer": {}}])
def test_a_file_that_holds_something_else_is_no_state(content, tmp_path):
    torch.save(content, tmp_path / "state")
    with pytest.raises(AuditError, match="not the state of a run"):
        resume(tmp_path / "state", ORIGIN, *_unused())


def _unused():
    layer, optimizer = trained()
    return layer.state_dict(), optimizer
