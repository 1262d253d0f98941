"""Write the tables of a run in which jobs have failed, from the results that exist, and a page that says what failed.

python workflow_scripts/maintenance/tabulate_partial.py --input request=results/demo/partial/request.json

The request is what memaudit/workflow/partial_request.py writes when a run ends with failed jobs. Output, beside it:
all tables of the studies whose tables the run did not make, and index.md. Tables that lack results say so, the others
are as they would be. Nothing here is an input of another job.
"""

from pathlib import Path

from memaudit.claims.claim_predicates import load
from memaudit.claims.headlines import Headline
from memaudit.common import tidy
from memaudit.common.io import read_json
from memaudit.report.partial_page import page
from memaudit.report.partial_tables import partial_sentences, partial_verdicts, write_partial
from memaudit.workflow.job import run


def main(job):
    request = read_json(job.input.request)
    folder, missing = Path(job.input.request).parent, set(request["missing"])
    for study, view in request["studies"].items():
        for name, table in view["tables"].items():
            there, lacking = _parted(table["files"], missing)
            results = tidy.shown(*there) if there else tidy.expand(tidy.frame([]))
            write_partial(folder / name, results, table["layout"], table["caption"], lacking)
        if view["judged"]:
            there, lacking = _parted(view["judged"], missing)
            claims = [claim for claim in load(request["claims"]) if claim.study == study]
            judged = partial_verdicts(claims, there, lacking)
            write_partial(folder / f"{study}_claims", judged, None, "Verdicts on claims.", lacking)
        if view["stated"]:
            there, lacking = _parted(view["stated"], missing)
            headlines = [Headline.model_validate(entry) for entry in view["sentences"]]
            stated = partial_sentences(study, headlines, there)
            write_partial(folder / f"{study}_headlines", stated, None, "Main results.", lacking)
    (folder / "index.md").write_text(page(request), encoding="utf-8")
    print(f"memaudit: jobs that failed: {len(request['failed'])}; what exists is tabulated, see {folder / 'index.md'}")


def _parted(files, missing):
    """Files that exist, and those that are missing."""
    return [file for file in files if file not in missing], [file for file in files if file in missing]


if __name__ == "__main__":
    run(main, globals())
