"""A wrong section `release` ends before any job, and before anything is spent."""

import math
import re

import pytest
import yaml

from memaudit.common.errors import AuditError
from memaudit.config.check_config import checked
from memaudit.privacy.accounting import Budget
from memaudit.privacy.public_facts import read_public
from memaudit.privacy.tabpate_release import Settings, planned

RELEASE = {
    "dataset": "wine",
    "public": "config/public/wine.yaml",  # 178 records
    "epsilon": 1.0,
    "delta": 1e-4,
    "model": "tabicl-small",
    "tuned": "on breast_cancer",
    "settings": {"teachers": 10, "queries": 60},
}
MOMENTS = {"prior": "moments", "alpha": 0.3}
BAD = [
    ({"dataset": "wyne"}, "release/dataset: unknown dataset 'wyne'; did you mean `wine`?"),
    ({"dataset": "mmlu"}, "release/dataset: mmlu is no table"),
    ({"dataset": "diabetes"}, "release/model: tabicl-small is for classification, diabetes has regression"),
    ({"model": "tabicl-smal"}, "release/model: unknown model 'tabicl-smal'"),
    ({"model": "tabpfn-v3"}, "release/model: the weights of tabpfn-v3"),
    ({"public": "config/public/wyne.yaml"}, "release/public: there is no file config/public/wyne.yaml; write down"),
    ({"public": "config/README.md"}, "release/public: config/README.md does not say `records`"),
    ({"epsilon": 0.0}, "release/epsilon: must be greater than 0, got 0.0"),
    ({"epsilon": -1.0}, "release/epsilon: must be greater than 0, got -1.0"),
    ({"epsilon": float("inf")}, "release/epsilon: must be a finite number, got inf"),
    ({"epsilon": float("nan")}, "release/epsilon: must be"),
    ({"delta": 0.0}, "release/delta: must be greater than 0, got 0.0"),
    ({"delta": "1e-6"}, "release/delta: must be a valid number, got '1e-6'"),
    (
        {"delta": 0.006},
        "release/delta: 0.006 is too large, since 0.0056 would allow to publish a whole record of the 178; at most "
        "1 / (10 * 178) = 0.00056",
    ),
    ({"total": {"epsilon": 0.5, "delta": 1e-3}}, "release/total: is less than this release alone"),
    ({"total": {"epsilon": 9.0, "delta": 1e-5}}, "release/total: is less than this release alone"),
    ({"total": {"epsilon": 9.0}}, "release/total/delta: missing"),
    (
        {"bounds": {"columns": ["alcohol"], "epsilon": 0.1, "delta": 1e-5}},
        "release/total: is needed with `release/bounds`",
    ),
    (
        {"bounds": {"columns": [], "epsilon": 0.1, "delta": 1e-5}},
        "release/bounds/columns: list should have at least 1 item",
    ),
    ({"tuned": ""}, "release/tuned: string should have at least 1 character"),
    ({"tuned": None}, "release/tuned: must be a valid string"),
    ({"ledger": "ledger"}, "release/ledger: a relative path would be another ledger in another folder"),
    ({"ledgr": "ledger"}, "release/ledgr: unknown key; did you mean `ledger`?"),
    ({"settings": {"teachers": 90, "queries": 60}}, "release/settings/teachers: 90 are more than half of the 178"),
    ({"settings": {"teachers": 1, "queries": 60}}, "release/settings/teachers: 1 cannot hide one another"),
    ({"settings": {"queries": 60}}, "release/settings/teachers: 0 cannot hide one another"),
    ({"settings": {"teachers": 10, "queries": 0}}, "release/settings/queries: must be greater than or equal to 1"),
    ({"settings": {"teachers": 10, "queries": 9, "alpha": 0.3}}, "release/settings/alpha: the prior `moments` needs"),
    ({"settings": {"teachers": 10, "queries": 9, "prior": "moments"}}, "release/settings/alpha: the prior `moments`"),
    ({"settings": {"teachers": 10, "queries": 9, **MOMENTS, "alpha": 1.0}}, "release/settings/alpha: the prior"),
    ({"settings": {"teachers": 10, "queries": 9, "by_class": True}}, "release/settings/prior: `by_class`"),
    ({"settings": {"queries": 9, "labels": "group", **MOMENTS}}, "release/settings/labels: `group` needs"),
    ({"settings": {"teachers": 10, "queries": 9, "equal_classes": True}}, "release/settings/equal_classes: needs"),
    ({"settings": {"teachers": 10, "queries": 9, "threshold": 8.0}}, "release/settings/threshold: goes with `sigma1`"),
    (
        {"settings": {"teachers": 10, "queries": 9, "threshold": 8.0, "sigma1": 5.0}},
        "release/settings/sigma2: is needed with a `threshold`",
    ),
    ({"settings": {"teachers": 10, "queries": 9, "sigma2": 0.0}}, "release/settings/sigma2: must be greater than 0"),
]


@pytest.mark.parametrize(("change", "line"), BAD, ids=[line[:70] for _, line in BAD])
def test_a_bad_release_gets_one_clear_line(config, change, line):
    config["release"] = RELEASE | change
    with pytest.raises(AuditError) as caught:
        checked(config)
    assert line in str(caught.value)
    assert "\n" not in str(caught.value)


def test_an_order_of_dates_has_no_effect_on_a_release_and_is_refused(config):
    config["release"] = RELEASE
    config["datasets"]["wine"]["decimal"] = ","
    assert checked(config)["datasets"]["wine"]["decimal"] == ","
    config["datasets"]["wine"]["dates"] = "dmy"
    with pytest.raises(AuditError, match=r"datasets/wine/dates: a release holds .* no dates; list .* under `drop`"):
        checked(config)


def test_without_the_section_nothing_is_released(config):
    assert checked(config)["release"] is None
    config["release"] = None
    assert checked(config)["release"] is None


def test_what_is_left_out_is_filled_in(config):
    config["release"] = RELEASE
    found = checked(config)["release"]
    assert found["total"] is None
    assert found["ledger"] is None
    assert found["settings"]["prior"] == "uniform"
    assert found["settings"]["accounting"] == "joint"


@pytest.mark.parametrize(
    "settings",
    [
        {"teachers": 10, "queries": 60, "threshold": 7.0, "sigma1": 5.0, "sigma2": 8.0},
        {"teachers": 10, "queries": 60, **MOMENTS, "by_class": True, "narrowed": True},
        {"queries": 60, **MOMENTS, "alpha": 1.0, "by_class": True, "labels": "group"},
        {"queries": 60, **MOMENTS, "by_class": True, "labels": "learned", "equal_classes": True},
    ],
)
def test_the_arms_of_the_mechanism_are_no_faults(config, settings):
    config["release"] = RELEASE | {"settings": settings, "total": {"epsilon": 1.0, "delta": 1e-4}}
    checked(config)


def test_numbers_have_no_classes_to_take_moments_of(config):
    settings = {"queries": 60, **MOMENTS, "alpha": 1.0, "labels": "group"}
    other = {"dataset": "diabetes", "public": "config/public/diabetes.yaml", "model": "tabicl-small-regression"}
    config["release"] = RELEASE | other | {"settings": settings}
    checked(config)


def test_the_largest_delta_is_a_tenth_of_one_over_the_records(config):
    config["release"] = RELEASE | {"delta": 1 / 1780}
    checked(config)


def test_the_files_that_the_page_shows_hold(config, project, tmp_path, monkeypatch):
    page = (project / "docs/release.md").read_text(encoding="utf-8")
    blocks = dict(re.findall(r"^```yaml\n# (\S+)\n(.*?)^```", page, re.MULTILINE | re.DOTALL))
    public = tmp_path / "config/public/customers.yaml"
    public.parent.mkdir(parents=True)
    public.write_text(blocks["config/public/customers.yaml"])
    mine = yaml.safe_load(blocks["my.yaml"])
    monkeypatch.chdir(tmp_path)
    config["datasets"] |= mine.pop("datasets")
    found = checked(config | mine)["release"]
    types = {"age": "numeric", "income": "numeric", "region": "categorical"}
    known = read_public(public, types)
    assert planned(Settings(**found["settings"]), Budget(found["epsilon"], found["delta"]), known).moments
    as_in_the_paper = yaml.safe_load(re.search(r"^`settings: (\{.*\})`", page, re.MULTILINE)[1])
    config["release"] = found | {"settings": as_in_the_paper}
    checked(config)


@pytest.mark.parametrize(("epsilon", "sure", "times"), [(0.1, 53, 1.11), (1, 74, 2.72), (3, 96, 20), (10, 100, 22000)])
def test_the_pages_table_of_epsilons_is_right(project, epsilon, sure, times):
    page = (project / "docs/release.md").read_text(encoding="utf-8")
    (row,) = re.findall(rf"^\| {epsilon} \| (\S+) % \| (\S+) times \|$", page, re.MULTILINE)
    assert math.ceil(100 / (1 + math.exp(-epsilon))) == sure == math.ceil(float(row[0]))
    assert float(row[1].replace(",", "")) == times == pytest.approx(math.exp(epsilon), rel=0.01)
