"""A wrong key, type or name in data and catalogues ends before any job, with its path and how to fix it."""

from config_faults import REMOVE, each, refuses

TABLE = {"source": "file", "path": "a.csv", "target": "y", "task": "classification", "licence": "CC0"}
TEXT = {"kind": "text", "task": "language", "licence": "CC0"}
FOREST = {"family": "estimator", "estimator": "sklearn.ensemble.RandomForestClassifier", "licence": "BSD-3-Clause"}
PFN = {"family": "tabpfn", "path": "models/tabpfn-v2-classifier.ckpt", "licence": "Prior Labs"}
DPT = {"family": "tabdpt", "mode": "as_deployed", "path": "tabdpt1_3.safetensors", "licence": "Apache-2.0"}
HUB = {"hub": {"repo": "owner/name"}, "licence": "MIT"}
FAULTS = [
    ({"run": 7}, "run: must be a valid string, got 7; put it in quotes"),
    ({"run": "../up"}, "run: string should match pattern"),
    ({"run": REMOVE}, "run: missing; see config/README.md"),
    ({"seed": -1}, "seed: must be greater than or equal to 0, got -1"),
    ({"seed": "12"}, "seed: must be a valid integer, got '12'"),
    ({"data/datasets": ["nowhere"]}, "data/datasets: unknown dataset 'nowhere'; known:"),
    ({"data/datasets": []}, "data/datasets: list should have at least 1 item"),
    ({"data/datasets": ["mmlu"]}, "data/datasets: mmlu is no table"),
    ({"data/public_id_key": ""}, "data/public_id_key: string should have at least 1 character"),
    ({"datasets/internet": {**TABLE, "taget": 1}}, "datasets/internet/taget: unknown key"),
    ({"models/tabicl-small/task": "regression"}, "lira/model: tabicl-small is no classifier"),
    ({"data/splits/lira/members": 1.5}, "data/splits/lira/members: must be less than 1, got 1.5"),
    ({"data/splits/lira/members": 0}, "data/splits/lira/members: must be greater than"),
    ({"data/splits/lira/members": 0.9}, "data/splits/lira: members + nonmembers is 1.1, more than all records"),
    (
        {"data/splits/lira/members": 600},
        "data/splits/lira: 714 members and non-members needed, breast_cancer has 569 records",
    ),
    ({"data/duplicates": "remove"}, "data/duplicates: must be 'drop' or 'keep', got 'remove'"),
    ({"data": []}, "data: must be a valid dictionary"),
    ({"datasets/mine": {**TABLE, "target": None}}, "datasets/mine: a table needs `target`, the column to predict"),
    ({"datasets/mine": {**TABLE, "document_start": "= "}}, "datasets/mine: `document_start` is for texts of a file or"),
    ({"datasets/ag-news/document_start": "("}, "datasets/ag-news: document_start is no regular expression"),
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
    ({"models/x": DPT | {"mode": "raw"}}, "models/x: mode: family tabdpt has as_deployed alone"),
    ({"models/x": DPT | {"options": {"clip": 6.0}}}, "models/x: options/clip: tabdpt has seed, n_estimators"),
    ({"models/x": DPT | {"family": "sdm"}}, "models/x: version: name the network, one of tabicl-v2, kumo-small"),
    ({"models/x": DPT | {"family": "tabfm", "task": "regression"}}, "models/x: task: tabfm predicts no distribution"),
    (
        {"models/x": HUB | {"family": "mitra", "mode": "as_deployed"}},
        "models/x: hub/folder: name the folder of config.json that a model of family mitra is, without `file`",
    ),
    (
        {"language_models/gpt2/hub": {"repo": "a/b"}},
        "language_models/gpt2: give `model_type`, `hub` or `path`, and one",
    ),
    ({"language_models/pythia-1.4b/config": {"a": 1}}, "language_models/pythia-1.4b: `config` is for `model_type`"),
    (
        {"language_models/pythia-1.4b/parameters": None},
        "language_models/pythia-1.4b: parameters: of a language model of a hub, state the number of weights",
    ),
    ({"models/x": HUB | {"family": "text"}}, "models/x: parameters: of a language model of a hub, state the number"),
    ({"models/mistral-7b/parameters": 0}, "models/mistral-7b/parameters: must be greater than 0, got 0"),
    ({"language_models/gpt2/colour": 1}, "language_models/gpt2/colour: unknown key"),
    ({"datasets/x": TEXT | {"source": "openml", "id": 1}}, "datasets/x: kind `text` comes from a package, file or hub"),
    ({"datasets/x": TEXT | {"source": "package"}}, "datasets/x: source `package` needs `package`"),
    ({"models/x": FOREST | {"version": "v1"}}, "models/x: version: unknown 'v1'; known: none of family estimator"),
]


@each(FAULTS)
def test_a_fault_is_one_clear_line(config, changes, line):
    refuses(config, changes, line)
