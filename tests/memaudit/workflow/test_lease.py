"""One writer at a time in a folder: a holder that lives is waited for, one that is gone is replaced."""

import errno
import json
import multiprocessing
import os
import time

import pytest

from memaudit.common.errors import AuditError
from memaudit.workflow import lease
from memaudit.workflow.lease import Lease, journal

CONTEXT = multiprocessing.get_context("fork")


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(lease, "BEAT", 0.05)
    monkeypatch.setattr(lease, "SILENCE", 1.0)


def elsewhere(folder, **changes):
    """The lease file of a holder on another machine."""
    writer = {"host": "elsewhere", "processes": None, "pid": 1, "slurm_job": "7", "started": "", "seen": "0"}
    folder.mkdir(exist_ok=True)
    draft = folder / "draft"
    draft.write_text(json.dumps(writer | {"ended": None} | changes))
    draft.replace(folder / "writer-0.json")


def beat_elsewhere(folder, beats):
    for beat in range(beats):
        elsewhere(folder, seen=str(beat))
        time.sleep(0.05)


def test_a_holder_on_another_machine_is_waited_for_while_it_gives_signs_of_life(tmp_path, capsys):
    folder = tmp_path / "scratch"
    elsewhere(folder)
    process = CONTEXT.Process(target=beat_elsewhere, args=(folder, 40))
    process.start()
    start = time.monotonic()
    with Lease(folder):
        waited = time.monotonic() - start
    process.join()
    assert waited > 40 * 0.05 + 0.5
    assert "waiting for process 1 on elsewhere, Slurm job 7" in capsys.readouterr().out


def test_a_holder_that_ended_is_not_waited_for(tmp_path):
    elsewhere(tmp_path / "scratch", ended="now")
    start = time.monotonic()
    with Lease(tmp_path / "scratch"):
        assert time.monotonic() - start < 0.5


def test_a_file_system_without_hard_links_is_named(tmp_path, monkeypatch):
    def link(*_):
        raise OSError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "link", link)
    with pytest.raises(AuditError, match="knows no hard links"), Lease(tmp_path / "scratch"):
        pass


def race(folder, barrier, taken):
    barrier.wait()
    with Lease(folder) as mine:
        taken.put(mine.number)


def test_of_many_that_take_over_a_dead_holder_each_gets_a_number_of_its_own(tmp_path):
    folder = tmp_path / "scratch"
    elsewhere(folder, ended="now")
    barrier, taken = CONTEXT.Barrier(6), CONTEXT.Queue()
    processes = [CONTEXT.Process(target=race, args=(folder, barrier, taken)) for _ in range(6)]
    for process in processes:
        process.start()
    assert sorted(taken.get(timeout=60) for _ in processes) == [1, 2, 3, 4, 5, 6]
    for process in processes:
        process.join()
    assert all(writer["ended"] for writer in journal(folder))
