"""A killed job goes on where it stopped, never beside another writer, never from a part made of something else."""

import itertools
import multiprocessing
import os
import signal
import time
from contextlib import ExitStack
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from memaudit.common import loaded_packages
from memaudit.common.checksums import sha256
from memaudit.common.errors import AuditError
from memaudit.common.io import replacing
from memaudit.workflow import lease
from memaudit.workflow.housekeeping import sweep
from memaudit.workflow.job import Paths
from memaudit.workflow.lease import OvertakenError, journal
from memaudit.workflow.scratch import Scratch, resumable

CONTEXT = multiprocessing.get_context("fork")


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(lease, "BEAT", 0.05)
    monkeypatch.setattr(lease, "SILENCE", 1.0)


def job(folder, **params):
    if not (folder / "input").exists():
        (folder / "input").write_text("data")
    names = {"rule": "lira_gather_grid", "wildcards": SimpleNamespace(shard="0"), "params": SimpleNamespace(**params)}
    return SimpleNamespace(**names, input=[str(folder / "input")], output=Paths([str(folder / "out.npy")]))


def work(task, scratch, made=None, seconds=0.0):
    for name in "abcd":
        scratch.part(name, lambda name=name: ([made.append(name)] if made is not None else 0, np.ones(3))[1])
        time.sleep(seconds)
    write(task, 1.0)
    return {"device": "cpu"}


def write(task, value):
    with replacing(task.output[0]) as temporary, open(temporary, "wb") as file:
        np.save(file, np.full(3, value))


def killed_at_third_part(folder):
    scratch = Scratch(job(folder, models=4))
    with scratch.lease:
        for name in "abcd":
            scratch.part(name, lambda name=name: os.kill(os.getpid(), signal.SIGKILL) if name == "c" else np.ones(3))


def test_parts_survive_sigkill_and_are_not_made_again(tmp_path):
    process = CONTEXT.Process(target=killed_at_third_part, args=(tmp_path,))
    process.start()
    process.join()
    assert process.exitcode == -signal.SIGKILL
    made = []
    facts = resumable(lambda task, scratch: work(task, scratch, made))(job(tmp_path, models=4))
    assert made == ["c", "d"]
    killed, finisher = facts["writers"]
    assert (killed["pid"], killed["ended"]) == (process.pid, None)
    assert killed["seen"] < finisher["started"] < finisher["ended"]


def test_a_finished_job_leaves_no_state_of_its_training_behind(tmp_path):
    """A state of a large model has 110 GB: those of all jobs together fill the disk before the run ends."""
    folders = []

    def trained(task, scratch):
        (scratch.folder / "target.state").write_bytes(b"weights")
        folders.append(scratch.folder)
        return work(task, scratch)

    resumable(trained)(job(tmp_path, models=4))
    assert (folders[0] / "finished.json").exists()
    assert not list(folders[0].glob("*.state"))


def test_a_failure_keeps_the_parts(tmp_path):
    def fail(_, scratch):
        scratch.part("a", lambda: np.ones(3))
        raise RuntimeError

    with pytest.raises(RuntimeError):
        resumable(fail)(job(tmp_path, models=4))
    made = []
    resumable(lambda task, scratch: work(task, scratch, made))(job(tmp_path, models=4))
    assert made == ["b", "c", "d"]


def test_other_params_inputs_or_code_have_another_folder(tmp_path):
    first = Scratch(job(tmp_path, models=4)).folder
    assert Scratch(job(tmp_path, models=8)).folder != first
    assert Scratch(job(tmp_path, models=4, code="other")).folder != first
    other = job(tmp_path, models=4)
    other.rule = "lira_draw_designs"
    assert Scratch(other).folder != first
    (tmp_path / "input").write_text("other data")
    assert Scratch(job(tmp_path, models=4)).folder != first


def one_of_three(folder, made):
    task = job(folder, models=4)
    facts = resumable(lambda task, scratch: (made.put(os.getpid()), work(task, scratch, seconds=0.1))[1])(task)
    made.put((os.getpid(), facts["device"]))


def test_of_three_writers_one_works_and_two_wait_and_adopt(tmp_path):
    made, _ = CONTEXT.Queue(), job(tmp_path, models=4)
    processes = [CONTEXT.Process(target=one_of_three, args=(tmp_path, made)) for _ in range(3)]
    for process in processes:
        process.start()
    said = [made.get(timeout=60) for _ in range(4)]
    for process in processes:
        process.join()
        assert process.exitcode == 0
    assert len([pid for pid in said if isinstance(pid, int)]) == 1
    assert {"cpu"} == {pair[1] for pair in said if isinstance(pair, tuple)}
    writers = journal(Scratch(job(tmp_path, models=4)).folder)
    assert len(writers) == 3
    assert all(first["ended"] <= second["started"] for first, second in itertools.pairwise(writers))


def test_the_folder_is_held_until_the_sidecar_is_written(tmp_path):
    task = job(tmp_path, models=4)
    folder = Scratch(task).folder
    with ExitStack() as task.until_recorded:
        (writer,) = resumable(work)(task)["writers"]
        assert writer["ended"]
        assert [one["ended"] for one in journal(folder)] == [None]
    assert journal(folder)[0]["ended"] >= writer["ended"]


def test_a_finished_output_is_adopted_after_snakemake_has_deleted_it_but_not_once_the_run_is_swept(tmp_path):
    task, made = job(tmp_path, models=4), []
    main = resumable(lambda task, scratch: work(task, scratch, made))
    main(task)
    Path(task.output[0]).unlink()
    assert main(task)["device"] == "cpu"
    assert np.load(task.output[0]).sum() == 3
    assert len(made) == 4
    sweep(tmp_path)
    assert not Scratch(task).folder.exists()
    main(task)
    assert len(made) == 8


def test_an_adopted_result_has_the_packages_of_the_process_that_made_it(tmp_path, monkeypatch):
    noted = {".venv-deployed": {"tabdpt": {"version": "1.3.1", "file": "f"}}}
    monkeypatch.setattr(loaded_packages, "_ELSEWHERE", noted)
    main = resumable(work)
    assert main(job(tmp_path, models=4))["other_environments"] == noted
    monkeypatch.setattr(loaded_packages, "_ELSEWHERE", {})
    adopted = main(job(tmp_path, models=4))
    assert (adopted["adopted"], adopted["other_environments"]) == (True, noted)


def test_a_damaged_finished_output_is_not_adopted(tmp_path):
    task, made = job(tmp_path, models=4), []
    main = resumable(lambda task, scratch: work(task, scratch, made))
    main(task)
    next(Scratch(task).folder.glob("output-*/0-out.npy")).write_bytes(b"damaged")
    main(task)
    assert len(made) == 8
    assert np.load(task.output[0]).sum() == 3


def test_sweeping_leaves_a_finished_folder_whose_writer_is_still_there(tmp_path):
    scratch = Scratch(job(tmp_path, models=4))
    with scratch.lease:
        scratch.finish([], {})
        sweep(tmp_path)
        assert scratch.folder.exists()
    sweep(tmp_path)
    assert not scratch.folder.exists()


def test_sweeping_leaves_what_is_not_finished(tmp_path):
    scratch = Scratch(job(tmp_path, models=4))
    with scratch.lease:
        scratch.part("a", lambda: np.ones(3))
    sweep(tmp_path)
    assert (scratch.folder / "a.npy").exists()


@pytest.mark.parametrize("damage", [b"", b"garbage", np.lib.format.MAGIC_PREFIX])
def test_a_damaged_part_is_named(tmp_path, damage):
    scratch = Scratch(job(tmp_path, models=4))
    with scratch.lease:
        (scratch.folder / "a.npy").write_bytes(damage)
        with pytest.raises(AuditError, match=r"a\.npy: cannot be read .* delete it"):
            scratch.part("a", lambda: np.ones(3))


def test_arrays_that_the_result_was_made_from_are_removed_with_it(tmp_path):
    """Those of folders too, such as the memory maps of shadow models; what is published stays."""

    @resumable
    def main(job, scratch):
        scratch.part("a", lambda: np.ones(3))
        (scratch.folder / "models-0").mkdir()
        np.save(scratch.folder / "models-0" / "states.npy", np.ones(3))
        Path(job.output[0]).parent.mkdir()
        np.save(job.output[0], np.ones(3))

    task = job(tmp_path, models=4)
    main(task)
    assert [path.name for path in Scratch(task).folder.rglob("*.npy")] == ["0-out.npy"]
    assert Path(task.output[0]).exists()


def test_a_writer_that_was_silent_too_long_finds_itself_replaced_and_writes_no_more(tmp_path):
    scratch = Scratch(job(tmp_path, models=4))
    with scratch.lease:
        (scratch.folder / "writer-1.json").write_bytes((scratch.folder / "writer-0.json").read_bytes())
        with pytest.raises(OvertakenError, match="process"):
            scratch.part("a", lambda: np.ones(3))
        with pytest.raises(OvertakenError, match="process"):
            scratch.finish([], {})
    assert not (scratch.folder / "a.npy").exists()


def stopped_in_the_middle(folder, said):
    """Stops itself like a machine that sleeps; its result, of unseeded noise say, differs from the other's."""

    def main(task, scratch):
        (folder / "begun").touch()
        os.kill(os.getpid(), signal.SIGSTOP)
        write(task, 111)
        return {"device": "first"}

    facts = resumable(main)(job(folder, models=4))
    said.put((facts["device"], facts["adopted"], facts["outputs"]))


def test_a_writer_that_wakes_up_after_it_was_replaced_takes_the_others_result_and_does_not_fail(tmp_path):
    said, task = CONTEXT.Queue(), job(tmp_path, models=4)
    process = CONTEXT.Process(target=stopped_in_the_middle, args=(tmp_path, said))
    process.start()
    while not (tmp_path / "begun").exists():
        time.sleep(0.01)
    facts = resumable(lambda task, scratch: write(task, 222) or {"device": "second"})(task)
    assert facts["adopted"] is False
    os.kill(process.pid, signal.SIGCONT)
    assert said.get(timeout=60) == ("second", True, facts["outputs"])
    process.join()
    assert process.exitcode == 0
    assert np.load(task.output[0]).tolist() == [222] * 3
    assert facts["outputs"] == {task.output[0]: sha256(task.output[0])}


def test_of_two_that_finish_at_once_the_first_settles_the_result(tmp_path):
    scratch = Scratch(job(tmp_path, models=4))
    with scratch.lease:
        scratch.finish([], {"device": "first"})
        with pytest.raises(OvertakenError):
            scratch.finish([], {"device": "second"})
        assert scratch.publish([])["device"] == "first"
