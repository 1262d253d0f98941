"""Tables of docs/performance.md from the JSON of benchmarks (results/bench)."""

from collections.abc import Mapping
from typing import Any

from memaudit.plotting.result_tables import cell, texts_table
from memaudit.report import gpu_section

Bench = Mapping[str, Any]
# A benchmark's ratio, in the order of the page: what is compared, and the aim.
RATIOS = {
    "all_over_forward": ("score matrix of shadow contexts, over the forward passes of the model", "at most 1.15"),
    "package_over_ours_distinct": ("packaged classifier, over probes that all differ", "at least 15"),
    "package_over_ours_manipulations": ("packaged classifier, over manipulated probes", "at least 15"),
    "package_over_ours_manipulations_of_5": ("the same, with five candidates", "at least 15"),
    "probe_over_finetuning": ("48 probes of 100 records, over 500 epochs of fine-tuning", "at most 0.1"),
    "probe_over_wide_finetuning": ("the same with Q = 512 and a context of 512", "at most 0.05"),
    "probe_of_all_over_wide_finetuning": ("48 probes of all 1,024 records there", "at most 0.05"),
    "step_over_bare_loop": ("a fine-tuning step, over a bare loop", "at most 1.2"),
    "package_over_ours_defaults": ("Brainwash and poisoning: packaged classifier, copy by copy", "at least 10"),
    "package_over_ours_one_view": ("the same, with one view of each table", "more than 1"),
    "package_over_votes_defaults": ("packaged classifier, over the votes of PATE teachers", "more than 1"),
    "package_over_votes_one_view": ("the same, with one view of each table", "more than 1"),
    "numpy_ranks_cpu_seconds_over_ours": ("features of tokens: ranks by argsort of argsort in numpy", "at least 8"),
    "numpy_ranks_peak_mib_over_ours": ("memory of these ranks in numpy, over that of our features", "more than 1"),
    "torch_ranks_cpu_seconds_over_ours": ("features of tokens: ranks by argsort of argsort in torch", "at least 5"),
    "torch_ranks_peak_mib_over_ours": ("memory of these ranks in torch, over that of our features", "more than 1"),
    "arrays_over_ours_psmi": ("PSMI: whole arrays, as in that package, over ours", "more than 1"),
    "package_over_ours_psmi": ("PSMI: the package psmi 0.2.0, over ours", "at least 3"),
    "one_by_one_over_stacked_mlp": ("64 small MLPs trained one by one, over all at once", "more than 1"),
    "one_by_one_over_stacked_wrn": ("64 small residual networks, the same", "more than 1"),
    "curves_over_entries_over_segments": (
        "replicates of a ROC curve of few memorized entries, a pass over all entries each, over sums of segments",
        "at least 5",
    ),
    "padded_over_cut_prompts": ("prompts padded to the longest of all, over the longest of each batch", "at least 2"),
}
SHOWN = 0.01  # rules with less than this share of the CPU time stand in the sum alone
SLOPES = ("slopes", "arithmetic")  # as measured, and by the formula of the operation counts


def context(benches: Mapping[str, Bench]) -> dict[str, Any]:
    """The values that docs/templates/performance.md names; the audit and the features of tokens may be missing."""
    scale = benches["scale_engine"]
    return {
        "audit": benches.get("audit_table"),
        "audited": _audit(benches["audit_table"]) if "audit_table" in benches else "",
        "table": _steps(benches["deduplicate"]),
        "grid": benches["evaluate_grid"],
        "ways": _grid_ways(benches["evaluate_grid"]),
        "scores": _grid_scores(benches["evaluate_grid"]),
        "ratios": _ratios(benches),
        "shadows": benches["query_shadows"],
        "probe": benches["probe_contexts"],
        "tokens": benches.get("extract_features"),
        "scaling": _scaling(scale),
        "tables_per_pass": scale["tables_per_pass"],
        "gpu": gpu_section.section(benches),
        "plan": texts_table(
            ["config", "jobs", "seconds"],
            [
                [name, str(one["jobs"]), cell(one["median_seconds"])]
                for name, one in benches["plan_workflow"]["configs"].items()
            ],
        ),
        "rehearsal": benches.get("rehearsal"),
        "rehearsed": _rehearsed(benches["rehearsal"]) if "rehearsal" in benches else "",
        "soak": benches.get("soak"),
        "soak_faults": texts_table(
            ["fault", "times"], ([name, str(times)] for name, times in benches["soak"]["faults"].items())
        )
        if "soak" in benches
        else "",
        "errors": _errors(benches.get("unit_costs", {}).get("errors", {})),
    }


def _rehearsed(bench: Bench) -> str:
    heads = ["study", "jobs", "CPU seconds", *["start-up"] * bench["warm"], "predicted", "ratio"]
    return texts_table(heads, ([str(one["study"]), *(cell(one[head]) for head in heads[1:])] for one in bench["costs"]))


def _audit(bench: Bench) -> str:
    lines = [
        [name.replace("_", " "), f"{seconds:.0f}", f"at most {bench['aims'][name]}"]
        for name, seconds in bench["seconds"].items()
    ]
    return texts_table(["until", "seconds", "aim"], lines)


def _steps(bench: Bench) -> str:
    lines = [
        [f"{case['rows']:,}", name.replace("_", " "), cell(step["seconds"]), f"{step['peak_mib']:,}"]
        for case in (*bench["ours"], bench["peer"])
        for name, step in case["steps"].items()
    ]
    return texts_table(["rows", "step", "seconds", "peak MiB"], lines)


def _grid_ways(bench: Bench) -> str:
    loop, scores = bench["record_loop"], bench["scores"].values()
    every = {"cpu_seconds": sum(of["cpu_seconds"] for of in scores), "peak_mib": max(of["peak_mib"] for of in scores)}
    ways = {
        "ours, all strategies": bench["strategies"],
        "ours, all scores": every,
        "one numpy pass, ratios only": bench["plain_pass"],
        f"loop over records, extrapolated from {loop['records']}": loop
        | {"cpu_seconds": loop["cpu_seconds_at_full_size"]},
    }
    lines = [[name, cell(way["cpu_seconds"]), f"{way['peak_mib']:,.0f}"] for name, way in ways.items()]
    return texts_table(["way", "CPU seconds", "peak MiB"], lines)


def _grid_scores(bench: Bench) -> str:
    plain, grid = bench["plain_pass"]["cpu_seconds"], bench["grid_mib"]
    lines = [
        [name, cell(of["cpu_seconds"]), f"{of['cpu_seconds'] / plain:.2f}", f"{of['peak_mib'] / grid:.1f}"]
        for name, of in bench["scores"].items()
    ]
    return texts_table(["score", "CPU seconds", "over the plain pass", "peak over the matrix"], lines)


def _ratios(benches: Mapping[str, Bench]) -> str:
    """Every ratio that a benchmark has measured, beside its aim."""
    lines = [
        [*told, f"{bench['ratio'][name]:.3g}", benchmark]
        for name, told in RATIOS.items()
        for benchmark, bench in benches.items()
        if name in bench.get("ratio", {})
    ]
    return texts_table(["compared", "aim", "measured", "benchmark"], lines)


def _errors(rules: Mapping[str, Bench]) -> str:
    """Measured and predicted CPU time of the rules that take most of it, and of all; nothing without errors."""
    if not rules:
        return ""
    sums = {key: sum(one[key] for one in rules.values()) for key in ("jobs", "measured", "predicted")}
    largest = sorted(rules, key=lambda rule: -rules[rule]["measured"])
    shown = {rule: rules[rule] for rule in largest if rules[rule]["measured"] >= SHOWN * sums["measured"]}
    lines = []
    for name, one in [*shown.items(), (f"all {len(rules)} rules", sums)]:
        ratios = one["predicted"] / one["measured"], *one.get("ratios", ("", ""))
        seconds = (f"{one[key]:,.0f}" for key in ("measured", "predicted"))
        lines.append([name, str(one["jobs"]), *seconds, *map(cell, ratios), one.get("run", "")])
    return texts_table(["rule", "jobs", "CPU seconds", "predicted", "ratio", "lowest", "highest", "run"], lines)


def _scaling(bench: Bench) -> str:
    lines = [
        [f"{one['part']}: {one['axis']}", f"{one['sizes'][0]:,} to {one['sizes'][-1]:,}"]
        + [_slope(one.get(source), name) for name in ("seconds", "peak_mib") for source in SLOPES]
        for one in bench["axes"]
    ]
    return texts_table(["what grows", "sizes", "time", "by operation count", "memory", "by operation count"], lines)


def _slope(slopes: Mapping[str, float] | None, name: str) -> str:
    return f"{round(slopes[name], 2) + 0.0:.2f}" if slopes else ""
