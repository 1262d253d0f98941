"""Inputs and params of rules/report.smk: what the report of a run shows."""

from collections.abc import Mapping
from typing import Any

from memaudit.workflow.run_config import RunConfig
from memaudit.workflow.view_files import Views


class Page:
    """The report of a run: `studies`, `tables` and `figures` without their files, and the `command` that makes a file.

    merged: whether settings were given on the command line; the merged config in the results then stands for them.
    """

    def __init__(self, run: RunConfig, views: Mapping[str, Views], merged: bool):
        # Lists keep their order in sidecars, whose keys are sorted.
        self.studies = [
            view.study | {"facts": [{"name": name} | facts for name, facts in view.facts.items()]}
            for view in views.values()
        ]
        self.tables = [_entry(name, table) for view in views.values() for name, table in view.tables.items()]
        self.figures = [_entry(name, figure) for view in views.values() for name, figure in view.figures.items()]
        self.command = f"snakemake --cores all{f' --configfile {run.folder}/config.yaml --' if merged else ''}"
        drawings = [drawing for view in views.values() for drawing in view.drawings]
        self.files = [
            *(f"<results>/tables/{table['name']}.csv" for table in self.tables),
            *(f"<results>/tables/{name}.csv" for view in views.values() for name in view.facts),
            *(f"<results>/figures/{figure['name']}.{kind}" for figure in self.figures for kind in ("svg", "png")),
            *(f"<results>/provenance/views_tabulate_results/{study}.json" for study in views),
            *(f"<results>/provenance/views_draw_figures/{drawing}.json" for drawing in drawings),
        ]


def _entry(name: str, entry: Mapping[str, Any]) -> dict[str, Any]:
    return {"name": name} | {key: entry.get(key) for key in ("title", "caption", "layout")}
