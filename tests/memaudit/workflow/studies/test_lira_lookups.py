"""Look-ups of rules/lira.smk in the smoke and the paper's config."""

from types import SimpleNamespace

import pytest
from conftest import PROJECT, load

from memaudit.workflow.run_config import RunConfig
from memaudit.workflow.studies.lira_lookups import Lira


@pytest.fixture
def lira(tmp_path, monkeypatch):
    """The study with two tables of 100 + 50 records, 64 shadow models in shards of 24, and 3 supersets of 10 models."""
    monkeypatch.chdir(tmp_path)
    run = RunConfig(load("smoke"), PROJECT)
    config = run.config
    config["data"]["splits"]["here"] = {"members": 100, "nonmembers": 50}
    config["lira"] |= {"datasets": ["wine", "digits"], "split": "here", "models": 64, "shard": 24, "sizes": [16, 64]}
    config["lira"] |= {"replicates": 20, "permutations": 19, "fpr": [0.1, 0.01]}
    check = {"datasets": ["wine"], "supersets": 3, "models": 10, "population_models": 30, "shard": 20}
    config["lira"]["population_check"] |= check | {"context": 8, "targets": 5}
    return Lira(run)


def wildcards(grid, dataset="wine"):
    return SimpleNamespace(dataset=dataset, grid=grid)


def test_grids_are_one_large_one_a_table_and_small_ones_of_the_population_check(lira):
    small = ["wine/population", "wine/superset0", "wine/superset1", "wine/superset2"]
    assert lira.grids == ["wine/efficient", "digits/efficient", *small]


def test_a_grid_is_drawn_by_its_kind(lira):
    assert lira.grid(wildcards("efficient")) == {"draw": lira.config["design"], "models": 64, "block": 16}
    shared = {"context": 8, "supersets": 3, "targets": 5, "draw": "fixed_size"}
    assert lira.grid(wildcards("population")) == shared | {"models": 30}
    assert lira.grid(wildcards("superset1")) == shared | {"models": 10}


def test_shards_cover_all_models(lira):
    folder = "<results>/signals/lira/wine"
    assert lira.shard_files(wildcards("efficient")) == [f"{folder}/efficient/{shard}.nc" for shard in range(3)]
    assert lira.shard_files(wildcards("superset0")) == [f"{folder}/superset0/0.nc"]
    assert (lira.shard(wildcards("efficient")), lira.shard(wildcards("population"))) == (24, 20)


def test_results_are_by_table_or_of_the_study(lira):
    results = lira.results
    assert results["strategies"] == [f"<results>/scores/lira/{name}/strategies.parquet" for name in ("wine", "digits")]
    assert results["population"] == ["<results>/scores/lira/wine/population.parquet"]
    assert results["audit"] == ["<results>/scores/lira/audit.parquet"]


def test_figures_show_half_of_the_population_first(lira):
    lira.config["simulation"] |= {"population": 100, "sizes": [10, 90, 45]}
    assert (lira.names["half_sizes"], lira.names["other_sizes"]) == ([45], [10, 90])


def test_halves_of_few_models_are_not_compared(lira):
    assert lira.sizes_of_halves() == [64]


def test_every_shard_is_sized_by_its_models_and_the_last_is_smaller(lira):
    shards = lira.sizes()["lira_query_shadows"]
    first, last = shards["wine/efficient/0"], shards["wine/efficient/2"]
    assert first.written == 24 * 150
    assert last.written == 16 * 150
    assert last.work == pytest.approx(first.work * 16 / 24)
    assert first.forward == last.forward > 0
    # The population's grid asks about the targets of all supersets.
    assert shards["wine/population/0"].written == 20 * 15
    assert shards["wine/superset0/0"].written == 10 * 5


def test_statistics_are_sized_by_what_they_go_over(lira):
    sizes = lira.sizes()
    assert sizes["lira_draw_designs"]["wine/efficient"].work == 64 * 150
    assert sizes["lira_evaluate_strategies"]["wine"].work == (16 + 64) * 20 * 100
    assert sizes["lira_compare_attacks"]["wine"].work == 64 * 20 * 100
    assert sizes["lira_compare_attacks"]["wine"].held == 64 * 100
    assert sizes["lira_predict_population"]["wine"].work == 30 * 15 + 3 * 10 * 5
    assert list(sizes["data_split_records"]) == ["wine/here", "digits/here"]
    assert list(sizes["models_fetch_checkpoint"]) == [lira.config["model"]]


def test_the_model_is_asked_with_half_of_the_members_or_a_small_context(lira):
    uses = lira.model_uses()[lira.config["model"]]
    assert [use["rows"] for use in uses] == [50, 50, 8, 8, 8, 8]
    assert uses[0] == {"where": "lira, data set wine", "rows": 50, "features": 13, "classes": 3}


def test_shadow_models_are_those_of_the_large_grids(lira):
    assert lira.shadows() == {"models": 64, "fpr": [0.1, 0.01], "records": {"wine": 100, "digits": 100}}


def test_memory_and_minutes_grow_with_the_number_of_models(lira):
    assert (lira.memory, lira.minutes) == (2000 + 128, 36)


def test_a_whole_table_has_no_split_and_no_record_outside(lira):
    lira.config["whole"] = ["digits"]
    assert lira.split(wildcards("efficient", "digits")) == []
    assert lira.split(wildcards("efficient")) == "<results>/data/wine/splits/here.parquet"
    sizes, rows = lira.sizes(), lira.run.table_size("digits")["rows"]
    assert list(sizes["data_split_records"]) == ["wine/here"]
    assert sizes["lira_query_shadows"]["digits/efficient/0"].written == 24 * rows
    assert lira.shadows()["records"] == {"wine": 100, "digits": rows}
    assert lira.names["whole"].startswith("All records of digits are in contexts: no RMIA,")


def test_captions_say_how_many_models_oracle_access_has(lira):
    assert (lira.names["oracle_models"], lira.names["whole"]) == ("all shadow models", "")
    lira.config["oracle_models"] = 4096
    assert lira.names["oracle_models"] == "the first 4,096"
