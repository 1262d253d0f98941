"""docs/release.md: its numbers are computed anew, its commands and files exist, its remedies and warnings hold."""

import json
import re
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import asdict, replace
from functools import cache

import numpy as np
import pandas as pd
import pytest
import yaml
from conftest import PROJECT

from memaudit.common.errors import AuditError
from memaudit.common.io import read_json
from memaudit.privacy.accounting import Budget, gaussian_sigma
from memaudit.privacy.composition import Cost, fits, so_far
from memaudit.privacy.ledger import FINGERPRINT, KEY, RELEASED, Ledger
from memaudit.privacy.ledger_lines import PrivateTable
from memaudit.privacy.ledger_looks import LINES
from memaudit.privacy.noisy_bounds import planned_bounds
from memaudit.privacy.noisy_moments import Moments
from memaudit.privacy.public_facts import read_public
from memaudit.privacy.release_plan import most_labels
from memaudit.privacy.tabpate_release import Settings, narrowed, planned
from memaudit.statistics.private_gains import mean_difference, tables_of
from memaudit.studies.release_audit.audited_releases import AS_RELEASED, conditions
from memaudit.studies.release_audit.optional_parts import optional_conditions
from workflow.conftest import SNAKEMAKE

PAGE = (PROJECT / "docs/release.md").read_text(encoding="utf-8")
WORDS = " ".join(PAGE.split())
FILES = dict(re.findall(r"^```yaml\n# (\S+)\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL))
COMMANDS = re.findall(r"^snakemake (\w+) --cores 2 --configfile my.yaml$", PAGE, re.MULTILINE)
TYPES = {"age": "numeric", "income": "numeric", "region": "categorical"}
NUMBERS = {"three": 3, "seven": 7, "ten": 10}


def says(pattern: str) -> list[float]:
    """The numbers of the only sentence of the page that is like the pattern."""
    (found,) = re.findall(pattern, WORDS)
    texts = [found] if isinstance(found, str) else found
    return [float(NUMBERS.get(text, text.replace(",", "") if isinstance(text, str) else text)) for text in texts]


@cache
def config():
    """The page's config, with the total and the bounds that it adds later."""
    first, second = re.findall(r"^```yaml\n# my.yaml.*?\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    given = yaml.safe_load(first)
    given["release"] |= yaml.safe_load(second)
    return given


@pytest.fixture
def public(tmp_path):
    path = tmp_path / "customers.yaml"
    path.write_text(FILES["config/public/customers.yaml"])
    return read_public(path, TYPES)


@pytest.fixture
def release(public):
    """Budget, settings and cost of the page's release."""
    asked = config()["release"]
    budget, settings = Budget(asked["epsilon"], asked["delta"]), Settings(**asked["settings"])
    return budget, settings, Cost(budget, planned(settings, budget, public).guarantee(public))


def test_noise_halves_with_the_range_about_as_with_twice_the_epsilon():
    assert "half as wide has half the noise, about what doubling epsilon does" in WORDS
    assert gaussian_sigma(1.0, 1e-5) / gaussian_sigma(2.0, 1e-5) == pytest.approx(2, rel=0.1)


def test_a_larger_loss_and_several_rows_are_as_stated(release):
    budget, _, cost = release
    times, delta = says(r"at epsilon 1 it is (\d+) times a delta of (\S+)\. ")
    assert delta == budget.delta
    assert cost.guarantee.beyond(budget.epsilon) / delta == pytest.approx(times, abs=0.5)
    delta, most = says(
        r"ten rows of a Gaussian release at epsilon 1, epsilon at the same delta of (\S+) is at most (\S+),"
    )
    found = cost.guarantee.of_rows(10).epsilon(delta)
    assert most - 0.1 < found <= most
    assert found > 10 * budget.epsilon, "more than ten times as large"


def test_labels_of_voting_teachers_are_as_stated(public, release):
    budget = release[0]
    settings = Settings(**yaml.safe_load(re.search(r"^`settings: (\{.*\})`", PAGE, re.MULTILINE)[1]))
    (labels,) = says(r"which buys at most (\d+) labels at epsilon 1")
    assert most_labels(planned(settings, budget, public), settings, public) == labels
    sigma1, sigma2 = says(r"with `sigma1: (\S+), sigma2: (\d+\.\d+)`, which .*?one label exhausts epsilon 1")
    large = replace(settings, sigma1=sigma1, sigma2=sigma2)
    assert most_labels(planned(large, budget, public), large, public) <= 1


def test_queries_and_equal_classes_are_free_as_stated(public, release):
    budget, settings, cost = release
    learned = yaml.safe_load(re.search(r"^  settings: (\{.*learned\})$", PAGE, re.MULTILINE)[1])
    many, few = says(r"so ([\d,]+) queries cost as much as (\d+)\.")
    costs = [planned(Settings(**learned | {"queries": int(count)}), budget, public) for count in (many, few)]
    assert costs[0] == costs[1]
    assert planned(replace(settings, equal_classes=True), budget, public).guarantee(public) == cost.guarantee


def test_narrowed_bounds_are_no_narrower_than_stated(public):
    assert "never narrower than a twentieth of your bounds (a fortieth where the noisy mean is at one of them)" in WORDS
    for mean, least in ((0.0, 1 / 20), (1.0, 1 / 40)):
        total = np.array([[mean, mean]])
        moments = Moments(np.array([1.0]), total, total**2, (np.ones((1, 4)),))
        for before, after in zip(public.columns[:2], narrowed(public, moments).columns[:2], strict=True):
            assert np.diff(after.values)[0] / np.diff(before.values)[0] == pytest.approx(least, rel=1e-4)


def test_totals_allow_as_many_releases_as_stated(release):
    cost = release[2]
    total = Budget(*says(r"`total: \{epsilon: (\S+), delta: (\S+)\}` allows at least three releases"))
    assert fits([cost] * 3, total)
    count, *total = says(r"(seven) releases like the one above fit a total of \((\S+), (\S+)\)\. ")
    assert fits([cost] * int(count), Budget(*total))
    assert not fits([cost] * (int(count) + 1), Budget(*total))


def test_paid_bounds_cost_and_find_what_is_stated(public, release):
    asked, (income,) = config()["release"], says(r"such as `income: \[0, (\S+)\]`")
    columns = [replace(one, values=(0.0, income)) if one.name == "income" else one for one in public.columns]
    budget = Budget(asked["bounds"]["epsilon"], asked["bounds"]["delta"])
    plan = planned_bounds(replace(public, columns=tuple(columns)), asked["bounds"]["columns"], budget)
    assert [round(plan.found)] == says(r"all bins of (\d+) records or more are within")
    costs = [Cost(budget, plan.guarantee), release[2]]
    epsilon, delta = says(r"these bounds guarantee epsilon (\S+) at a delta of (\S+)\. ")
    assert so_far(costs, Budget(3.0, delta)).epsilon == pytest.approx(epsilon, abs=0.005)
    assert fits(costs, Budget(**asked["total"]))


def test_which_labels_keep_more_is_as_measured():
    measured = read_json(PROJECT / "results/bench/private_gain.json")
    tables = tables_of(measured["parts"].values())
    assert len(tables) == 6
    sizes = {size for table in tables for size in table.sizes}
    assert [min(sizes), max(sizes)] == says(r"public tables of (\d+) to ([\d,]+) records")

    def learned_minus_group(epsilon, size, of=tables):
        return mean_difference(of, "learned, equal classes", "class_moments, equal classes", epsilon, size)

    def not_told_apart(epsilon, size, of=tables):
        _, low, high = learned_minus_group(epsilon, size, of)
        return low < 0 < high

    large, others = [one for one in tables if 5000 in one.sizes], [one for one in tables if one.table != "kc1"]
    assert "not told apart at epsilon 1, from 250 records to the largest samples" in WORDS
    assert all(not_told_apart(1, size) for size in (250, 500, 1000, None))
    assert "in the mean of the three tables with 5,000 records `learned` keeps more there" in WORDS
    assert len(large) == 3
    assert learned_minus_group(1, 5000, large)[1] > 0
    assert (
        "At epsilon 10 they are not told apart at 250 records, and `group` keeps more in the mean from 500 on" in WORDS
    )
    assert not_told_apart(10, 250)
    assert all(learned_minus_group(10, size)[2] < 0 for size in (500, 1000, None))
    assert "due to kc1 alone: without it they are not told apart" in WORDS
    assert all(not_told_apart(10, size, others) for size in (500, 1000, None))
    assert "from 2,500 records on `learned` has the higher mean on each of the three" in WORDS
    assert all(learned_minus_group(10, size, [one])[0] > 0 for one in large for size in (2500, 5000, None))


def test_the_release_audit_attacks_the_parts_that_are_named_and_no_others():
    """A part that is added to the audit is to be named on the page, too."""
    every = (conditions() | optional_conditions()).values()
    parts = {one.part for one in every if one.broken == AS_RELEASED}
    assert parts == {
        *("moments", "moments, bounds narrowed", "schema", "votes", "partition", "threshold", "tuned alpha"),
        *("labels learned", "number target", "people with several rows", "paid bounds"),
    }
    assert (
        "of moments with published and with narrowed bounds, votes of simulated teachers with and without a threshold, "
        "`labels: learned` at a larger epsilon, number targets, people with several rows, and paid bounds" in WORDS
    )
    broken = {one.part for one in every if one.broken != AS_RELEASED}
    assert parts - broken == {"moments, bounds narrowed"}
    assert "Each but narrowed bounds also has a release that is broken on purpose" in WORDS


def test_the_commands_are_rules_that_make_the_files_of_the_page(tmp_path):
    assert COMMANDS == ["release_plan", "release_bounds", "release"]
    (tmp_path / "customers.yaml").write_text(FILES["config/public/customers.yaml"])
    pd.DataFrame({"age": [20], "churn": ["no"]}).to_csv(tmp_path / "customers.csv", index=False)
    given = config() | {"release": config()["release"] | {"public": str(tmp_path / "customers.yaml")}}
    (tmp_path / "my.yaml").write_text(yaml.safe_dump(given))
    command = [*SNAKEMAKE, *COMMANDS, "-n", "--snakefile", str(PROJECT / "Snakefile"), "--configfile", "my.yaml"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    printed = done.stdout + done.stderr
    assert done.returncode == 0, printed
    table = re.search(r"^\| file in `(\S+)` .*?\n\n", PAGE, re.MULTILINE | re.DOTALL)
    files = [table[1] + name for name in re.findall(r"^\| `(\S+)` \|", table[0], re.MULTILINE)]
    assert len(files) == 3
    for path in (*files, "results/mine/release_bounds/customers/bounds.yaml"):
        assert path in printed, path


def test_the_messages_are_those_of_the_library():
    sources = (PROJECT / "workflow_scripts/memaudit/privacy").glob("*.py")
    text = re.sub(r'"\n\s*f?"', "", "".join(path.read_text(encoding="utf-8") for path in sources))
    table = re.search(r"^\| message \|.*?\n\n", PAGE, re.MULTILINE | re.DOTALL)[0]
    messages = re.findall(r"`([^`]+)`", "".join(re.findall(r"^\|([^|]*)\|", table, re.MULTILINE)))
    assert len(messages) > 8
    for message in messages:
        for part in re.split(r"\.{3}|ledger\.jsonl(?:, line 3)?|key: |/<charge>", message):
            assert part.strip() in text, message


# The ledger: what the page says of a crash, and of what is not detected.

ONE, HALF, LARGE = Budget(1.0, 1e-6), Budget(0.5, 5e-7), Budget(2.0, 1e-5)
ROWS = [f"row {number}" for number in range(100)]


def charge(ledger, name="customers", rows=ROWS, budget=ONE, total=ONE):
    return ledger.charge(PrivateTable(name, rows), Cost(budget), total, "release of a test", "one row")


@pytest.fixture
def ledger(tmp_path):
    """A ledger with one charge, which leaves nothing of its total."""
    ledger = Ledger(tmp_path / "ledger")
    charge(ledger)
    with pytest.raises(AuditError, match="budget spent"):
        charge(ledger)
    return ledger


def before_the_line(ledger):
    (ledger.folder / "0123456789abcdef").mkdir()
    yield "has no line for the folder"
    (ledger.folder / "0123456789abcdef").rmdir()


def within_the_line(ledger):
    whole = ledger.path.read_bytes()
    lost = charge(ledger, total=LARGE)
    ledger.path.write_bytes(ledger.path.read_bytes()[:-20])
    assert [path.name for path in ledger.place(lost).iterdir()] == [FINGERPRINT]
    yield "line 2: cut off or damaged"
    ledger.path.write_bytes(whole)
    yield "has no line for the folder"
    shutil.rmtree(ledger.place(lost))


def after_the_charge(ledger):
    yield "no release is kept, because a run ended after its charge"


@pytest.mark.parametrize("ended", [before_the_line, within_the_line, after_the_charge])
def test_the_remedies_after_a_crash_are_enough(ledger, ended):
    for message in ended(ledger):
        with pytest.raises(AuditError, match=message):
            charge(ledger)
    with pytest.raises(AuditError, match="budget spent"):
        charge(ledger)
    charge(ledger, total=LARGE)
    assert len(ledger.history(PrivateTable("customers", ROWS))) == 2, "the lost charge counts"


def test_what_stands_beside_the_ledger_is_found_after_a_crash_while_it_was_copied(ledger):
    (lost,) = ledger.history(PrivateTable("customers", ROWS))
    (ledger.place(lost) / RELEASED).write_text("{}")
    with pytest.raises(AuditError, match=f"its releases are kept in {ledger.place(lost)}"):
        charge(ledger)


def deleted(ledger):
    shutil.rmtree(ledger.folder)
    charge(ledger)


def restored(ledger):
    (line,) = ledger.history(PrivateTable("customers", ROWS))
    shutil.rmtree(ledger.place(line))
    ledger.path.write_text("")
    charge(ledger)


def edited(ledger):
    line = json.loads(ledger.path.read_text())
    ledger.path.write_text(json.dumps(line | {"budget": asdict(HALF)}) + "\n")
    charge(ledger, budget=HALF)


def copied_away(ledger):
    """The second computer has no such folder as the first."""
    other = ledger.folder.with_name("other")
    shutil.copytree(ledger.folder, other)
    ledger.folder.rename(ledger.folder.with_name("away"))
    charge(Ledger(other), total=LARGE)


def all_changed(ledger):
    charge(ledger, "clients", [f"{row}, 1" for row in ROWS])


def another_key(ledger):
    (ledger.folder / KEY).write_bytes(bytes(32))
    charge(ledger, "clients", [*ROWS[1:], "another"])


def looks_emptied(ledger):
    table = PrivateTable("customers", ROWS)
    ledger.note(table, "an audit")
    assert ledger.looks(table)
    (ledger.folder / LINES).write_text("")
    assert not ledger.looks(table)


UNDETECTED: dict[str, Callable] = {
    "the whole ledger is deleted": deleted,
    "or a line is removed together with its folder": restored,
    "a line is edited": edited,
    "the ledger is copied to another computer": copied_away,
    "every row is changed": all_changed,
    "`key` is replaced by another key": another_key,
    "`looks.jsonl` is emptied": looks_emptied,
}


@pytest.mark.parametrize("words", UNDETECTED)
def test_what_the_page_says_is_not_detected_is_not(ledger, words, monkeypatch, tmp_path):
    """One that is detected some day is to be taken from the page."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    listed = WORDS[WORDS.index("These are **not** detected") : WORDS.index("The time of a line")]
    assert words in listed
    UNDETECTED[words](ledger)
