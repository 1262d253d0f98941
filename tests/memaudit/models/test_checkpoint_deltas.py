"""Checkpoints as deltas: only what changed, a bounded error, no base but their own."""

import pytest
import torch

from memaudit.common.errors import AuditError
from memaudit.models import checkpoint_deltas


@pytest.fixture
def base():
    generator = torch.Generator().manual_seed(0)
    return {
        "a.weight": torch.randn(64, 32, generator=generator),
        "a.bias": torch.randn(64, generator=generator),
        "b.weight": torch.randn(500, 20, generator=generator),
        "steps": torch.tensor(3),
    }


@pytest.fixture
def tuned(base):
    change = 1e-4 * torch.randn(64, 32, generator=torch.Generator().manual_seed(1))
    return {**base, "a.weight": base["a.weight"] + change, "steps": torch.tensor(7), "adapter": torch.ones(2, 3) / 3}


def test_bf16_errs_by_a_small_share_of_the_change(base, tuned, tmp_path):
    path = tmp_path / "a.safetensors"
    checkpoint_deltas.write(path, base, tuned, 5)
    read = checkpoint_deltas.read(path, base)
    change = tuned["a.weight"] - base["a.weight"]
    error = (read["a.weight"] - tuned["a.weight"]).abs()
    # Half a unit of bf16's last place, and one rounding of the sum.
    assert (error <= 2**-8 * change.abs() + 2**-24 * tuned["a.weight"].abs() + 2**-40).all()
    assert error.norm() < 2**-9 * change.norm()
    whole = tuned["a.weight"].bfloat16().float() - tuned["a.weight"]
    assert whole.norm() > 5 * change.norm()  # weights kept in bf16 would drown the change
    assert read["steps"] == 7
    torch.testing.assert_close(read["adapter"], tuned["adapter"], rtol=2**-8, atol=0)


def test_fp32_is_exact_to_the_bit(base, tuned, tmp_path):
    checkpoint_deltas.write(tmp_path / "a", base, tuned, 5, "float32")
    read = checkpoint_deltas.read(tmp_path / "a", base)
    assert read.keys() == tuned.keys()
    assert all(torch.equal(read[name], value) and read[name].dtype == value.dtype for name, value in tuned.items())


def test_only_what_changed_is_on_disk(base, tuned, tmp_path):
    assert checkpoint_deltas.write(tmp_path / "none", base, base, 0) < 512
    one = checkpoint_deltas.write(tmp_path / "one", base, tuned, 5)
    exact = checkpoint_deltas.write(tmp_path / "exact", base, tuned, 5, "float32")
    assert 2 * 64 * 32 < one < 2 * 64 * 32 + 1024
    assert 4 * 64 * 32 < exact < 4 * 64 * 32 + 1024


@pytest.mark.parametrize("change", ["value", "shape", "name", "type"])
def test_another_base_is_refused(base, tuned, change, tmp_path):
    checkpoint_deltas.write(tmp_path / "a", base, tuned, 5)
    other = dict(base)
    match change:
        case "value":
            other["b.weight"] = base["b.weight"] + 1e-6
        case "shape":
            other["a.bias"] = base["a.bias"].view(8, 8)
        case "name":
            other["c.bias"] = other.pop("a.bias")
        case "type":
            other["steps"] = torch.tensor(3, dtype=torch.int32)
    with pytest.raises(AuditError, match="another base model"):
        checkpoint_deltas.read(tmp_path / "a", other)


@pytest.mark.parametrize("content", [b"", b"no tensors at all", b"\x08\0\0\0\0\0\0\0{}      "])
def test_a_file_that_is_no_checkpoint_is_named(base, content, tmp_path):
    (tmp_path / "a").write_bytes(content)
    with pytest.raises(AuditError, match="not a checkpoint of fine-tuning"):
        checkpoint_deltas.read(tmp_path / "a", base)
    with pytest.raises(AuditError, match="is not there"):
        checkpoint_deltas.read(tmp_path / "b", base)


def test_a_checkpoint_says_what_it_is_and_the_same_one_has_the_same_bytes(base, tuned, tmp_path):
    checkpoint_deltas.write(tmp_path / "a", base, tuned, 5)
    checkpoint_deltas.write(tmp_path / "b", base, tuned, 5)
    assert checkpoint_deltas.read_facts(tmp_path / "a") == {
        "base": checkpoint_deltas.fingerprint(base),
        "epoch": 5,
        "dtype": "bfloat16",
    }
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_reading_does_not_change_the_base(base, tuned, tmp_path):
    before = checkpoint_deltas.fingerprint(base)
    checkpoint_deltas.write(tmp_path / "a", base, tuned, 5)
    checkpoint_deltas.read(tmp_path / "a", base)["a.weight"].zero_()
    assert checkpoint_deltas.fingerprint(base) == before
