"""Faults that a config can be seen to run into: what models accept, and what must be there before the first job."""

import os
from collections.abc import Iterator, Mapping
from typing import Any

from memaudit.common.deployed_packages import PACKAGES
from memaudit.workflow.run_config import RunConfig, read_facts

# What packages state of checkpoints that are not fetched yet (tabpfn 9.2.0, tabicl 2.2.0); others are checked by the
# jobs that open them, local ones before the first job (maintenance/check_models.py).
TABPFN = {
    "v2": {"context rows": 10_000, "features": 500, "classes": 10},
    "v2.5": {"context rows": 50_000, "features": 2_000, "classes": 10},
}
CONTEXTTAB = {"features": 500, "classes": 62}
TABICL_CLASSES = 10  # in raw mode, unless a study asks about a hierarchy of classes
# Tokens of "The age is 39." and of "Answer: good" with its line break. A record of credit-g, cut as GPT-2 cuts texts,
# before any word is split into tokens, has 149 pieces in 20 cells.
CELL_TOKENS, ANSWER_TOKENS = 7, 4

SAID = {"rows": "context rows"}  # limits of other packages by the words of the sentences here

Use = Mapping[str, Any]


def model_faults(run: RunConfig, uses: Mapping[str, list[Use]]) -> Iterator[str]:
    """Requests that exceed what a model of a hub is known to take, each with its place and a remedy."""
    for name, requests in uses.items():
        limits = known_limits(run.config["models"][name])
        most = token_limit(run, name)
        for use in requests:
            asked = {"context rows": use["rows"], "features": use["features"], "classes": use.get("classes")}
            for what, limit in limits.items():
                if (count := asked[what]) is not None and count > limit:
                    yield (
                        f"{use['where']}: {count} {what}, and models/{name} takes at most {limit}; ask for fewer, or "
                        "choose another model"
                    )
            tokens = (use["rows"] + 1) * (CELL_TOKENS * (use["features"] or 0) + ANSWER_TOKENS)
            if most and tokens > most:
                yield (
                    f"{use['where']}: {use['rows']} records of {use['features']} columns, poisons among them, are "
                    f"about {tokens} tokens, and models/{name} takes {most}; give its arm a smaller context or fewer "
                    "features, or choose another model"
                )


def known_limits(entry: Mapping[str, Any]) -> dict[str, int]:
    """Largest context rows, features and classes of a model of a hub, as far as they are known before it is fetched."""
    if not entry["hub"]:
        return {}
    if entry["family"] == "tabicl":
        return {"classes": TABICL_CLASSES} if (entry["task"], entry["mode"]) == ("classification", "raw") else {}
    if entry["family"] in PACKAGES:
        limits = {SAID.get(name, name): most for name, most in PACKAGES[entry["family"]].limits.items()}
    else:
        limits = CONTEXTTAB if entry["family"] == "contexttab" else TABPFN.get(entry["version"], {})
    return {what: limit for what, limit in limits.items() if what != "classes" or entry["task"] == "classification"}


def token_limit(run: RunConfig, name: str) -> int | None:
    """Tokens that a language model takes: of the catalogue, or of its folder's config.json; None if nobody knows."""
    entry = run.config["models"][name]
    if entry["family"] != "text":
        return None
    facts = read_facts(f"{run.named(entry['path'])}/config.json") if entry["path"] else None
    stated = (facts or {}).get("max_position_embeddings")
    known = (entry["tokens"], stated, entry["options"].get("max_tokens"))
    return min((most for most in known if most), default=None)


def missing_inputs(run: RunConfig) -> dict[tuple[str, str], str]:
    """What is not there of the run's own inputs: (rule, wildcard of its job) -> one line with a remedy.

    Files of data sets, settings and models that a user brings, and the token that gated weights need.
    """
    found = {}
    for name, entry in run.config["datasets"].items():
        if entry["source"] == "file" and entry["path"] and not os.path.exists(os.path.expanduser(entry["path"])):
            rule = "data_fetch_table" if entry["kind"] == "table" else "ltmia_fetch_corpus"
            found[rule, name] = f"datasets/{name}/path: there is no file {entry['path']}; put the file there"
    for name in run.config["predict"]["cases"]:
        path = run.config["predict"]["settings"][name]["data"].get("path")
        if path and not os.path.exists(run.named(path)):
            where = f"predict/settings/{name}/data/path"
            found["predict_prepare_setting", name] = (
                f"{where}: there is no {path}; put the data there, or take {name} from predict/cases"
            )
    for kind, rule in (("models", "models_fetch_checkpoint"), ("language_models", "ltmia_prepare_model")):
        for name, entry in run.config[kind].items():
            if entry["path"] and not os.path.exists(run.named(entry["path"])):
                found[rule, name] = f"{kind}/{name}/path: there is no file {entry['path']}; put the weights there"
    if not os.environ.get("HF_TOKEN") and not os.environ.get("HF_ENDPOINT"):
        for kind, rule in (("models", "models_fetch_checkpoint"), ("language_models", "ltmia_fetch_model")):
            for name, entry in run.config[kind].items():
                if entry["terms"] and entry["hub"]:
                    found[rule, name] = f"{kind}/{name}: gated; accept {entry['terms']} and set HF_TOKEN"
    return found
