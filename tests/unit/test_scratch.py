"""A killed job goes on where it stopped, and never takes a part that was made from something else."""

import multiprocessing
import os
import signal
from types import SimpleNamespace

import numpy as np
import pytest

from memaudit.scratch import Scratch


def job(folder, **params):
    (folder / "input").write_text("data")
    names = {"rule": "r", "wildcards": SimpleNamespace(shard="0"), "params": SimpleNamespace(**params)}
    return SimpleNamespace(**names, input=[str(folder / "input")], output=[str(folder / "out.nc")])


def killed_at_third_part(folder):
    with Scratch(job(folder, models=4)) as scratch:
        for name in "abcd":
            scratch.part(name, lambda name=name: os.kill(os.getpid(), signal.SIGKILL) if name == "c" else np.ones(3))


def test_parts_survive_sigkill_and_are_not_made_again(tmp_path):
    process = multiprocessing.get_context("fork").Process(target=killed_at_third_part, args=(tmp_path,))
    process.start()
    process.join()
    assert process.exitcode == -signal.SIGKILL
    made = []
    with Scratch(job(tmp_path, models=4)) as scratch:
        for name in "abcd":
            scratch.part(name, lambda name=name: made.append(name) or np.ones(3))
    assert made == ["c", "d"]


def test_a_failure_keeps_the_parts_and_success_removes_the_folder(tmp_path):
    scratch = Scratch(job(tmp_path, models=4))

    def fail():
        with scratch:
            scratch.part("a", lambda: np.ones(3))
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert scratch.folder.exists()
    with Scratch(job(tmp_path, models=4)) as scratch:
        scratch.part("a", lambda: pytest.fail("the part stands already"))
    assert not scratch.folder.exists()


def test_other_params_inputs_or_code_have_another_folder(tmp_path):
    first = Scratch(job(tmp_path, models=4)).folder
    assert Scratch(job(tmp_path, models=8)).folder != first
    assert Scratch(job(tmp_path, models=4, code="other")).folder != first
    changed = job(tmp_path, models=4)
    (tmp_path / "input").write_text("other data")
    assert Scratch(changed).folder != first


def one_of_two(folder, made):
    with Scratch(job(folder, models=4)) as scratch:
        for i in range(100):
            scratch.part(str(i), lambda: np.ones(3))
        made.put(os.getpid())


def test_two_writers_of_one_shard_wait_for_each_other(tmp_path):
    context = multiprocessing.get_context("fork")
    made = context.Queue()
    processes = [context.Process(target=one_of_two, args=(tmp_path, made)) for _ in range(3)]
    for process in processes:
        process.start()
    assert len({made.get(timeout=60) for _ in processes}) == 3
    for process in processes:
        process.join()
        assert process.exitcode == 0
    assert not Scratch(job(tmp_path, models=4)).folder.exists()
