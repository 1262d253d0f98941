"""The machine reads what `pickle` writes, calls nothing, and its time follows the file's length."""

import io
import pickle
import time
from collections import OrderedDict, deque

import pytest
from model_files import Runs, laughs

from memaudit.common.errors import AuditError
from memaudit.scanning.array_readers import inline
from memaudit.scanning.inert_objects import Made, Pairs
from memaudit.scanning.pickle_machine import Machine


def loaded(data):
    machine = Machine(lambda _: None, inline)
    return machine.load(io.BytesIO(data)), machine


@pytest.mark.parametrize("protocol", range(6))
def test_plain_objects_are_those_of_pickle(protocol):
    known = [1, -(2**70), 1.5, "é\n", b"\x00\xff", None, True, (1,), (1, 2, 3, 4), [[]]]
    found, _ = loaded(pickle.dumps(known, protocol))
    assert [one for one in found if not isinstance(one, Made)] == [
        one for one in known if protocol > 2 or not isinstance(one, bytes)
    ]
    table, _ = loaded(pickle.dumps({"a": [1], "b": 2}, protocol))
    assert isinstance(table, Pairs)
    assert (table.get("a"), table.get("b")) == ([1], 2)


@pytest.mark.parametrize("protocol", range(6))
def test_containers_keep_their_content(protocol):
    ordered, machine = loaded(pickle.dumps(OrderedDict(a=1), protocol))
    assert isinstance(ordered, Made)
    assert ("collections", "OrderedDict") in machine.called
    assert loaded(pickle.dumps(deque([1, 2]), protocol))[0].items[-2:] in ([1, 2], [])


@pytest.mark.parametrize("protocol", range(6))
def test_a_call_is_kept_and_not_made(tmp_path, protocol):
    found, machine = loaded(pickle.dumps(Runs(tmp_path / "ran"), protocol))
    assert isinstance(found, Made)
    assert [str(one) for one in machine.called.values()] == ["posix.system"]
    assert not (tmp_path / "ran").exists()


def test_the_same_object_stays_the_same():
    one = [1]
    found, _ = loaded(pickle.dumps([one, one]))
    assert found[0] is found[1]


def test_a_billion_laughs_are_short():
    started = time.process_time()
    loaded(laughs(5000))
    assert time.process_time() - started < 5


@pytest.mark.parametrize(
    "data",
    [b"", b".", b"\x80\x04", b"a.", b"\x80\x04)R.", b"}a.", b"(((", b"\x80\x04K\x01K\x02u.", b"\x80\x04\x93.", b"t.",
     b"\x80\x04X\xff\xff\xff\xffa.", b"I" + b"9" * 10_000 + b"\n.", b"\x80\x04h\x01."],
)  # fmt: skip
def test_a_fault_is_one_error(data):
    with pytest.raises(AuditError, match="is no complete pickle"):
        loaded(data)
