"""Features of tokens: the authors' recorded numbers, ranks and places against brute force, and invalid input."""

import json
import math
import subprocess
import sys

import numpy as np
import pytest
import torch
from conftest import PROJECT

from memaudit.attacks.token_features import (
    TokenFeatures,
    channels,
    encoded_ranks,
    extract,
    extreme,
    greater_by_counts,
    greater_by_order,
    groups,
    open_rows,
    pack,
    rising,
    row_type,
    unpack,
    writing_rows,
)
from memaudit.common.errors import AuditError

pytestmark = pytest.mark.usefixtures("one_thread")
VECTOR = json.loads((PROJECT / "tests/vectors/ltmia_features_small.json").read_text(encoding="utf-8"))
COUNTS = [lambda logits, values: greater_by_order(rising(logits), values), greater_by_counts]
ORDERS = [rising, lambda logits: None]  # as on a CPU, and as on other devices


def batch(texts=3, positions=6, vocabulary=40, seed=0, rounded=False):
    draw = torch.Generator().manual_seed(seed)
    target = 3 * torch.randn(texts, positions, vocabulary, generator=draw)
    reference = target + torch.randn(target.shape, generator=draw)
    if rounded:
        target, reference = target.round(), reference.round()
    ids = torch.randint(vocabulary, (texts, positions), generator=draw)
    return target, reference, ids, torch.ones(texts, positions, dtype=torch.long)


def brute_force(target, reference, ids, k):
    """The channels of one position without those of the sequence, one number after the other."""
    places = {True: lambda x: np.lexsort((np.arange(len(x)), -x)), False: lambda x: np.lexsort((np.arange(len(x)), x))}

    def rank(logits, token):
        return math.log1p(int((logits > logits[token]).sum()) + 1) / math.log(len(logits) + 1)

    def pair(token):
        top = max(target[token], reference[token])
        return [target[token] - top, reference[token] - top]

    def loss(logits):
        return math.log(np.exp(logits.astype(float)).sum()) - float(logits[ids])

    values = [*pair(ids), rank(target, ids), rank(reference, ids)]
    for own, other in zip(places[True](target)[:k], places[True](reference)[:k], strict=True):
        values += [*pair(own), rank(reference, own), rank(target, other)]
    for own in places[False](target)[:k]:
        values += [*pair(own), rank(reference, own)]
    return [*values, loss(target), loss(reference), loss(target) - loss(reference)]


def test_features_are_the_published_codes():
    tensors = [torch.tensor(VECTOR[name]) for name in ("logits_target", "logits_ref", "input_ids", "attention_mask")]
    observed = extract(*tensors, k=VECTOR["k"])
    np.testing.assert_allclose(observed.values, VECTOR["features"], atol=1e-5)
    np.testing.assert_array_equal(observed.mask, np.array(VECTOR["mask"], bool))
    assert observed.values.dtype == np.float32


@pytest.mark.parametrize("rounded", [False, True])
def test_every_channel_follows_its_definition_with_ties(rounded):
    target, reference, ids, mask = batch(rounded=rounded)
    observed = extract(target, reference, ids, mask, k=7)
    for text in range(3):
        for place in range(5):
            logits = target[text, place].numpy(), reference[text, place].numpy()
            expected = brute_force(*logits, int(ids[text, place + 1]), 7)
            np.testing.assert_allclose(observed.values[text, place, :-7], expected, atol=1e-5)


def test_channels_of_the_sequence_are_moments_over_its_tokens():
    target, reference, ids, mask = batch()
    mask[1, 4:] = 0
    values = extract(target, reference, ids, mask, k=2).values
    names = channels(2)
    for text, count in enumerate([5, 3, 5]):
        for loss in ("loss_target", "loss_reference", "loss_difference"):
            own = values[text, :count, names.index(loss)].astype(float)
            assert values[text, 0, names.index(f"{loss}_mean")] == pytest.approx(own.mean(), rel=1e-5)
            deviation = math.sqrt(own.var() + 1e-6)
            assert values[text, 0, names.index(f"{loss}_deviation")] == pytest.approx(deviation, rel=1e-5)
        assert values[text, 0, -1] == pytest.approx(own.sum(), rel=1e-5)
        assert (values[text, :count, -7:] == values[text, 0, -7:]).all()


def test_the_papers_channels_are_counted_as_in_its_appendix():
    names, own = channels(), groups()
    assert len(names) == len(set(names)) == 154
    assert {group: len(numbers) for group, numbers in own.items()} == {"comparison": 64, "target": 45, "reference": 45}
    assert sorted(np.concatenate(list(own.values()))) == list(range(154))
    for group in ("target", "reference"):
        assert sum(name.endswith(f"logit_{group}_{place}") for name in names for place in range(1, 21)) == 40
        assert all(group in names[number] for number in own[group])


@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("rounded", [False, True])
def test_both_implementations_count_strictly_greater_logits(count, rounded):
    logits = batch(8, 4, 300, seed=1, rounded=rounded)[0].flatten(0, 1)
    values = torch.cat([logits[:, ::7], logits[:, ::7] + 0.25, torch.full((32, 1), 99.0)], -1)
    expected = (logits[:, None] > values[..., None]).sum(-1)
    torch.testing.assert_close(count(logits, values), expected, rtol=0, atol=0)


@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("rounded", [False, True])
def test_values_at_one_end_or_alone_are_counted_alike(count, rounded):
    """Of the highest, the lowest, the middle, or all tokens, and of one token alone; ties at the ends included."""
    logits = batch(8, 4, 300, seed=3, rounded=rounded)[0].flatten(0, 1)
    all_of = logits.sort(-1).values + 0.0
    for values in (all_of[:, -9:], all_of[:, :9], all_of[:, 140:160], all_of, all_of[:, 3:4], all_of[:, [0, 299]]):
        expected = (logits[:, None] > values[..., None]).sum(-1)
        torch.testing.assert_close(count(logits, values), expected, rtol=0, atol=0)


@pytest.mark.parametrize("count", COUNTS)
def test_equal_logits_share_their_rank(count):
    even = torch.zeros(2, 9)
    assert (count(even, even[:, :3]) == 0).all()
    for order in ORDERS:
        ranks = encoded_ranks(even, even[:, :3], order(even))
        np.testing.assert_allclose(ranks, math.log(2) / math.log(10), rtol=1e-6)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("largest", [True, False])
@pytest.mark.parametrize("k", [1, 5, 30])
def test_of_equal_logits_the_smaller_token_comes_first(order, largest, k):
    logits = batch(5, 4, 30, seed=2, rounded=True)[0].flatten(0, 1)
    logits[0], logits[1] = 1.0, torch.arange(30.0)
    observed = extreme(logits, k, largest=largest, ordered=order(logits)).numpy()
    for row, ids in zip(logits.numpy(), observed, strict=True):
        np.testing.assert_array_equal(ids, np.argsort(-row if largest else row, kind="stable")[:k])


def test_features_do_not_depend_on_the_memory_given():
    tensors = batch(4, 9, 500)
    few = extract(*tensors, k=5, memory=0)
    np.testing.assert_array_equal(few.values, extract(*tensors, k=5).values)


PEAK = """
import re, torch
from pathlib import Path
from memaudit.attacks.token_features import extract
# Not ru_maxrss: that begins with the peak of the process that started this one.
peak = lambda: int(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1]) / 1024
torch.set_num_threads(1)
logits = torch.empty(2, 128, 50257).normal_(generator=torch.Generator().manual_seed(0))
if {rounded}:
    logits.round_()
ids, mask = torch.zeros(2, 128, dtype=torch.long), torch.ones(2, 128)
extract(logits[:1, :9, :99], logits[:1, :9, :99], ids[:1, :9], mask[:1, :9])
before = peak()
extract(logits, logits, ids, mask)
print(peak() - before)
"""


@pytest.mark.parametrize("rounded", [False, True])
def test_a_large_vocabulary_takes_less_than_100_mebibytes_beside_its_logits(rounded):
    """The peak is the kernel's, in a process of its own; 2 x 127 positions fill several chunks."""
    command = [sys.executable, "-c", PEAK.format(rounded=rounded)]
    done = subprocess.run(command, cwd=PROJECT / "workflow_scripts", capture_output=True, text=True, check=True)
    assert 0 < float(done.stdout) < 100


def test_half_precision_logits_are_read_exactly():
    target, reference, ids, mask = batch(vocabulary=3000)
    target, reference = target.bfloat16(), reference.bfloat16()
    half = extract(target, reference, ids, mask)
    np.testing.assert_array_equal(half.values, extract(target.float(), reference.float(), ids, mask).values)


def test_padding_is_zero_and_never_read_on_either_side():
    target, reference, ids, mask = batch()
    alone = extract(target[:1, :4], reference[:1, :4], ids[:1, :4], mask[:1, :4], k=3)
    mask[0, 4:] = 0
    target[0, 3:], ids[0, 4:] = torch.nan, -1
    mask[1, :2] = 0
    reference[1, :2] = torch.inf
    observed = extract(target, reference, ids, mask, k=3)
    expected = np.array([[1, 1, 1, 0, 0, 0], [0, 0, 1, 1, 1, 0], [1] * 5 + [0]], bool)
    np.testing.assert_array_equal(observed.mask, expected)
    assert (observed.values[~observed.mask] == 0).all()
    np.testing.assert_array_equal(observed.values[0, :4], alone.values[0])


def test_a_text_without_a_next_token_has_zeros_and_an_empty_mask():
    target, reference, ids, mask = batch()
    mask[0], mask[1, 1:] = 0, 0
    observed = extract(target, reference, ids, mask, k=3)
    assert not observed.mask[:2].any()
    assert (observed.values[:2] == 0).all()
    assert observed.mask[2].any()
    one = extract(*(tensor[:, :1] for tensor in (target, reference, ids, mask)), k=3)
    assert one.values.shape == (3, 1, 35)
    assert not one.mask.any()
    assert extract(*(tensor[:0] for tensor in (target, reference, ids, mask)), k=3).values.shape == (0, 6, 35)


@pytest.mark.parametrize("bad", [torch.nan, torch.inf, -torch.inf])
def test_logits_that_are_not_finite_are_named(bad):
    target, reference, ids, mask = batch()
    reference = reference.bfloat16()
    reference[2, 1, 7] = bad
    with pytest.raises(AuditError, match=r"reference model's logits of text 2 at position 1 .* \(bfloat16\)"):
        extract(target, reference, ids, mask, k=3)


def test_other_shapes_and_unknown_tokens_are_refused():
    target, reference, ids, mask = batch()
    with pytest.raises(AuditError, match="from one batch"):
        extract(target, reference[..., :-1], ids, mask)
    with pytest.raises(AuditError, match="from one batch"):
        extract(target, reference, ids, mask[:, 1:])
    with pytest.raises(AuditError, match="no 41 highest tokens in a vocabulary of 40"):
        extract(target, reference, ids, mask, k=41)
    for wrong in (40, -1):
        ids[1, 3] = wrong
        with pytest.raises(AuditError, match="a token id is not within the 40"):
            extract(target, reference, ids, mask, k=3)


def test_where_target_is_reference_the_comparison_is_the_same_for_all_texts():
    target, _, ids, mask = batch(5, 8, 200)
    observed = extract(target, target, ids, mask)
    own = observed.values[observed.mask][:, groups()["comparison"]]
    assert (own == own[0]).all()
    other = observed.values[observed.mask][:, groups()["target"]]
    assert (other.std(0) > 0).any()


def test_storage_keeps_its_stated_bound():
    values = extract(*batch(6, 9, 300), k=5).values
    values[0, 0], values[1, :, 3], values[2] = 1e-7 * values[0, 1], 1e6 * values[1, :, 3], 0
    observed = unpack(pack(TokenFeatures(values, values[..., 0] != 0)))
    bound = 2**-11 * np.abs(values) + 2**-39 * np.abs(values).max(1, keepdims=True)
    assert (np.abs(observed.values - values) <= bound).all()
    assert np.abs(observed.values - values).max() > 0
    np.testing.assert_array_equal(observed.mask, values[..., 0] != 0)
    assert pack(observed).nbytes < 0.6 * values.nbytes


def test_a_row_does_not_depend_on_the_others():
    features = extract(*batch(6, 9, 300), k=5)
    whole = pack(features)
    for text in range(6):
        alone = pack(TokenFeatures(features.values[text : text + 1], features.mask[text : text + 1]))
        assert alone[0].tobytes() == whole[text].tobytes()
    np.testing.assert_array_equal(unpack(pack(unpack(whole))).values, unpack(whole).values)


def test_features_that_are_not_finite_are_not_stored():
    features = extract(*batch(), k=3)
    features.values[1, 2, 3] = np.inf
    with pytest.raises(AuditError, match="those of text 1 are not finite"):
        pack(features)


def test_rows_are_mapped_from_disk_and_read_in_parts(tmp_path):
    features = extract(*batch(6, 9, 300), k=5)
    rows = pack(features)
    with writing_rows(tmp_path / "a.npy", 6, 9, 49) as file:
        assert not (tmp_path / "a.npy").exists()
        file[:4], file[4:] = rows[:4], rows[4:]
    observed = open_rows(tmp_path / "a.npy")
    assert isinstance(observed, np.memmap)
    np.testing.assert_array_equal(unpack(observed[[5, 0]]).values, unpack(rows[[5, 0]]).values)
    assert observed.dtype == row_type(9, 49)


def test_a_file_of_something_else_is_refused(tmp_path):
    np.save(tmp_path / "b.npy", np.zeros(3))
    with pytest.raises(AuditError, match="holds no token features"):
        open_rows(tmp_path / "b.npy")
    np.save(tmp_path / "c.npy", np.array([{}], dtype=object), allow_pickle=True)
    with pytest.raises(AuditError, match="cannot be read"):
        open_rows(tmp_path / "c.npy")


def test_a_part_that_fails_leaves_no_file(tmp_path):
    with pytest.raises(ZeroDivisionError), writing_rows(tmp_path / "a.npy", 6, 9, 49):
        raise ZeroDivisionError
    assert not list(tmp_path.iterdir())
