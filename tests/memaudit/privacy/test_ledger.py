"""The ledger: a table's budget cannot be had twice, whatever is renamed, killed or run at the same time."""

import json
import multiprocessing
import os
import shutil
import signal
import stat
import time

import numpy as np
import pytest

from memaudit.common.errors import AuditError
from memaudit.privacy.accounting import Budget
from memaudit.privacy.composition import Cost, added
from memaudit.privacy.guarantee import Guarantee
from memaudit.privacy.ledger import FINGERPRINT, PLACE, RELEASED, Ledger, Paid, default_folder
from memaudit.privacy.ledger_lines import PrivateTable

ONE, HALF = Budget(1.0, 1e-6), Budget(0.5, 5e-7)
PROCESSES, PAID_FOR = 8, 3


@pytest.fixture
def ledger(tmp_path):
    return Ledger(tmp_path / "ledger")


def table(name="customers", content="a", rows=100, shared=0):
    """A table of which `shared` rows are those of the table "a"."""
    return PrivateTable(name, [f"a{row}" for row in range(shared)] + [f"{content}{row}" for row in range(shared, rows)])


def charge(ledger, name="customers", content="a", budget=ONE, total=ONE, noise=None, **of_table):
    cost = Cost(budget, noise)
    return ledger.charge(table(name, content, **of_table), cost, total, "release of a test", "one row")


def spent(ledger, name="customers", content="a"):
    return added(one.budget for one in ledger.history(table(name, content)))


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
    assert spent(ledger, "customers", "a") == ONE


def test_parts_of_a_total_add_up_in_epsilon_and_in_delta(ledger):
    charge(ledger, budget=HALF)
    assert "budget spent" in refused(ledger, budget=Budget(0.5, 6e-7))
    assert "budget spent" in refused(ledger, budget=Budget(0.6, 1e-7))
    charge(ledger, budget=HALF)
    assert spent(ledger, "customers", "a") == ONE
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
    assert "budget spent" in refused(ledger, content="b")


def test_a_new_name_and_then_a_changed_row_do_not_give_it_back(ledger):
    """Neither name nor content of the last is the first's: they are one table through the charge between them."""
    charge(ledger, "customers", "a", HALF)
    charge(ledger, "clients", "a", HALF)
    assert "budget spent" in refused(ledger, name="clients", content="b", budget=HALF)
    assert spent(ledger, "clients", "b") == ONE


def test_another_table_has_a_budget_of_its_own(ledger):
    charge(ledger)
    charge(ledger, "patients", "b")
    assert spent(ledger, "patients", "b") == ONE
    assert spent(ledger, "nobody", "c") == Budget(0, 0)


def test_a_ledger_that_is_opened_again_knows_what_was_spent(ledger):
    charge(ledger)
    assert "budget spent" in refused(Ledger(ledger.folder))


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
    assert spent(ledger, "customers", "a").epsilon == PAID_FOR
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
    folder = ledger.place(charge(ledger))
    file, hashes = ledger.path.stat(), (folder / FINGERPRINT).stat()
    line = synced.index((file.st_ino, file.st_size))
    # What the line needs in order to be read is on the disk before it.
    assert (hashes.st_ino, hashes.st_size) in synced[:line]
    assert folder.stat().st_ino in dict(synced[:line])
    assert ledger.folder.stat().st_ino in dict(synced[line:])


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
        line = refused(ledger, name="another table", content="b")
        assert f"{ledger.path}, line 2: cut off or damaged" in line
        with pytest.raises(AuditError, match="line 2: cut off or damaged"):
            spent(ledger, "customers", "a")
    ledger.path.write_bytes(content)
    assert spent(ledger, "customers", "a") == ONE


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
    ledger.check(table(), Cost(ONE), ONE)
    assert spent(ledger, "customers", "a") == Budget(0, 0)
    charge(ledger)
    with pytest.raises(AuditError) as caught:
        ledger.check(table("clients"), Cost(ONE), ONE)
    assert str(caught.value) == refused(ledger, name="clients")


def test_the_refusal_names_the_copy_of_what_was_released(ledger):
    paid, unfinished = (charge(ledger, budget=HALF) for _ in range(2))
    (ledger.place(paid) / RELEASED).write_text("{}")
    line = refused(ledger)
    assert f"its releases are kept in {ledger.folder / paid.id}" in line
    assert unfinished.id not in line


def test_paid_noise_is_charged_once_and_before_its_first_draw(ledger):
    drawn = []

    def free(center, sigma):
        drawn.append(spent(ledger, "customers", "a"))
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
    assert spent(ledger, "customers", "a") == Budget(0, 0)
    assert not ledger.folder.exists()


def test_a_folder_that_has_lost_its_ledger_is_not_taken_for_an_empty_one(ledger):
    charge(ledger)
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


# The table, not its name or its folder


@pytest.mark.parametrize("changed", [1, 50, 90])
def test_a_new_name_with_changed_rows_is_the_same_table(ledger, changed):
    charge(ledger)
    line = refused(ledger, name="clients", content="b", shared=100 - changed)
    assert "table clients has been charged (epsilon 1, delta 1e-06) (also as customers" in line


def test_a_part_of_a_table_and_a_larger_one_with_it_are_the_same_table(ledger):
    charge(ledger)
    assert "budget spent" in refused(ledger, name="part", rows=10)
    assert "budget spent" in refused(ledger, name="whole", rows=5000, content="b", shared=100)


def test_tables_that_share_fewer_than_a_tenth_of_their_rows_are_two(ledger):
    charge(ledger)
    charge(ledger, name="patients", content="b", shared=9)
    assert len(ledger.history(table("patients", "b"))) == 1


def test_repeated_rows_make_no_table_another_one(ledger):
    """Different rows count: a table cannot be thinned out with copies of its rows."""
    charge(ledger)
    with pytest.raises(AuditError, match="budget spent"):
        ledger.charge(PrivateTable("copies", ["a1"] * 50 + ["b1"]), Cost(ONE), ONE, "a test", "one row")


def test_a_chain_of_tables_that_overlap_is_one_table(ledger):
    first, second = PrivateTable("one", [f"{row}" for row in range(100)]), [f"{row}" for row in range(85, 185)]
    ledger.charge(first, Cost(HALF), ONE, "a test", "one row")
    ledger.charge(PrivateTable("two", second), Cost(HALF), ONE, "a test", "one row")
    third = PrivateTable("three", [f"{row}" for row in range(170, 270)])
    with pytest.raises(AuditError, match=r"also as one, two"):
        ledger.charge(third, Cost(HALF), ONE, "a test", "one row")


def test_an_emptied_file_beside_folders_is_refused(ledger):
    charge(ledger)
    ledger.path.write_bytes(b"")
    with pytest.raises(AuditError, match=r"has no line for the folder .* beside it"):
        charge(ledger, name="another", content="b")
    assert ledger.path.read_bytes() == b""


def test_a_removed_last_line_is_refused(ledger):
    charge(ledger, budget=HALF)
    before = ledger.path.read_bytes()
    charge(ledger, budget=HALF)
    ledger.path.write_bytes(before)
    assert "has no line for the folder" in refused(ledger, budget=HALF)


def test_a_removed_folder_is_refused(ledger):
    paid = charge(ledger, budget=HALF)
    shutil.rmtree(ledger.place(paid))
    assert f"line 1: {paid.id}/{FINGERPRINT} is missing beside it" in refused(ledger, name="clients", content="b")


def test_a_lost_key_or_a_damaged_fingerprint_is_refused(ledger):
    paid = charge(ledger, budget=HALF)
    key = (ledger.folder / "key").read_bytes()
    (ledger.folder / "key").unlink()
    assert "key: missing, and without it no table is recognised" in refused(ledger)
    (ledger.folder / "key").write_bytes(key)
    (ledger.place(paid) / FINGERPRINT).write_bytes(b"no array")
    assert f"{FINGERPRINT}: cannot be read" in refused(ledger, name="clients")


def test_a_copied_ledger_is_refused_and_a_moved_one_goes_on(ledger, tmp_path):
    charge(ledger, budget=HALF)
    copy = Ledger(shutil.copytree(ledger.folder, tmp_path / "copy"))
    assert "is a copy of the ledger in" in refused(copy, budget=HALF)
    ledger.folder.rename(tmp_path / "moved")
    moved = Ledger(tmp_path / "moved")
    charge(moved, budget=HALF)
    assert "budget spent" in refused(moved, budget=HALF)


def test_a_folder_with_the_place_of_a_ledger_alone_is_refused_as_its_copy(ledger, tmp_path):
    charge(ledger, budget=HALF)
    (tmp_path / "part").mkdir()
    shutil.copy(ledger.folder / PLACE, tmp_path / "part")
    with pytest.raises(AuditError, match="is a copy of the ledger in"):
        charge(Ledger(tmp_path / "part"), budget=HALF)


def test_a_key_without_its_file_shows_that_the_ledger_was_lost(ledger):
    shutil.rmtree(ledger.place(charge(ledger)))
    ledger.path.unlink()
    with pytest.raises(AuditError, match=r"has files but no ledger\.jsonl"):
        charge(ledger)


def test_a_link_to_the_ledger_is_no_copy(ledger, tmp_path):
    charge(ledger, budget=HALF)
    (tmp_path / "link").symlink_to(ledger.folder)
    charge(Ledger(tmp_path / "link"), budget=HALF)
    assert spent(ledger) == ONE


def test_lines_of_an_earlier_version_still_count(ledger):
    """They have neither unit nor noise nor fingerprint: name, content and the sum of the budgets decide."""
    fields = {"id": "0" * 16, "time": "2026-01-01T00:00:00+00:00", "name": "customers", "identity": table().identity}
    fields |= {"budget": vars(HALF), "total": vars(ONE), "purpose": "a test"}
    ledger.folder.mkdir()
    ledger.path.write_text(json.dumps(fields) + "\n")
    charge(ledger, name="clients", budget=HALF)
    assert "budget spent" in refused(ledger, content="b", budget=HALF)


def test_a_release_that_stands_needs_its_line(ledger):
    paid = charge(ledger)
    ledger.require([paid.id], "results")
    with pytest.raises(AuditError, match=f"has no line of charge {'f' * 16}, which paid for a release in results"):
        ledger.require([paid.id, "f" * 16], "results")


def test_an_empty_ledger_beside_releases_is_refused(ledger):
    with pytest.raises(AuditError, match="this is not the ledger that was charged"):
        ledger.require(["f" * 16], "results")


# Composition


def gaussian(mu):
    """The noise of a Gaussian release with this mu, in steps of a fine lattice."""
    return Guarantee(mu**2 / 2, ((1, mu * 1e6, 1e6),))


def test_releases_compose_by_their_noise_and_not_by_the_sum_of_their_epsilons(ledger):
    """Four releases of mu 1/4 are one of mu 1/2."""
    budget, total = Budget(gaussian(0.25).epsilon(1e-6), 1e-6), Budget(gaussian(0.5).epsilon(1e-6) * 1.001, 1e-6)
    assert 4 * budget.epsilon > 1.5 * total.epsilon
    for _ in range(4):
        charge(ledger, budget=budget, total=total, noise=gaussian(0.25))
    assert "budget spent" in refused(ledger, budget=budget, total=total, noise=gaussian(0.25))


def test_noise_survives_in_the_file(ledger):
    paid = charge(ledger, noise=gaussian(0.25))
    assert ledger.history(table()) == [paid]


@pytest.mark.parametrize("noise", [{"rho": 0, "mechanisms": None}, {"rho": 1, "mechanisms": [[1, 2]]}, {"rho": 1}, 3])
def test_noise_that_would_give_budget_back_is_damaged(ledger, noise):
    charge(ledger, budget=HALF, noise=gaussian(0.25))
    fields = json.loads(ledger.path.read_text())
    ledger.path.write_text(json.dumps(fields | {"guarantee": noise}) + "\n")
    assert "line 1: cut off or damaged" in refused(ledger)


# Where it is


def test_the_default_is_the_state_folder_of_the_user(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    assert default_folder(tmp_path) == tmp_path / "state/memaudit/ledger"
    for ignored in ("", "relative/path"):
        monkeypatch.setenv("XDG_STATE_HOME", ignored)
        monkeypatch.setenv("HOME", str(tmp_path))
        assert default_folder(tmp_path) == tmp_path / ".local/state/memaudit/ledger"


def test_a_ledger_that_an_earlier_version_left_in_the_project_is_not_forgotten(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    charge(Ledger(tmp_path / "project/ledger"))
    with pytest.raises(AuditError, match="is a ledger of an earlier version, which is now kept in"):
        default_folder(tmp_path / "project")
