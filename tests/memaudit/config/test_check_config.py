"""A wrong config ends before any job, with the key's path and the mend."""

import json
import re

import pytest
import yaml
from conftest import load

from memaudit.config import key_reference
from memaudit.config.check_config import checked
from memaudit.errors import AuditError

REMOVE = object()
TABLE = {"source": "file", "path": "a.csv", "target": "y", "task": "classification", "licence": "CC0"}
TEXT = {"kind": "text", "task": "language", "licence": "CC0"}

# What is changed (path -> value), and the line that the user gets.
FOREST = {"family": "estimator", "estimator": "sklearn.ensemble.RandomForestClassifier", "licence": "BSD-3-Clause"}
PFN = {"family": "tabpfn", "path": "models/tabpfn-v2-classifier.ckpt", "licence": "Prior Labs"}
HUB = {"hub": {"repo": "owner/name"}, "licence": "MIT"}
BAD = [
    ({"run": 7}, "run: must be a valid string, got 7"),
    ({"run": "../up"}, "run: string should match pattern"),
    ({"run": REMOVE}, "run: missing; see config/README.md"),
    ({"seed": -1}, "seed: must be greater than or equal to 0, got -1"),
    ({"seed": "12"}, "seed: must be a valid integer, got '12'"),
    ({"sed": 1}, "sed: unknown key; did you mean `seed`?"),
    ({"lira/modls": 1}, "lira/modls: unknown key; did you mean `models`?"),
    ({"lira/simulation/colour": 1}, "lira/simulation/colour: unknown key; known: dimensions, draws"),
    (
        {"lira/datasets": ["brest_cancer"]},
        "lira/datasets: unknown dataset 'brest_cancer'; did you mean `breast_cancer`?",
    ),
    ({"data/datasets": ["nowhere"]}, "data/datasets: unknown dataset 'nowhere'; known:"),
    ({"data/datasets": []}, "data/datasets: list should have at least 1 item"),
    ({"lira/model": "tabicl-smal"}, "lira/model: unknown model 'tabicl-smal'; did you mean `tabicl-small`?"),
    ({"lira/split": "test"}, "lira/split: unknown split 'test'"),
    ({"lira/shard": 0}, "lira/shard: must be greater than or equal to 1, got 0"),
    ({"lira/shard": 2.5}, "lira/shard: must be a valid integer, got 2.5"),
    ({"lira/fpr": [0.1, 0.0]}, "lira/fpr/1: must be greater than 0, got 0.0"),
    ({"lira/fpr": [1.0]}, "lira/fpr/0: must be less than 1, got 1.0"),
    ({"lira/fpr": 0.1}, "lira/fpr: must be a valid list, got 0.1"),
    ({"lira/fpr": []}, "lira/fpr: list should have at least 1 item"),
    ({"lira/design": "half"}, "lira/design: must be 'balanced', 'bernoulli' or 'fixed_size', got 'half'"),
    ({"lira/rmia/gamma": 0.0}, "lira/rmia/gamma: must be greater than 0, got 0.0"),
    ({"lira/audit/delta": 1.0}, "lira/audit/delta: must be less than 1, got 1.0"),
    ({"lira/models": 8}, "lira/models: must be greater than or equal to 64, got 8"),
    ({"lira/models": True}, "lira/models: must be a valid integer, got True"),
    ({"lira/sizes": [16, 2048]}, "lira/sizes: must end with lira/models = 512, not with 2048"),
    ({"lira/sizes": [64, 16]}, "lira/sizes: must increase, without repeats"),
    ({"lira/sizes": [17, 32]}, "lira/sizes: a balanced design needs an even first size"),
    ({"lira/sizes": [16, 40]}, "lira/sizes: a balanced design needs an even first size, and multiples of it (16)"),
    ({"lira/replicates": 5}, "lira/replicates: must be greater than or equal to 20, got 5"),
    ({"lira/simulation/sizes": [1000]}, "lira/simulation/sizes: 1000 must be smaller than population - 1 = 999"),
    ({"lira/fpr": [0.1, 0.1]}, "lira/fpr: a value stands twice"),
    ({"lira/datasets": ["wine", "wine"]}, "lira/datasets: a value stands twice"),
    ({"data/datasets": ["mmlu"]}, "data/datasets: mmlu is no table"),
    ({"data/public_id_key": ""}, "data/public_id_key: string should have at least 1 character"),
    ({"datasets/internet": {**TABLE, "taget": 1}}, "datasets/internet/taget: unknown key"),
    ({"models/tabicl-small/task": "regression"}, "lira/model: tabicl-small is no classifier"),
    (
        {"lira/simulation/draws": ["poisson"]},
        "lira/simulation/draws/0: must be 'fixed_size' or 'bernoulli', got 'poisson'",
    ),
    ({"lira/population_check/context": 39}, "lira/population_check/context: must be smaller than `targets` - 1"),
    ({"lira/population_check/context": 30}, "context: 30 of 455 members of breast_cancer are more than 5%"),
    ({"lira/population_check/datasets": ["digits"]}, "population_check/datasets: digits must be one of lira/datasets"),
    ({"lira/population_check/supersets": 99}, "lira/population_check: 99 x 40 targets are more than the members of"),
    ({"lira/datasets": ["diabetes"]}, "lira/datasets: diabetes is no classification table"),
    ({"attacks/datasets": ["wyne"]}, "attacks/datasets: unknown dataset 'wyne'; did you mean `wine`?"),
    ({"attacks/datasets": ["diabetes"]}, "attacks/datasets: diabetes is no classification table"),
    ({"attacks/inference/sensitive/wine": REMOVE}, "attacks/inference/sensitive/wine: missing; name the column"),
    ({"attacks/split": "lyra"}, "attacks/split: unknown split 'lyra'; did you mean `lira`?"),
    ({"attacks/arms/defended": REMOVE}, "attacks/arms/defended: missing; the study compares with it"),
    ({"attacks/arms/main/model": "tabicl-smal"}, "attacks/arms/main/model: unknown model 'tabicl-smal'"),
    (
        {"attacks/arms/main/model": "tabicl-small-regression"},
        "arms/main/model: tabicl-small-regression is no classifier",
    ),
    ({"attacks/arms/main/model": "tabpfn-v3"}, "attacks/arms/main/model: the weights of tabpfn-v3"),
    ({"attacks/arms/text/datasets": ["wyne"]}, "attacks/arms/text/datasets: unknown dataset 'wyne'"),
    ({"attacks/arms/main/sets": 500}, "attacks/arms/main/sets: 500 is no multiple of the first of attacks/sizes, 8"),
    ({"attacks/arms/main/variants": [{"copies": 2}]}, "attacks/arms/main/variants: begins with {}, the usual contexts"),
    ({"attacks/arms/main/variants": [{}, {"layer": "dropped"}]}, "main/variants: begins with {}, the usual contexts"),
    ({"attacks/arms/settings/variants": [{"copies": 2}] * 2}, "settings/variants: 'copies 2' stands twice"),
    ({"attacks/arms/settings/variants": [{"shares": [0.5, 0.5]}]}, "both `shares` are the same"),
    ({"attacks/arms/settings/variants": [{"shares": [0.5, 0.7], "copies": 2}]}, "are drawn in their own way"),
    ({"attacks/arms/settings/variants": [{"layr": "dropped"}]}, "variants/0/layr: unknown key; did you mean `layer`?"),
    ({"attacks/arms/defended/variants": [{"bags": 2}]}, "defended/variants: the first one is what the others are"),
    ({"attacks/arms/text/variants": [{"shares": [0.5, 0.7]}]}, "text/variants: the first one is attacked record by"),
    ({"attacks/arms/poisoned": {"model": "tabicl-small", "sets": 16}}, "arms/poisoned: call an arm by letters, digits"),
    ({"attacks/arms/two-words": {"model": "tabicl-small", "sets": 16}}, "arms/two-words: call an arm by letters,"),
    ({"attacks/arms/count": {"model": "tabicl-small", "sets": 16}}, "arms/count: call an arm by letters, digits"),
    ({"attacks/arms/text/datasets": []}, "attacks/arms/text/datasets: list should have at least 1 item"),
    ({"attacks/arms/main/datasets": ["wine"]}, "attacks/arms/main/datasets: say null, or all of attacks/datasets"),
    (
        {"attacks/arms/defended/datasets": ["digits"]},
        "attacks/arms/defended/datasets: say null, or some of attacks/datasets",
    ),
    ({"attacks/arms/text/variants": [{"bags": 2}]}, "text/variants: the first one is attacked record by record"),
    ({"attacks/arms/text/variants": [{"layer": "dropped"}]}, "text/variants: the first one is attacked record by"),
    ({"attacks/arms/settings/variants": [{"copies": 256}]}, "variants/0/copies: must be less than or equal to 255"),
    ({"attacks/layer": 0.6}, "attacks/layer: must be less than or equal to 0.5, got 0.6"),
    ({"attacks/active/budgets": [5, 5]}, "attacks/active/budgets: a value stands twice"),
    ({"attacks/datasets": ["wine", "wine"]}, "attacks/datasets: a value stands twice"),
    ({"attacks/active/arms": ["main", "txt"]}, "attacks/active/arms: unknown arm 'txt'; did you mean `text`?"),
    ({"attacks/active/arms": ["text"]}, "attacks/active/arms: the first one must be main"),
    ({"attacks/active/sets": 1024}, "attacks/active/sets: 1024 shadow sets wanted, the arm has 512"),
    (
        {"attacks/perturbation/sets": 20},
        "attacks/perturbation/sets: 20 is no multiple of the first of attacks/sizes, 8",
    ),
    ({"attacks/sets": 1024}, "attacks/sets: 1024 shadow sets wanted, the arm has 512"),
    ({"attacks/sizes": [16, 8]}, "attacks/sizes: must increase"),
    ({"attacks/perturbation/scale": 0.3}, "attacks/perturbation/scale: 0.3 is none of `scales`"),
    ({"attacks/perturbation/count": 11}, "attacks/perturbation/count: 11 is none of `counts`"),
    ({"tabpate/datasets": ["wyne"]}, "tabpate/datasets: unknown dataset 'wyne'; did you mean `wine`?"),
    ({"tabpate/datasets": ["mmlu"]}, "tabpate/datasets: mmlu is no table"),
    ({"tabpate/models/regression": REMOVE}, "tabpate/models/regression: missing; diabetes needs one"),
    ({"tabpate/models/regression": "tabicl-small"}, "tabpate/models/regression: tabicl-small is for classification"),
    ({"tabpate/delta": 0.1}, "tabpate/delta: 0.1 is more than 1 / 569, the records of breast_cancer"),
    ({"tabpate/epsilons": [0.0]}, "tabpate/epsilons/0: must be greater than 0"),
    ({"tabpate/arms/as_published": REMOVE}, "tabpate/arms/as_published: missing; comparisons need this arm"),
    ({"tabpate/arms/prompt_pate/held_out": False}, "arms/prompt_pate/held_out: PromptPATE's public records cannot be"),
    (
        {"tabpate/arms/tuned_alpha/settings/candidates": [0.1, 0.1]},
        "tabpate/arms/tuned_alpha/settings/candidates: the same alpha twice",
    ),
    (
        {"tabpate/arms/as_published/settings/sigma1": None},
        "tabpate/arms/as_published/settings/sigma1: goes with `threshold`",
    ),
    (
        {"tabpate/arms/as_published/settings/sigma2": None},
        "tabpate/arms/as_published/settings/sigma2: goes with `threshold`",
    ),
    ({"tabpate/shadows/sets": 30}, "tabpate/shadows/sets: 30 is no multiple of 8"),
    ({"tabpate/shadows/poisoned/sets": 64}, "tabpate/shadows/poisoned/sets: more than tabpate/shadows/sets"),
    ({"tabpate/shadows/arms": ["mst"]}, "tabpate/shadows/arms: mst is no arm, or one whose synthesizer needs"),
    ({"tabpate/shadows/datasets": ["diabetes"]}, "tabpate/shadows/datasets: diabetes has a number target"),
    ({"data/splits/lira/members": 1.5}, "data/splits/lira/members: must be less than 1, got 1.5"),
    ({"data/splits/lira/members": 0}, "data/splits/lira/members: must be greater than"),
    ({"data/splits/lira/members": 0.9}, "data/splits/lira: members + nonmembers is 1.1, more than all records"),
    (
        {"data/splits/lira/members": 600},
        "data/splits/lira: 714 members and non-members wanted, breast_cancer has 569 records",
    ),
    ({"data/duplicates": "remove"}, "data/duplicates: must be 'drop' or 'keep', got 'remove'"),
    ({"data": []}, "data: must be a valid dictionary"),
    ({"datasets/mine": {**TABLE, "target": None}}, "datasets/mine: a table needs `target`, the column to predict"),
    ({"datasets/mine": {**TABLE, "path": None}}, "datasets/mine: source `file` needs `path`"),
    ({"datasets/mine": {**TABLE, "source": "openml"}}, "datasets/mine: source `openml` needs `id`"),
    ({"datasets/mine": {**TABLE, "sha256": "abc"}}, "datasets/mine/sha256: string should match pattern"),
    ({"datasets/mine": {**TABLE, "taget": "y"}}, "datasets/mine/taget: unknown key; did you mean `target`?"),
    (
        {"datasets/mine": {**TABLE, "limits": {"tvd": 0.2}}},
        "datasets/mine: limits/tvd is wider than 0.05; say why in limits/reason",
    ),
    (
        {"datasets/mine": {**TABLE, "task": "regression", "balance": True}},
        "datasets/mine: `balance` is for classification",
    ),
    (
        {"models/x": {"family": "tabicl", "licence": "MIT", "hub": {"repo": "typo", "file": "f"}}},
        "models/x/hub/repo: s",
    ),
    ({"datasets/a b": TABLE}, "datasets/a b/[key]: string should match pattern"),
    ({"models/x": {"family": "tabicl", "licence": "MIT"}}, "models/x: give `path` or `hub`, and one thing alone"),
    (
        {"models/tabicl-small/terms": "https://example.org/terms"},
        "lira/model: the weights of tabicl-small (MIT) have terms of their own; read https://example.org/terms, and add"
        " tabicl-small to accept_licences",
    ),
    ({"accept_licences": ["tabicl-smal"]}, "accept_licences: unknown model 'tabicl-smal'; did you mean `tabicl-small`"),
    ({"accept_licences": REMOVE}, "accept_licences: missing; see config/README.md"),
    ({"models/x": {"family": "gpt", "path": "p", "licence": "MIT"}}, "models/x/family: must be 'tabicl', 'tabpfn'"),
    ({"models/x": FOREST | {"path": "p"}}, "models/x: give `estimator`, and one thing alone"),
    ({"models/x": FOREST | {"estimator": "os; rm"}}, "models/x/estimator: string should match pattern"),
    ({"models/x": FOREST | {"mode": "as_deployed"}}, "models/x: mode: family estimator has raw alone"),
    ({"models/x": PFN | {"params": {"a": 1}}}, "models/x: `params` are an estimator's"),
    (
        {"models/x": PFN | {"version": "v2.5"}},
        "models/x: version: v2.5, and the file's name says another: tabpfn-v2-classifier.ckpt",
    ),
    ({"models/x": PFN | {"version": "2"}}, "models/x: version: unknown '2'; known: v2, v2.5"),
    (
        {"models/x": PFN | {"task": "regression"}},
        "models/x: task: regression, and the file's name says classifier: tabpfn-v2-classifier.ckpt",
    ),
    ({"models/x": HUB | {"family": "tabicl"}}, "models/x: hub/file: name the checkpoint's file"),
    (
        {"ltmia/held_out": [{"models": ["gpt2"], "corpora": ["code-numpy"], "tuning": "full"}]},
        "ltmia/held_out: models gpt2 are also trained on; nothing is then held out",
    ),
    (
        {"ltmia/held_out": [{"models": ["mamba"], "corpora": ["wine"], "tuning": "fast"}]},
        "ltmia/held_out/0/models: unknown language model 'mamba'; did you mean `mamba2`?",
    ),
    (
        {"ltmia/training": [{"models": ["gpt2"], "corpora": ["wine"], "tuning": "full"}]},
        "ltmia/training/0/corpora: wine is no corpus of texts (kind: text)",
    ),
    (
        {"ltmia/training": [{"models": ["gpt2", "gpt2"], "corpora": ["docs-scipy"], "tuning": "full"}]},
        "ltmia: the combination gpt2 docs-scipy full stands twice; name it once",
    ),
    (
        {"ltmia/training": [{"models": ["pythia-1.4b"], "corpora": ["docs-scipy"], "tuning": "full"}]},
        "ltmia/training/0/models: pythia-1.4b has a tokenizer of its own; set ltmia/texts/unit to words",
    ),
    (
        {"ltmia/controls/untrained/tuning": "none"},
        "ltmia/controls/untrained/tuning: none is none of ltmia/tunings: full, strong, lora, untrained",
    ),
    (
        {"ltmia/shifted/wine": {"members": "docs-scipy", "nonmembers": "docs-pandas"}},
        "ltmia/shifted/wine: a data set has that name; choose another",
    ),
    (
        {"ltmia/diversity/combinations": [1, 30]},
        "ltmia/diversity/combinations: there are 9 combinations in ltmia/training; ask for at most those",
    ),
    ({"ltmia/texts/size": 128}, "ltmia/texts/length: 64 is less than ltmia/texts/size; texts would be cut"),
    ({"ltmia/validation": 0.85}, "ltmia/validation: with ltmia/test it leaves less than a tenth of the texts"),
    (
        {"ltmia/tunings/full/privacy": {"epsilon": 8.0, "delta": 0.01}},
        "ltmia/tunings/full/privacy/delta: 0.01 is more than 1 / members",
    ),
    (
        {"ltmia/training": [], "ltmia/attack": {"target": "a", "base": "b", "texts": "c"}},
        "ltmia/attack: needs a classifier, and ltmia/training is empty",
    ),
    (
        {"language_models/gpt2/hub": {"repo": "a/b"}},
        "language_models/gpt2: give `model_type`, `hub` or `path`, and one",
    ),
    ({"language_models/pythia-1.4b/config": {"a": 1}}, "language_models/pythia-1.4b: `config` is for `model_type`"),
    ({"language_models/gpt2/colour": 1}, "language_models/gpt2/colour: unknown key"),
    ({"datasets/x": TEXT | {"source": "openml", "id": 1}}, "datasets/x: kind `text` comes from a package, file or hub"),
    ({"datasets/x": TEXT | {"source": "package"}}, "datasets/x: source `package` needs `package`"),
    ({"models/x": FOREST | {"version": "v1"}}, "models/x: version: unknown 'v1'; known: none of family estimator"),
]


@pytest.mark.parametrize(("changes", "line"), BAD, ids=[line[:60] for _, line in BAD])
def test_a_bad_config_gets_one_clear_line(config, changes, line):
    for path, value in changes.items():
        *parents, key = path.split("/")
        section = config
        for parent in parents:
            section = section[parent]
        if value is REMOVE:
            del section[key]
        else:
            section[key] = value
    with pytest.raises(AuditError) as caught:
        checked(config)
    assert line in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "url",
    [
        "https://alice:s3cret@example.org/a.csv",
        "https://example.org/a.zip?x=1&api_key=s3cret#a.csv",
        "https://example.org/a.csv?X-Amz-Signature=s3cret",
    ],
)
def test_a_secret_in_an_address_is_refused_and_not_shown(config, url):
    config["datasets"]["mine"] = {**TABLE, "source": "url", "url": url}
    with pytest.raises(AuditError, match=r"^datasets/mine: `url` holds a password or key") as caught:
        checked(config)
    assert "s3cret" not in str(caught.value)


def test_an_address_with_an_ordinary_query_is_no_fault(config):
    address = "https://example.org/a@b.zip?page=1&keyword=a@b#x&token=1"
    config["datasets"]["mine"] = {**TABLE, "source": "url", "url": address}
    assert checked(config)["datasets"]["mine"]["url"] == address


@pytest.mark.parametrize("names", [[], ["smoke"], ["paper"]])
def test_the_shipped_configs_hold(names):
    assert checked(load(*names))["lira"]["datasets"]


def test_accepted_terms_are_no_fault_and_terms_of_unused_models_neither(config):
    config["models"]["tabicl-v2"]["terms"] = "https://example.org/v2"
    checked(config)
    config["models"]["tabicl-small"]["terms"] = "https://example.org/small"
    config["accept_licences"] = ["tabicl-small"]
    assert checked(config)["accept_licences"] == ["tabicl-small"]


def test_all_faults_are_named_at_once(config):
    config["lira"]["shard"] = 0
    config["seed"] = "x"
    with pytest.raises(AuditError, match=r"seed: .*; lira/shard: "):
        checked(config)


def test_reference_and_schema_are_in_step(project):
    assert (project / "config/README.md").read_text(encoding="utf-8") == key_reference.readme(), "run `make docs`"
    assert (project / "config/schema.json").read_text(encoding="utf-8") == key_reference.schema(), "run `make docs`"
    assert json.loads(key_reference.schema())["additionalProperties"] is False


def test_the_models_that_the_readme_shows_are_entries_of_the_catalogue(config, project):
    text = (project / "README.md").read_text(encoding="utf-8")
    block = re.search(r"```yaml\n(forest: .*?)```", text, re.DOTALL)[1]
    shown = yaml.safe_load(block)
    config["models"] |= shown
    assert set(shown) == {"forest", "my-tabpfn"}
    assert checked(config)["models"]["my-tabpfn"]["mode"] == "as_deployed"
