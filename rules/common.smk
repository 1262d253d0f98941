"""Helpers and registries that every rules file may use; no rule stands here."""

import functools

import yaml

# What each study gives to readers, registered in its rules; the report and the terminal know no study but these.
# A study: title, question, paper, config keys that are its thresholds; facts, tables of its own. A table: title,
# caption, files, its layout (keys of lines and columns, values of other keys). A figure: title, caption, files, values
# of keys that it shows. Claims: all files that they rest on. Headlines: files, and the sentences
# (memaudit/statistics/headlines.py).
STUDIES = {}
TABLES = {}
FIGURES = {}
CLAIMS = {}
HEADLINES = {}
# By model: functions that list the tables it will be asked about: `where`, `rows` of a context, `features` if known.
USES = {}

# What the papers print, by study. The parser in C: each job on a cluster reads the file again.
with open(Path(workflow.basedir, "config", "published.yaml"), encoding="utf-8") as file:
    PUBLISHED = yaml.load(file, yaml.CSafeLoader)


def uses(model, shapes):
    """Register what a study asks of a model."""
    USES.setdefault(model, []).append(shapes)


def shards(models, size):
    """Numbers of the shards that hold that many models."""
    return range(-(-models // size))


def views(study):
    """All tables and figures of a study."""
    tables = [name for name in TABLES if name.startswith(f"{study}_")]
    figures = [name for name in FIGURES if name.startswith(f"{study}_")]
    return [
        *expand("<results>/tables/{name}.{kind}", name=tables, kind=["csv", "md", "tex"]),
        *expand("<results>/figures/{name}.{kind}", name=figures, kind=["svg", "png", "pdf"]),
    ]


def forget(study):
    """Take out what a study has registered: a run that does not have it shows nothing of it."""
    for registry in (STUDIES, TABLES, FIGURES, CLAIMS, HEADLINES):
        for name in [name for name in registry if name.startswith(study)]:
            del registry[name]


def view(folder, name, kind):
    """A file of a view, with its caption and category in Snakemake's own report."""
    return report(
        f"<results>/{folder}/{name}.{kind}",
        caption="../docs/captions/view.rst",
        category=STUDIES[name.split("_")[0]]["title"],
        subcategory=folder,
        labels={"name": name, "format": kind},
    )


def together(registry, common):
    """Names of views that one job makes: those of a study with the same `common`, a function of their entries."""
    groups = {}
    for name, entry in registry.items():
        groups.setdefault((name.split("_")[0], str(common(entry))), []).append(name)
    return {names[0]: names for names in groups.values()}


def without_files(name, entry):
    """A table or figure as the report needs it."""
    return {"name": name} | {key: entry.get(key) for key in ("title", "caption", "layout")}


def readable(name, study):
    """A study as the report needs it: each threshold with its values and what it means."""
    meaning = {key: text for key, _, text in key_reference.keys()}
    values = [[key, thresholds(key), meaning[key]] for key in study["thresholds"]]
    return study | {"name": name, "thresholds": values}


def command():
    """What makes a file of this run, when its path follows: with the merged config, wherever the settings came from."""
    given = workflow.config_settings.overwrite_config
    merged = f" --configfile results/{config['run']}/config.yaml --" if given else ""
    return f"snakemake --cores all{merged}"


def grows(amount):
    """MB of memory or minutes of runtime that a retry has more of: a cluster ends a job that passes what it asked for."""
    return lambda wildcards, attempt: amount * attempt


def data_entry(*keys):
    """These keys of a data set's entry in the catalogue, as params."""
    return lambda wildcards: {key: config["datasets"][wildcards.dataset][key] for key in keys}


def data_facts(dataset):
    """What a reader must know about a data set, from its entry in the catalogue."""
    entry = config["datasets"][dataset]
    care = [
        "licence unknown" if entry["licence"] == "unknown" else None,
        entry["limits"]["reason"] and f"wider limits: {entry['limits']['reason']}",
        entry["note"],
    ]
    return [dataset, entry["task"], entry["source"], entry["rows"], entry["licence"], "; ".join(filter(None, care))]


def models_facts(models):
    """The models that a study asks, as a table for the report: what each is, and in which mode its answers were taken."""
    rows = []
    for name in models:
        entry = config["models"][name]
        hub = entry["hub"] and " ".join(filter(None, (entry["hub"]["repo"], entry["hub"]["file"])))
        source = entry["path"] or entry["estimator"] or hub
        rows.append([name, entry["family"], entry["task"], entry["mode"], entry["version"], source, entry["licence"]])
    return {
        "title": "Models asked",
        "caption": "Raw: one view of the table and nothing drawn, each query answered as if it were alone. As deployed: "
        "the package's own estimator with its defaults; an ensemble, shuffles and features of a whole row may then hide "
        "or show a record.",
        "columns": ["model", "family", "task", "mode", "version", "source", "licence"],
        "rows": rows,
    }


def data_file(wildcards):
    """A user's own file. Snakemake would go on with what it has fetched before from another path."""
    entry = config["datasets"][wildcards.dataset]
    if entry["source"] != "file":
        return []
    path = os.path.expanduser(entry["path"])
    if not os.path.exists(path):
        raise WorkflowError(f"datasets/{wildcards.dataset}/path: there is no file {path}; give the path of the table")
    return path


def data_policy(wildcards):
    """How a table is read, and what becomes of its copies."""
    reading = data_entry("task", "target", "types", "drop", "missing", "missing_target", "group")
    return reading(wildcards) | {key: config["data"][key] for key in ("duplicates", "conflicts")}


def data_split(wildcards):
    sample = data_entry("max_records", "balance")
    return sample(wildcards) | config["data"]["splits"][wildcards.split]


def in_project(path):
    """A file of the project, by the path that it has from the working folder."""
    return os.path.relpath(Path(workflow.basedir, path))


def local_checkpoint(wildcards):
    path = config["models"][wildcards.model]["path"]
    # A checkout gives every file a new mtime; the checksum in params tells whether the weights changed. One that is not
    # there is named by `check_models`, in one line.
    return ancient(in_project(path)) if path and os.path.exists(in_project(path)) else []


def local_checksum(wildcards):
    path = config["models"][wildcards.model]["path"]
    return sha256(in_project(path)) if path and os.path.exists(in_project(path)) else None


def pretraining(wildcards):
    """All settings of a shipped model's training."""
    own = config["pretrain"]["models"][wildcards.model]
    shared = config["pretrain"]["settings"]
    head = {key: own[key] for key in ("max_classes", "num_quantiles") if own[key] is not None}
    return shared | {
        "steps": own["steps"],
        "architecture": shared["architecture"] | head,
        "prior": shared["prior"] | {"max_classes": own["max_classes"]},
    }


def thresholds(key):
    """A setting that decides what counts as a result, by its key: its values, one for each data set where they differ."""
    names = config["data"]["datasets"] if "<name>" in key else [None]
    values = {
        name: functools.reduce(dict.__getitem__, key.replace("<name>", str(name)).split("/"), config) for name in names
    }
    same = len(set(map(str, values.values()))) == 1
    return [str(values[names[0]])] if same else [f"{name}: {value}" for name, value in values.items()]
