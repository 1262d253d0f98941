"""What the report of a run shows, and the command that makes a file of it."""

import pytest
from conftest import PROJECT, load

from memaudit.workflow.report_params import Page
from memaudit.workflow.study_catalogue import prepare


@pytest.fixture(scope="module")
def prepared():
    return prepare(load("smoke"), PROJECT)


def test_the_command_names_the_merged_config_where_settings_were_given(prepared):
    run, _, views, _ = prepared
    assert Page(run, views, merged=False).command == "snakemake --cores all"
    merged = "snakemake --cores all --configfile results/smoke/config.yaml --"
    assert Page(run, views, merged=True).command == merged


def test_the_page_has_every_table_and_figure_with_its_caption_and_not_its_files(prepared):
    run, _, views, _ = prepared
    page = Page(run, views, merged=False)
    names = [entry["name"] for entry in page.tables]
    assert {"data_dedup", "lira_strategies", "lira_claims", "lira_headlines"} <= set(names)
    assert all(entry.keys() == {"name", "title", "caption", "layout"} for entry in (*page.tables, *page.figures))
    assert page.studies[0]["name"] == "data"


def test_the_page_rests_on_tables_figures_and_their_sidecars(prepared):
    run, _, views, _ = prepared
    files = Page(run, views, merged=False).files
    assert "<results>/tables/lira_fpc.csv" in files
    assert "<results>/figures/lira_roc.png" in files
    assert "<results>/provenance/views_tabulate_results/lira.json" in files
    assert "<results>/provenance/views_draw_figures/lira_simulation_records.json" in files
