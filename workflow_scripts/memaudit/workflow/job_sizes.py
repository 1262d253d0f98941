"""Jobs of the whole run, over all studies: their sizes, and what they request of models."""

from collections.abc import Mapping
from typing import Any

from memaudit.workflow.downloads import downloads
from memaudit.workflow.foreseen_faults import missing_inputs
from memaudit.workflow.job_costs import size
from memaudit.workflow.run_config import RunConfig
from memaudit.workflow.study import Sizes, Study
from memaudit.workflow.view_files import Views

# Rules with one job, which costs about the same in every run.
SINGLE = ("report_write_page", "provenance_write_config")


class Workload:
    """All jobs of a run. Methods compute when they are called: most readings of the workflow need none of it."""

    def __init__(self, run: RunConfig, studies: Mapping[str, Study], views: Mapping[str, Views]):
        self.run, self._studies, self._views = run, studies, views

    def sizes(self, wildcards: Any = None) -> Sizes:
        """Size of every job of `all`, by rule and job; a job that two studies need stands once."""
        merged: Sizes = {}
        studies = [study.sizes() for study in self._studies.values()]
        for part in [*studies, self._view_sizes(), {rule: {"": size(0)} for rule in SINGLE}]:
            for rule, jobs in part.items():
                merged.setdefault(rule, {}).update(jobs)
        return {rule: jobs for rule, jobs in merged.items() if jobs}

    def tables(self, wildcards: Any = None) -> dict[str, dict[str, Any]]:
        """Rows and features of every table."""
        return {name: self.run.table_size(name) for name in self.sizes().get("data_fetch_table", {})}

    def model_uses(self) -> dict[str, list[dict[str, Any]]]:
        """What all studies request of each model."""
        uses: dict[str, list[dict[str, Any]]] = {}
        for study in self._studies.values():
            for model, found in study.model_uses().items():
                uses.setdefault(model, []).extend(found)
        return uses

    def shadows(self, wildcards: Any = None) -> dict[str, dict[str, Any]]:
        """Studies with shadow models: how many, for which FPRs, and the records of each table."""
        found = {name: study.shadows() for name, study in self._studies.items()}
        return {name: needs for name, needs in found.items() if needs}

    def uncounted(self, wildcards: Any = None) -> list[str]:
        """Models whose operations the plan does not count, each with one of its uses."""
        used = {name: uses[0]["where"] for name, uses in sorted(self.model_uses().items()) if uses}
        return [f"{name} ({where})" for name, where in used.items() if not self.run.passes(name).counted]

    def missing(self, wildcards: Any = None) -> dict[tuple[str, str], str]:
        """What is not there of the inputs of the run's jobs, by rule and job: one line each, with a remedy."""
        sizes = self.sizes()
        lines = missing_inputs(self.run).items()
        return {(rule, name): line for (rule, name), line in lines if name in sizes.get(rule, {})}

    def downloads(self, wildcards: Any = None) -> dict[str, float]:
        """What the run fetches: how many of each kind, and their known weights."""
        return downloads(self.run.config, self.sizes())

    def _view_sizes(self) -> Sizes:
        views = self._views
        return {
            "views_tabulate_results": {name: size(len(view.tables)) for name, view in views.items()},
            "views_draw_figures": {
                drawing: size(len(figures)) for view in views.values() for drawing, figures in view.drawings.items()
            },
        }
