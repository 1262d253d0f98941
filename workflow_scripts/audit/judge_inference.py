"""Judge attribute inference and linking: on members, on non-members, their difference, and without the model.

python workflow_scripts/audit/judge_inference.py --input candidates=candidates.nc schema=schema.json \
    --output inference.parquet --wildcards '{"dataset": "table"}' \
    --params '{"seed": 1, "attacks": {"replicates": 200, "permutations": 39}}'

Two controls run on the same answers: a planted model that looks its records up, and memberships drawn again.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from memaudit.attacks.score_matrices import of_input
from memaudit.common import seeds, tidy
from memaudit.common.io import read_json, write_table
from memaudit.data.membership_matrices import Scheme
from memaudit.statistics.attack_performance import SIGNIFICANT, rows
from memaudit.studies.audit import inference_tests
from memaudit.studies.audit.inference_tests import Drawn
from memaudit.studies.audit.inferred_answers import Answers
from memaudit.workflow.job import run

STUDY = "audit"
INNOCENTS = 5  # memberships drawn again: the check fails if an excess is found in most of them


def main(job):
    grid = of_input(job, "candidates")
    numbers = read_json(job.input.schema)["task"] == "regression"
    questions = {str(name): Answers.of(grid, str(name), numbers) for name in grid.question.values}
    drawn = Drawn(grid.design.values, Scheme.of(grid.attrs), grid.unit.values)
    results = []
    for (name, adversary), estimates in inference_tests.judged(questions, drawn, *_options(job, "judged")).items():
        keys = {"dataset": job.wildcards.dataset, "question": name, "adversary": adversary}
        results += rows(STUDY, keys, estimates)
        print(f"{tidy.setting(keys)}: excess {estimates[-2].estimate:.3f}, p {estimates[-2].p_value:.3f}", flush=True)
    results += _counts(job, questions)
    results += _looked_up(job, questions, drawn)
    results += _innocents(job, questions, drawn)
    write_table(tidy.frame(results), job.output[0])
    return {"seed": job.params.seed}


def _options(job, part: str) -> tuple[np.random.Generator, int, int]:
    rng = seeds.generator(job.params.seed, STUDY, job.wildcards.dataset, "inference", part)
    return rng, job.params.attacks["replicates"], job.params.attacks["permutations"]


def _counts(job, questions: dict[str, Answers]) -> Iterator[dict[str, Any]]:
    """Answers among which is chosen, and targets, by question."""
    for name, answers in questions.items():
        keys = {"dataset": job.wildcards.dataset, "question": name}
        yield tidy.row(STUDY, keys, "answers", answers.known.shape[1], unit="count", n=len(answers.truth))


def _looked_up(job, questions: dict[str, Answers], drawn: Drawn) -> Iterator[dict[str, Any]]:
    """The excess of each adversary on a planted model that looks its records up, which should be detected."""
    planted = {name: one.looked_up(drawn.membership[:, one.records]) for name, one in questions.items()}
    found = inference_tests.judged(planted, drawn, *_options(job, "lookup"))
    for (name, adversary), estimates in found.items():
        keys = {"dataset": job.wildcards.dataset, "question": name, "adversary": adversary, "planted": "lookup"}
        yield from rows(STUDY, keys, [replace(one, metric=f"lookup {one.metric}") for one in estimates[-2:]])


def _innocents(job, questions: dict[str, Answers], drawn: Drawn) -> Iterator[dict[str, Any]]:
    """In how many of up to five redraws of the membership an excess is found; it stops when most are decided."""
    rng, _, permutations = _options(job, "innocent")
    found: list[bool] = []
    while 2 * max(sum(found), len(found) - sum(found)) < INNOCENTS:
        tested = inference_tests.excess_test(questions, drawn.redrawn(rng), rng, permutations)
        found.append(bool(min(one.min() for one in tested.p_values.values()) <= SIGNIFICANT))
    keys = {"dataset": job.wildcards.dataset, "planted": "innocent"}
    yield tidy.row(STUDY, keys, "found", sum(found), unit="count", n=len(found))
    yield tidy.row(STUDY, keys, "check failed", 2 * sum(found) > INNOCENTS, unit="yes or no", n=len(found))


if __name__ == "__main__":
    run(main, globals())
