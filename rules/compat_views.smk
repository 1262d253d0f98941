"""Hand on what unconverted rules files have registered, as the classes and files of config/views/ do. No rule here."""

from pathlib import PurePath

from memaudit.workflow.view_files import Views, _meanings, _values


def old_sizes(study):
    """Sizes of the jobs that a study has registered, and of those that it shares with others."""
    own = {rule: jobs for rule, jobs in COSTS.items() if not rule.startswith(tuple(OTHERS - {study}))}
    return {rule: {job: of(*filter(None, job.split("/"))) for job, of in jobs.items()} for rule, jobs in own.items()}


def old_views(study):
    """Views of an unconverted study."""
    chosen = lambda registry: {name: dict(entry) for name, entry in registry.items() if name.split("_")[0] == study}
    tables, figures, drawings = chosen(TABLES), chosen(FIGURES), {}
    own = (("claims", CLAIMS, SHARED.claims), ("headlines", HEADLINES, SHARED.headlines))
    for kind, registry, table in own:
        if study in registry:
            path = f"<results>/scores/{study}/{kind}.parquet"
            tables[f"{study}_{kind}"] = table.model_dump() | {"files": [path], "layout": None}
    for name, figure in figures.items():
        kinds = dict.fromkeys(PurePath(path).stem for path in figure["files"])
        drawings.setdefault("_".join([study, *kinds]), []).append(name)
    entry = OLD_STUDIES[study]
    thresholds = [[key, _values(key, config), _meanings()[key]] for key in entry["thresholds"]]
    return Views(
        study=entry | {"name": study, "thresholds": thresholds},
        tables=tables,
        figures=figures,
        drawings=drawings,
        headlines=HEADLINES.get(study),
        claims=CLAIMS.get(study, []),
    )


from memaudit.workflow.run_config import read_yaml
from memaudit.workflow.view_schema import SharedFile

SHARED = SharedFile.model_validate(read_yaml(in_project("config/views/shared.yaml")))
# Those whose class is still empty.
OTHERS = {name for name, study in STUDIES.items() if "converted" in vars(type(study))}
for name in OTHERS:
    STUDIES[name].sizes = functools.partial(old_sizes, name)
    STUDIES[name].shadows = SHADOWS.get(name, lambda: None)
first = next((STUDIES[name] for name in STUDIES if name in OTHERS), None)
if first:
    first.model_uses = lambda: {model: [use for shapes in found for use in shapes()] for model, found in USES.items()}
VIEWS |= {name: old_views(name) for name in OTHERS if name in OLD_STUDIES}
ordered = [(name, VIEWS.pop(name)) for name in STUDIES if name in VIEWS]
VIEWS.update(ordered)
