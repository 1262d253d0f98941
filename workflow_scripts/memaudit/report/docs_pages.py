"""Write the generated pages of docs/ from JSON.

They are results (a page for each published run), performance, coverage, calibration, release-audit, tuned-settings,
private-gain, mechanism-costs, own-rates and coverage-of-papers. The texts are in docs/templates/, all numbers come from
the JSON of published runs and benches. The figures of docs/ are drawn again, too, and carry the digest of the JSON that
they show.

python -m memaudit.report.docs_pages
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml
from matplotlib.figure import Figure

from memaudit.common.checksums import sha256
from memaudit.common.compared_arms import compared_arms
from memaudit.common.io import read_json, replacing
from memaudit.common.project_paths import PROJECT
from memaudit.plotting import figure_style
from memaudit.plotting.scaling_figure import scaling
from memaudit.report import (
    calibration_tables,
    coverage_tables,
    mechanism_cost_tables,
    own_rates_tables,
    paper_coverage_tables,
    performance_tables,
    private_gain_tables,
    published_runs,
    release_audit_tables,
    run_figures,
    tuned_settings_tables,
)
from memaudit.report.published_runs import Published
from memaudit.templating.page_templates import render

TEMPLATES = PROJECT / "docs/templates"
BENCHES = PROJECT / "results/bench"
# Each figure of a bench, the JSON that it shows, and what draws it.
FIGURES = {
    "performance_scaling.svg": ("scale_engine.json", scaling),
    "private_gain.svg": ("private_gain.json", private_gain_tables.figure),
}


def results(published: Published, others: Mapping[str, Published] | None = None) -> str:
    """Markdown of the default run, with a list of the other published runs; others: by the file of their page."""
    return render("results.md", published_runs.default_run(published, others or {}), TEMPLATES)


def results_of(published: Published, default: Published) -> str:
    """Markdown of another published run; default: the default run, whose code is the present one."""
    figure = run_figures.of_page(published["run"])
    return render("results-run.md", published_runs.other_run(published, default) | {"figure": figure}, TEMPLATES)


def performance(benches: Mapping[str, Mapping[str, Any]]) -> str:
    """Markdown of the results of `make bench`; benches: by name."""
    return render("performance.md", performance_tables.context(benches), TEMPLATES)


def coverage(simulated: Mapping[str, Any]) -> str:
    """Markdown of the simulations of `make coverage`."""
    return render("coverage.md", coverage_tables.context(simulated), TEMPLATES)


def calibration(measured: Mapping[str, Any]) -> str:
    """Markdown of the repeated audits of `make calibration`."""
    return render("calibration.md", calibration_tables.context(measured), TEMPLATES)


def release_audit(measured: Mapping[str, Any]) -> str:
    """Markdown of the audits of `make release-audit`."""
    return render("release-audit.md", release_audit_tables.context(measured), TEMPLATES)


def tuned_settings(tuned: Mapping[str, Any], arms: Mapping[str, Any], facts: Mapping[str, Mapping[str, Any]]) -> str:
    """Markdown of the tuned settings of private contexts and the bounds that they start from.

    tuned: a file of `make tune_tabpate`; arms: those compared, by name; facts: of config/public, by table.
    """
    return render("tuned-settings.md", tuned_settings_tables.context(tuned, arms, facts), TEMPLATES)


def private_gain(measured: Mapping[str, Any]) -> str:
    """Markdown of the measurements of `make private_gain`."""
    return render("private-gain.md", private_gain_tables.context(measured), TEMPLATES)


def mechanism_costs(computed: Mapping[str, Any]) -> str:
    """Markdown of the costs of `make mechanism_costs`."""
    return render("mechanism-costs.md", mechanism_cost_tables.context(computed), TEMPLATES)


def own_rates(measured: Mapping[str, Any]) -> str:
    """Markdown of the rates of `make own_rates`."""
    return render("own-rates.md", own_rates_tables.context(measured), TEMPLATES)


def coverage_of_papers(entries: paper_coverage_tables.Entries, titles: Mapping[str, str]) -> str:
    """Markdown of what makes each table and figure of the papers; titles: of the papers, by study."""
    return render("coverage-of-papers.md", paper_coverage_tables.context(entries, titles), TEMPLATES)


@figure_style.applied
def draw(folder: Path = PROJECT / "docs") -> None:
    """Draw the figures. Their metadata hold the digest of their numbers: files may differ between computers."""
    for name, (source, drawn) in FIGURES.items():
        _save(drawn(read_json(BENCHES / source)), folder / name, BENCHES / source)
    for run, path in run_figures.runs().items():
        _save(run_figures.draw(run), folder / f"results/{run}.svg", path)


def _save(figure: Figure, path: Path, source: Path) -> None:
    with replacing(path) as temporary:
        metadata = figure_style.METADATA["svg"] | {"Description": f"sha256 of {source.name}: {sha256(source)}"}
        figure.savefig(temporary, format="svg", metadata=metadata)


def pages() -> dict[Path, str]:
    """Text of each generated page, by its path."""
    benches = {path.stem: read_json(path) for path in sorted(BENCHES.glob("*.json"))}
    runs = {path.stem: read_json(path) for path in sorted((PROJECT / "docs/results").glob("*.json"))}
    demo, simulated, repeated = runs.pop("demo"), benches.pop("coverage"), benches.pop("audit_calibration")
    audited, gains, costs = (benches.pop(name) for name in ("release_audit", "private_gain", "mechanism_costs"))
    rates = benches.pop("own_rates")
    entries = _yaml(PROJECT / "config/coverage_of_papers.yaml")
    titles = {study: _yaml(PROJECT / f"config/views/{study}.yaml")["paper"]["title"] for study in entries}
    return {
        PROJECT / "docs/results.md": results(demo, {f"results/{name}.md": run for name, run in runs.items()}),
        **{PROJECT / f"docs/results/{name}.md": results_of(run, demo) for name, run in runs.items()},
        PROJECT / "docs/performance.md": performance(benches),
        PROJECT / "docs/coverage.md": coverage(simulated),
        PROJECT / "docs/calibration.md": calibration(repeated),
        PROJECT / "docs/release-audit.md": release_audit(audited),
        PROJECT / "docs/tuned-settings.md": tuned_settings(
            read_json(PROJECT / "config/tabpate_settings.json"),
            compared_arms(),
            {path.stem: _yaml(path) for path in (PROJECT / "config/public").glob("*.yaml")},
        ),
        PROJECT / "docs/private-gain.md": private_gain(gains),
        PROJECT / "docs/mechanism-costs.md": mechanism_costs(costs),
        PROJECT / "docs/own-rates.md": own_rates(rates),
        PROJECT / "docs/coverage-of-papers.md": coverage_of_papers(entries, titles),
    }


def _yaml(path: Path) -> Any:
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def main() -> None:
    """Write the pages."""
    for path, text in pages().items():
        with replacing(path) as temporary:
            temporary.write_text(text, encoding="utf-8")
    draw()


if __name__ == "__main__":
    main()
