"""Sizes of the second stage follow from what the first one took, and stay those of an interrupted run."""

import yaml
from audit_examples import CHOSEN, FACTS

from memaudit.auditing import runner
from memaudit.auditing.reading import model_choice
from memaudit.auditing.running import stages
from memaudit.auditing.running.second_stage_sizes import QUERY, RATING, second_stage_sizes
from memaudit.common.io import write_json


def overlay(sizes):
    return stages.overlay("full", FACTS, sizes, CHOSEN, model_choice.entries(["tabicl-small"]))


def test_an_interrupted_audit_keeps_its_sizes(tmp_path):
    config = overlay({"minutes": 3, "sets": 48, "records": 500})
    (tmp_path / "full.yaml").write_text(yaml.safe_dump(config))
    again = overlay({"sets": 32, "records": 500})
    assert second_stage_sizes(9.0, runner.Settings(tmp_path, minutes=3), again)["sets"] == 48


def test_slow_jobs_of_the_first_stage_make_the_second_one_smaller(tmp_path):
    write_json({"units": 800}, tmp_path / "results/quick/data/table/schema.json")

    def sizes(seconds):
        for shard in range(2):
            write_json({"wall_seconds": seconds}, tmp_path / QUERY / f"{shard}.json")
        write_json({"cpu_seconds": 12.0}, tmp_path / RATING)
        settings = runner.Settings(tmp_path, minutes=5, cores=2)
        return second_stage_sizes(240.0, settings, overlay({"sets": 32, "records": 500}))

    fast, slow = sizes(8.0), sizes(12.0)
    assert fast["minutes"] == 5
    assert fast["sets"] > slow["sets"]
    assert fast["seconds expected"] <= 240
