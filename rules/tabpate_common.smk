"""What the rules of `tabpate*.smk` share: arms of the config, releases, files, how large jobs are; no rule here."""

TABPATE = config["tabpate"]
TABPATE_ATTACKED = [name for name in TABPATE["datasets"] if name in TABPATE["shadows"]["datasets"]]
# Who makes what: contexts for a student, answers of its own, or records of another environment's synthesizer.
TABPATE_MAKES = {
    "contexts": ["tabpate", "tabpate-tuned", "prompt-pate", "dp-tabicl"],
    "answers": ["query-time", "dp-sgd"],
    "synthetic": ["aim", "mst"],
}


def tabpate_varied():
    """Arms of the ablations: the base with one setting changed, called by both."""
    base = TABPATE["arms"][TABPATE["ablations"]["base"]]
    shared = {"datasets": TABPATE["ablations"]["datasets"], "epsilons": TABPATE["ablations"]["epsilons"]}
    for key, values in TABPATE["ablations"]["vary"].items():
        for value in values:
            changed = {key: value} | ({"prior": "moments"} if key == "alpha" else {})
            name = f"{TABPATE['ablations']['base']} {key} {value}"
            yield name, base | shared | {"settings": base["settings"] | changed}


TABPATE_ARMS = TABPATE["arms"] | dict(tabpate_varied())


def tabpate_arms(kind):
    """Arms whose methods make this, by name: what scripts need of them."""
    of_kind = {name: arm for name, arm in TABPATE_ARMS.items() if arm["method"] in TABPATE_MAKES[kind]}
    return {name: {key: arm[key] for key in ("method", "held_out", "settings")} for name, arm in of_kind.items()}


def tabpate_releases(dataset, kind):
    """Arm, epsilon and repeat of every release of a table."""
    return [
        [name, epsilon, repeat]
        for name in tabpate_arms(kind)
        if TABPATE_ARMS[name]["datasets"] is None or dataset in TABPATE_ARMS[name]["datasets"]
        for epsilon in TABPATE_ARMS[name]["epsilons"] or TABPATE["epsilons"]
        for repeat in range(TABPATE["repeats"])
    ]


def tabpate_files(kind):
    """Shards of a table's contexts or answers."""
    return lambda wildcards: [
        f"<results>/signals/tabpate/{wildcards.dataset}/{kind}/{shard}.nc"
        for shard in shards(len(tabpate_releases(wildcards.dataset, kind)), TABPATE["shard"])
    ]


def tabpate_model(file):
    """A file of the model that answers for a table's task."""

    def of(wildcards):
        task = config["datasets"][wildcards.dataset]["task"]
        return f"<results>/models/{TABPATE['models'][task]}/{file}"

    return of


def tabpate_public(wildcards):
    """A table's public facts."""
    own = config["datasets"][wildcards.dataset]["public"]
    return os.path.expanduser(own) if own else in_project(f"config/public/{wildcards.dataset}.yaml")


TABPATE_TABLE = {
    "records": "<results>/data/{dataset}/records.parquet",
    "schema": "<results>/data/{dataset}/schema.json",
    "key": "<results>/data/id.key",
    "public": tabpate_public,
    "model": tabpate_model("model.json"),
    "weights": tabpate_model("weights"),
}


def tabpate_synthetic(dataset):
    """Arm and epsilon of every synthesis of a table."""
    return list(dict.fromkeys((arm, epsilon) for arm, epsilon, _ in tabpate_releases(dataset, "synthetic")))


def tabpate_synthetic_files(wildcards):
    return [
        f"<results>/signals/tabpate/{wildcards.dataset}/synthetic/{arm}/{epsilon}.parquet"
        for arm, epsilon in tabpate_synthetic(wildcards.dataset)
    ]


def tabpate_synthetic_facts(wildcards):
    """Arm, epsilon and settings of these files."""
    return [[arm, epsilon, TABPATE_ARMS[arm]["settings"]] for arm, epsilon in tabpate_synthetic(wildcards.dataset)]


def tabpate_setting(key):
    """A setting of an arm, as param."""
    return lambda wildcards: TABPATE_ARMS[wildcards.synthesizer]["settings"][key]


def tabpate_params(kind):
    """What a script needs to make all releases of one kind."""
    return {
        "shard": TABPATE["shard"],
        "delta": TABPATE["delta"],
        "roles": TABPATE["roles"],
        "arms": tabpate_arms(kind),
        "releases": lambda wildcards: tabpate_releases(wildcards.dataset, kind),
    }


def tabpate_pairs(kind):
    """Arm and epsilon of the students that are attacked; without privacy there is no epsilon.

    Brainwash has the whole mechanism run anew for every copy: those that release a context, at its own epsilons.
    """
    shadows = TABPATE["shadows"]
    epsilons, arms = shadows["epsilons"], shadows["arms"]
    if kind == "poisoned":
        epsilons = shadows["poisoned"]["epsilons"]
        arms = [name for name in arms if TABPATE["arms"][name]["method"] not in ("query-time", "dp-sgd")]
    return [["non_private", None], *([arm, epsilon] for arm in arms for epsilon in epsilons)]


def tabpate_shadow_files(folder, *keys):
    """Shards of a table's attacked students."""
    sets = TABPATE["shadows"]
    for key in keys:
        sets = sets[key]
    return lambda wildcards: [
        f"<results>/signals/tabpate/{wildcards.dataset}/{folder}/{shard}.nc"
        for shard in shards(sets, TABPATE["shadows"]["shard"])
    ]


def tabpate_answers(wildcards):
    """All that says something of a table's test records."""
    return [f"<results>/signals/tabpate/{wildcards.dataset}/students.nc", *tabpate_files("answers")(wildcards)]


def tabpate_methods():
    return {name: {"method": arm["method"]} for name, arm in TABPATE_ARMS.items()}


def tabpate_scores(*kinds):
    """Files of tidy results: one for each table that is asked, or one for the study."""
    attacked = [f"{name}/" for name in TABPATE_ATTACKED]
    tables = {"average": [""], "audit": [""], "attack": attacked, "roc": attacked}
    private = [f"{name}/" for name in TABPATE["datasets"]]
    return [
        f"<results>/scores/tabpate/{folder}{kind}.parquet" for kind in kinds for folder in tables.get(kind, private)
    ]


def tabpate_shadow_arms():
    found = {arm: TABPATE["arms"][arm] for arm in TABPATE["shadows"]["arms"]}
    return {name: {key: arm[key] for key in ("method", "held_out", "settings")} for name, arm in found.items()}


def tabpate_tasks(task):
    return [name for name in TABPATE["datasets"] if config["datasets"][name]["task"] == task]


def tabpate_rows(dataset):
    """Records of a table that take part."""
    return min(filter(None, (table_size(dataset)["rows"], TABPATE["roles"]["max_records"])))


def tabpate_bytes(rows, queries, columns, model):
    """Memory of a forward pass, which is cut to what it may have, to a quarter as many queries as rows at the least."""
    needed = flops.tabicl_bytes(rows, queries, columns, **model)
    allowed = flops.tabicl_bytes(rows, max(1, rows // 4), columns, **model)
    return min(needed, max(config["memory_mb"] * 2**20, allowed))


def tabpate_size(dataset, shard=None):
    """Teachers' forward passes of all releases; the plan counts a raw TabICL."""
    columns, model = table_size(dataset)["columns"], architecture(
        TABPATE["models"][config["datasets"][dataset]["task"]]
    )
    work = most = 0
    for name, *_ in tabpate_releases(dataset, "contexts"):
        settings = TABPATE_ARMS[name]["settings"]
        if not settings.get("teachers"):
            continue
        rows, queries = max(2, tabpate_rows(dataset) // settings["teachers"]), settings["queries"]
        candidates = len(settings.get("candidates", [None]))
        work += candidates * settings["teachers"] * flops.tabicl(rows, queries, columns, **model)
        if candidates > 1:  # Each one's student is asked about every private record, alone.
            work += candidates * tabpate_rows(dataset) * flops.tabicl(queries, 1, columns, **model)
        most = max(most, tabpate_bytes(rows, queries, columns, model))
    numbers = len(shards(len(tabpate_releases(dataset, "contexts")), TABPATE["shard"]))
    return size(work / numbers, 0, 0, most)


def tabpate_student_size(dataset, shard=None):
    """Students of all releases, and the model that is shown the private records."""
    columns, model = table_size(dataset)["columns"], architecture(
        TABPATE["models"][config["datasets"][dataset]["task"]]
    )
    releases = sum(len(tabpate_releases(dataset, kind)) for kind in TABPATE_MAKES)
    rows, tested = tabpate_rows(dataset), round(tabpate_rows(dataset) * TABPATE["roles"]["test"])
    work = releases * (flops.tabicl(300, tested, columns, **model) + flops.tabicl(rows, 300, columns, **model))
    return size(work, releases * tested, 0, tabpate_bytes(rows, tested, columns, model))


def tabpate_measured_size(dataset):
    """Cells of all answers of a table, which are judged."""
    releases = sum(len(tabpate_releases(dataset, kind)) for kind in TABPATE_MAKES)
    return size(0, releases * tabpate_rows(dataset))


def tabpate_shadow_size(dataset, shard):
    table, model = table_size(dataset), architecture(TABPATE["models"]["classification"])
    work = 0
    for arm, _ in tabpate_pairs("epsilons"):
        settings = TABPATE["arms"][arm]["settings"] if arm in TABPATE["arms"] else {}
        teachers = settings.get("teachers") or 1
        rows = max(2, table["rows"] // (2 * teachers))
        work += teachers * flops.tabicl(rows, settings.get("queries", table["rows"]), table["columns"], **model)
        work += flops.tabicl(300, table["rows"], table["columns"], **model)
    sets = min(TABPATE["shadows"]["shard"], TABPATE["shadows"]["sets"])
    return size(sets * work, sets * table["rows"], 0, 0)


def tabpate_uses(task):
    """What the study asks of a model: the private records themselves are the largest context."""

    def of():
        for dataset in tabpate_tasks(task):
            table = table_size(dataset)
            rows = min(filter(None, (table["rows"], TABPATE["roles"]["max_records"])))
            features = table["columns"] if table["known"] else None
            yield {"where": f"tabpate, data set {dataset}", "rows": rows, "features": features}

    return of


data_costs(TABPATE["datasets"], [])
for task in TABPATE["models"]:
    if tabpate_tasks(task):
        uses(TABPATE["models"][task], tabpate_uses(task))
        costs("models_fetch_checkpoint", [TABPATE["models"][task]], no_size)


def tabpate_shards(kind):
    return [
        f"{dataset}/{shard}"
        for dataset in TABPATE["datasets"]
        for shard in shards(len(tabpate_releases(dataset, kind)), TABPATE["shard"])
    ]


def tabpate_shadow_shards(sets):
    numbers = shards(sets, TABPATE["shadows"]["shard"])
    return [f"{dataset}/{shard}" for dataset in TABPATE_ATTACKED for shard in numbers]


def tabpate_coded():
    """Arms of synthesizers, by table."""
    pairs = ((name, arm) for name in TABPATE["datasets"] for arm, _ in tabpate_synthetic(name))
    return list(dict.fromkeys(f"{name}/{arm}" for name, arm in pairs))


costs("tabpate_release_contexts", tabpate_shards("contexts"), tabpate_size)
costs("tabpate_ask_students", TABPATE["datasets"], tabpate_student_size)
costs("tabpate_code_records", tabpate_coded(), no_size)
costs(
    "tabpate_synthesize_records",
    [f"{name}/{arm}/{epsilon}" for name in TABPATE["datasets"] for arm, epsilon in tabpate_synthetic(name)],
    no_size,
)
costs("tabpate_answer_queries", tabpate_shards("answers"), tabpate_student_size)
costs("tabpate_release_shadows", tabpate_shadow_shards(TABPATE["shadows"]["sets"]), tabpate_shadow_size)
costs("tabpate_poison_shadows", tabpate_shadow_shards(TABPATE["shadows"]["poisoned"]["sets"]), tabpate_shadow_size)
costs("tabpate_measure_utility", TABPATE["datasets"], tabpate_measured_size)
costs("tabpate_average_datasets", [""], no_size)
costs("tabpate_attack_students", TABPATE_ATTACKED, tabpate_measured_size)
costs("tabpate_audit_mechanism", [""], no_size)
