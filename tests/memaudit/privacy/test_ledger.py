"""The ledger: a table's budget cannot be had twice, whatever is renamed, killed or run at the same time."""

import json
import multiprocessing
import os
import signal
import stat
import time

import numpy as np
import pytest

from memaudit.common.errors import AuditError
from memaudit.privacy.accounting import Budget
from memaudit.privacy.ledger import RELEASED, Ledger, Paid, identity

ONE, HALF = Budget(1.0, 1e-6), Budget(0.5, 5e-7)
ROWS = ["3:age|2:41", "3:age|2:57", "3:age|2:57", "3:age|2:23"]
PROCESSES, PAID_FOR = 8, 3


@pytest.fixture
def ledger(tmp_path):
    return Ledger(tmp_path / "ledger")


def charge(ledger, name="customers", content="a" * 64, budget=ONE, total=ONE):
    return ledger.charge(name, content, budget, total, "release of a test")


def refused(ledger, **given):
    before = ledger.path.read_bytes()
    with pytest.raises(AuditError) as caught:
        charge(ledger, **given)
    assert "\n" not in str(caught.value)
    assert ledger.path.read_bytes() == before
    return str(caught.value)


def test_a_budget_is_had_once(ledger):
    charge(ledger)
    assert refused(ledger).startswith("budget spent: table customers has been charged (epsilon 1, delta 1e-06)")
    assert ledger.spent("customers", "a" * 64) == ONE


def test_parts_of_a_total_add_up_in_epsilon_and_in_delta(ledger):
    charge(ledger, budget=HALF)
    assert "budget spent" in refused(ledger, budget=Budget(0.5, 6e-7))
    assert "budget spent" in refused(ledger, budget=Budget(0.6, 1e-7))
    charge(ledger, budget=HALF)
    assert ledger.spent("customers", "a" * 64) == ONE
    assert "budget spent" in refused(ledger, budget=Budget(1e-9, 1e-12))


def test_ten_tenths_are_one_and_an_eleventh_is_too_much(ledger):
    """As floats ten times 0.1 is less than 1, and three times 0.1 more than 0.3."""
    for _ in range(3):
        charge(ledger, budget=Budget(0.1, 1e-8), total=Budget(0.3, 1e-6))
    for _ in range(7):
        charge(ledger, budget=Budget(0.1, 1e-8))
    assert "budget spent" in refused(ledger, budget=Budget(1e-17, 1e-8))


def test_another_name_does_not_give_the_budget_back(ledger):
    charge(ledger)
    assert "budget spent: table clients" in refused(ledger, name="clients")


def test_a_changed_row_does_not_give_the_budget_back(ledger):
    charge(ledger)
    assert "budget spent" in refused(ledger, content="b" * 64)


def test_a_new_name_and_then_a_changed_row_do_not_give_it_back(ledger):
    """Neither name nor content of the last is the first's: they are one table through the charge between them."""
    charge(ledger, "customers", "a" * 64, HALF)
    charge(ledger, "clients", "a" * 64, HALF)
    assert "budget spent" in refused(ledger, name="clients", content="b" * 64, budget=HALF)
    assert ledger.spent("clients", "b" * 64) == ONE


def test_another_table_has_a_budget_of_its_own(ledger):
    charge(ledger)
    charge(ledger, "patients", "b" * 64)
    assert ledger.spent("patients", "b" * 64) == ONE
    assert ledger.spent("nobody", "c" * 64) == Budget(0, 0)


def test_a_ledger_that_is_opened_again_knows_what_was_spent(ledger):
    charge(ledger)
    assert "budget spent" in refused(Ledger(ledger.folder))


def test_identity_is_that_of_the_rows_in_any_order():
    assert identity(ROWS) == identity(ROWS[::-1]) == identity(iter(sorted(ROWS)))
    others = [ROWS[:-1], [*ROWS, ROWS[0]], [*ROWS[:-1], "3:age|2:24"], [ROWS[0] + ROWS[1], *ROWS[2:]]]
    assert len({identity(ROWS), *map(identity, others)}) == 5


def test_processes_at_once_cannot_all_have_it(ledger, monkeypatch):
    """Each waits between reading and writing: without a lock all would find the ledger empty."""
    refuse = Ledger._refuse

    def slowly(*given):
        refuse(*given)
        time.sleep(0.05)

    monkeypatch.setattr(Ledger, "_refuse", slowly)
    context = multiprocessing.get_context("fork")
    start, had = context.Barrier(PROCESSES), context.SimpleQueue()

    def work():
        start.wait()
        try:
            had.put(charge(ledger, total=Budget(PAID_FOR, 1e-4)).id)
        except AuditError as error:
            had.put(str(error).partition(":")[0])

    processes = [context.Process(target=work) for _ in range(PROCESSES)]
    for process in processes:
        process.start()
    found = [had.get() for _ in processes]
    for process in processes:
        process.join()
    assert found.count("budget spent") == PROCESSES - PAID_FOR
    assert ledger.spent("customers", "a" * 64).epsilon == PAID_FOR
    lines = [json.loads(line)["id"] for line in ledger.path.read_text().splitlines()]
    assert sorted(lines) == sorted(set(found) - {"budget spent"})


def test_a_process_that_is_killed_as_soon_as_it_was_charged_has_spent_it(ledger):
    def work():
        charge(ledger)
        os.kill(os.getpid(), signal.SIGKILL)

    process = multiprocessing.get_context("fork").Process(target=work)
    process.start()
    process.join()
    assert process.exitcode == -signal.SIGKILL
    assert "no release is kept" in refused(ledger)


def test_a_lock_that_a_killed_process_held_is_free(ledger):
    context = multiprocessing.get_context("fork")
    held = context.Event()

    def work():
        with ledger._locked():
            held.set()
            time.sleep(60)

    process = context.Process(target=work)
    process.start()
    held.wait()
    process.kill()
    charge(ledger)
    process.join()


def test_a_line_and_its_files_name_are_on_the_disk_before_the_charge_returns(ledger, monkeypatch):
    synced = []
    monkeypatch.setattr(os, "fsync", lambda number: synced.append((os.fstat(number).st_ino, os.fstat(number).st_size)))
    charge(ledger)
    file = ledger.path.stat()
    assert synced[0] == (file.st_ino, file.st_size)
    assert ledger.folder.stat().st_ino in dict(synced[1:])


def test_a_charge_leaves_earlier_lines_as_they_are(ledger):
    charge(ledger, budget=HALF)
    before = ledger.path.read_bytes()
    charge(ledger, budget=HALF)
    assert ledger.path.read_bytes().startswith(before)


def test_a_last_line_that_was_cut_off_anywhere_stops_every_charge(ledger):
    charge(ledger, budget=HALF)
    whole = ledger.path.stat().st_size
    charge(ledger, budget=HALF)
    content = ledger.path.read_bytes()
    for size in range(whole + 1, len(content)):
        ledger.path.write_bytes(content[:size])
        line = refused(ledger, name="another table", content="b" * 64)
        assert f"{ledger.path}, line 2: cut off or damaged" in line
        with pytest.raises(AuditError, match="line 2: cut off or damaged"):
            ledger.spent("customers", "a" * 64)
    ledger.path.write_bytes(content)
    assert ledger.spent("customers", "a" * 64) == ONE


@pytest.mark.parametrize(
    "change",
    [{"epsilon": -0.5}, {"epsilon": 0}, {"epsilon": float("nan")}, {"epsilon": "0.5"}, {"delta": -1e-7}, {"d": 0}],
)
def test_a_line_that_would_give_budget_back_is_damaged(ledger, change):
    charge(ledger, budget=HALF)
    charge(ledger, budget=HALF)
    first, second = ledger.path.read_text().splitlines()
    fields = json.loads(first)
    fields["budget"] |= change
    ledger.path.write_text(f"{json.dumps(fields)}\n{second}\n")
    assert "line 1: cut off or damaged" in refused(ledger)


@pytest.mark.parametrize("epsilon", [0.0, -1.0, float("nan"), float("inf")])
def test_a_budget_that_is_none_is_refused(ledger, epsilon):
    charge(ledger, total=Budget(9.0, 1e-5))
    assert "epsilon must be positive" in refused(ledger, budget=Budget(epsilon, 1e-6), total=Budget(9.0, 1e-5))


def test_a_total_that_is_no_number_refuses(ledger):
    charge(ledger)
    assert "release: total (epsilon nan" in refused(ledger, total=Budget(float("nan"), 1e-6))


def test_a_check_says_what_a_charge_would_and_charges_nothing(ledger):
    ledger.check("customers", "a" * 64, ONE, ONE)
    assert ledger.spent("customers", "a" * 64) == Budget(0, 0)
    charge(ledger)
    with pytest.raises(AuditError) as caught:
        ledger.check("clients", "a" * 64, ONE, ONE)
    assert str(caught.value) == refused(ledger, name="clients")


def test_the_refusal_names_the_copy_of_what_was_released(ledger):
    paid, unfinished = (charge(ledger, budget=HALF) for _ in range(2))
    for entry in (paid, unfinished):
        ledger.place(entry).mkdir()
    (ledger.place(paid) / RELEASED).write_text("{}")
    line = refused(ledger)
    assert f"its releases are kept in {ledger.folder / paid.id}" in line
    assert unfinished.id not in line


def test_paid_noise_is_charged_once_and_before_its_first_draw(ledger):
    drawn = []

    def free(center, sigma):
        drawn.append(ledger.spent("customers", "a" * 64))
        return center

    noise = Paid(free, lambda: charge(ledger))
    assert noise.charge is None
    assert not ledger.folder.exists()
    for _ in range(3):
        noise(np.zeros(2, np.int64), 1.0)
    assert drawn == [ONE] * 3
    assert noise.charge.budget == ONE


def test_noise_that_cannot_be_paid_for_is_not_drawn(ledger):
    charge(ledger)
    noise = Paid(lambda *_: pytest.fail("drawn"), lambda: charge(ledger))
    with pytest.raises(AuditError, match="budget spent"):
        noise(np.zeros(2, np.int64), 1.0)


def test_it_can_be_read_by_its_owner_alone_and_no_repository_takes_it(ledger):
    before = os.umask(0)
    charge(ledger)
    os.umask(before)
    assert stat.S_IMODE(ledger.folder.stat().st_mode) == 0o700
    assert stat.S_IMODE(ledger.path.stat().st_mode) == 0o600
    assert (ledger.folder / ".gitignore").read_text() == "*\n"


def test_asking_what_was_spent_makes_no_ledger(ledger):
    assert ledger.spent("customers", "a" * 64) == Budget(0, 0)
    assert not ledger.folder.exists()


def test_a_folder_that_has_lost_its_ledger_is_not_taken_for_an_empty_one(ledger):
    ledger.place(charge(ledger)).mkdir()
    ledger.path.unlink()
    with pytest.raises(AuditError, match=r"has files but no ledger.jsonl; if it was lost, take it from a backup"):
        charge(ledger)
    assert not ledger.path.exists()


def test_a_disk_without_locks_is_refused(ledger, monkeypatch):
    def flock(*_):
        raise OSError(37, "No locks available")

    monkeypatch.setattr("fcntl.flock", flock)
    with pytest.raises(AuditError, match=r"cannot be locked \(No locks available\)"):
        charge(ledger)
    assert not ledger.path.read_bytes()
