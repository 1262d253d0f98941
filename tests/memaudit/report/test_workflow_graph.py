"""The graph of rules: sources above readers, no overlapping boxes, no implied arrows, no circles."""

import os
import subprocess
import sys
from itertools import pairwise

import numpy as np
from report_examples import SIDECARS

from memaudit.report.result_lineage import Lineage
from memaudit.report.workflow_graph import MOST, draw

LINEAGE = Lineage(SIDECARS, ["results/r/figures/demo_roc.svg"])


def test_every_rule_stands_above_its_readers_and_implied_arrows_are_left_out():
    drawing = draw(LINEAGE.costs(), LINEAGE.edges())
    height = {rule: y for rule, (_, y) in drawing.boxes.items()}
    assert all(height[source] < height[reader] for source, reader in LINEAGE.edges())
    assert ("data_fetch", "demo_judge") in LINEAGE.edges()
    assert len(drawing.arrows) == 3


def test_boxes_do_not_overlap_and_no_layer_is_wider_than_allowed():
    readers = [f"a_reader{number}" for number in range(MOST + 3)]
    drawing = draw(["a_source", *readers], [("a_source", reader) for reader in readers])
    width, height = drawing.box
    boxes = sorted(drawing.boxes.values(), key=lambda box: (box[1], box[0]))
    for (x, y), (other_x, other_y) in pairwise(boxes):
        assert other_x >= x + width or other_y >= y + height
    assert np.unique([y for _, y in boxes], return_counts=True)[1].max() == MOST


def test_a_rule_whose_jobs_feed_one_another_is_drawn_once_without_the_arrow_back():
    rules = ["a_ask", "b_rank", "c_judge"]
    edges = [("b_rank", "a_ask"), ("a_ask", "b_rank"), ("b_rank", "c_judge")]
    drawn = draw(rules, edges)
    heights = [drawn.boxes[rule][1] for rule in rules]
    assert heights == sorted(heights)
    assert len(set(heights)) == len(drawn.arrows) + 1 == 3


def test_a_drawing_is_the_same_in_every_process():
    """Sets of names have another order under another hash seed."""
    code = (
        "from memaudit.report.workflow_graph import draw; "
        "edges = [(f'a_{i}', f'b_{j}') for i in range(2) for j in range(9)]; "
        "print(draw({rule for edge in edges for rule in edge}, edges))"
    )
    printed = {
        subprocess.run(
            [sys.executable, "-c", code],
            env=os.environ | {"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in "123"
    }
    assert len(printed) == 1
