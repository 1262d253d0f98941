"""Attention of each record on the shadow contexts of the shipped model."""

import pytest
from context_files import run

from memaudit.attacks.attention_statistics import STATISTICS
from memaudit.attacks.score_matrices import gather
from memaudit.common.checksums import sha256
from memaudit.common.io import read_grid, write_json
from memaudit.models.shipped_model import SHIPPED, SHIPPED_CARD
from memaudit.statistics import roc

pytestmark = pytest.mark.usefixtures("one_thread")
SETS = 16


def queried(project, folder, model, shard, name, code=0):
    """The score matrix in shards, or what the script says where it fails."""
    files = ["records=records.parquet", "schema=schema.json", "design=main.nc", f"model={model}"]
    params = {"seed": 1, "code": "by hand", "attention": {"sets": SETS, "shard": shard}}
    paths = [f"{name}-{number}.nc" for number in range(SETS // shard)]
    said = [
        run(
            project,
            folder,
            "attacks_query_attention",
            files,
            [path],
            params,
            {"dataset": "wine", "arm": "main", "shard": str(i)},
            code,
        )
        for i, path in enumerate(paths)
    ]
    return said[0] if code else gather([str(folder / path) for path in paths])


@pytest.fixture(scope="module")
def inside(contexts):
    """The card of the shipped model, beside the drawn contexts."""
    folder = contexts / "inside"
    (folder / "weights").mkdir(parents=True)
    (folder / "weights" / SHIPPED.name).symlink_to(SHIPPED)
    facts = {"name": "small", "family": "tabicl", "mode": "raw", "sha256": sha256(folder / "weights")}
    write_json(SHIPPED_CARD | facts, folder / "model.json")
    return "inside/model.json"


def test_members_concentrate_attention_and_shards_do_not_matter(project, contexts, inside):
    whole = queried(project, contexts, inside, SETS, "attention")
    drawn = read_grid(contexts / "main.nc").isel(model=slice(SETS)).sel(record=whole.record.values)
    assert (whole.design.values == (drawn.counts.values > 0)).all()
    assert list(whole.statistic.values) == list(STATISTICS)
    assert not whole.member.values.all()  # records in no context are a negative control
    members = whole.isel(record=whole.member.values)
    assert roc.auc(members.attention.sel(statistic="gap").values.astype(float), members.design.values) > 0.6
    halves = queried(project, contexts, inside, SETS // 2, "halves")
    assert whole.drop_attrs().identical(halves.drop_attrs())


def test_an_estimator_has_no_attention_on_its_context(project, contexts):
    said = queried(project, contexts, "model.json", SETS, "refused", code=1)
    assert "white-box attacks read the attention on context rows of TabICL and TabPFN" in said
