"""Write a study's tables: its tidy results, facts of its config, main results as sentences, and verdicts on claims.

python workflow_scripts/views/tabulate_results.py --input lira_fpc=population.parquet claims=config/claims.yaml \
    judged=attacks.parquet stated=attacks.parquet \
    --output lira_fpc=lira_fpc.csv lira_fpc=lira_fpc.md lira_fpc=lira_fpc.tex \
    lira_claims=lira_claims.csv lira_claims=lira_claims.md lira_claims=lira_claims.tex \
    lira_headlines=lira_headlines.csv lira_headlines=lira_headlines.md lira_headlines=lira_headlines.tex \
    claims=claims.parquet headlines=headlines.parquet \
    --params '{"study": "lira", "words": null, "layout": {"lira_fpc": {"rows": ["dataset"], "columns": ["models"]},
        "lira_claims": null, "lira_headlines": null}, "facts": {},
        "headlines": [{"answers": "memorized", "per": ["dataset"],
        "values": {"auc": {"metric": "auc", "where": {"attack": "lira mean", "records": "members"}}},
        "sentence": "{dataset}: AUC {auc}; by chance {auc.null:.3g}."}]}'

CSV has full precision, Markdown and LaTeX have the layout for readers. A study without claims or sentences leaves out
the outputs `claims` or `headlines`, and the inputs that they are made of.
"""

from importlib import import_module
from pathlib import Path

import pandas as pd

from memaudit.claims.claim_predicates import load
from memaudit.claims.headlines import Headline, state
from memaudit.claims.verdicts import verdicts
from memaudit.common import tidy
from memaudit.common.io import read_table, write_table
from memaudit.common.job_inputs import several
from memaudit.plotting import result_tables
from memaudit.workflow.job import run


def main(job):
    made = {}
    for name, make in {"claims": _verdicts, "headlines": _sentences}.items():
        if file := job.output.get(name):
            write_table(make(job), file)
            made[f"{job.params.study}_{name}"] = file
    # By name, so that an edit of the attacks makes the tables of those studies again that name attacks.
    readable = import_module(job.params.words).READABLE if job.params.words else {}
    for name, layout in job.params.layout.items():
        results = tidy.shown(*several(made.get(name) or job.input.get(name)))
        result_tables.write(results, _stem(job, name), layout, readable)
    for name, facts in job.params.facts.items():
        result_tables.write(pd.DataFrame(facts["rows"], columns=facts["columns"], dtype=object), _stem(job, name))


def _stem(job, name: str) -> Path:
    return Path(job.output.get(name)[0]).with_suffix("")


def _verdicts(job) -> pd.DataFrame:
    """Claims of the study's paper with what its results say of them."""
    claims = [claim for claim in load(job.input.claims) if claim.study == job.params.study]
    judged = verdicts(claims, _results(job.input.judged))
    print(judged.verdict.value_counts().to_string())
    return judged


def _sentences(job) -> pd.DataFrame:
    """Main results as sentences, with the numbers in them."""
    headlines = [Headline.model_validate(entry) for entry in job.params.headlines]
    stated = state(job.params.study, headlines, _results(job.input.stated))
    print("\n".join(stated["sentence"].drop_duplicates()))
    return stated


def _results(paths: str | list[str]) -> pd.DataFrame:
    return pd.concat([read_table(path) for path in several(paths)], ignore_index=True)


if __name__ == "__main__":
    run(main, globals())
