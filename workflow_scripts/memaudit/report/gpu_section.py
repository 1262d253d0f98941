"""The section on GPUs of docs/performance.md, from the files gpu_<part>.json of `make gpu`."""

from collections.abc import Callable, Mapping
from typing import Any

from memaudit.plotting.result_tables import MISSING, cell, markdown

Record = Mapping[str, Any]

NONE = """\
No GPU has been measured yet. Where one is, `make gpu` measures it in at most 40 minutes and writes its numbers here:
equality with the CPU, rates of shadow grids, the time of a grid of 4,096 models, densities of regressions,
randomisation nulls, compilation, fine-tuning, features of tokens, the training of LT-MIA's classifier, and equality and
seconds of the models of other packages."""
HEAD = """\
{device}, torch {torch}, by `make gpu`. Networks have the published shapes and random weights. Seconds are medians of
wall time. The data sheet's peaks are dense TFLOP/s; beside them stands the rate of a product of two large matrices
({matmul_size:,} rows and columns) on
the same chip; a dash marks a chip whose peak is not in memaudit/gpu_measurements/device_facts.py.

{chip}"""
Column = str | Callable[[Record], Any]
# Part: its title, what it measures, and its columns: the name of a case's value, or a function of the case.
PARTS: dict[str, tuple[str, str, dict[str, Column]]] = {
    "equality": (
        "Equality",
        "Differences of log-probabilities (nats) from the CPU's in fp32; the tolerance of fp32 is 1e-4. The deviation"
        " is that of the answers to different records.",
        {
            "network": "network",
            "dtype": "dtype",
            "largest error": "largest_error",
            "root mean square": "root_mean_square_error",
            "deviation": "deviation_between_records",
            "within tolerance": lambda case: {True: "yes", False: "no"}.get(case.get("within_tolerance")),
        },
    ),
    "rates": (
        "Rates of shadow grids",
        "Contexts of 5,000 rows of 14 features, 10,000 rows queried: forward passes of as many tables as fit.",
        {
            "network": "network",
            "dtype": "dtype",
            "tables": "tables_per_pass",
            "rows/s": "rows_per_second",
            "TFLOP/s": "tflops",
            "of peak": lambda case: _percent(case["share_of_peak"]),
            "of product": lambda case: _percent(case["share_of_matmul"]),
            "peak MiB": "peak_mib",
            "bound by": "bound_by",
        },
    ),
    "grid": (
        "A grid of 4,096 models",
        "From membership to signals. A sample of models is extrapolated, with the 95 % interval of its mean; a whole"
        " grid was run from end to end.",
        {
            "network": "network",
            "dtype": "dtype",
            "run": lambda case: "whole" if case["whole"] else f"{case['models_measured']} models",
            "minutes": lambda case: _minutes(case["seconds" if case["whole"] else "extrapolated_seconds"]),
            "low": lambda case: _minutes(case.get("extrapolated_low")),
            "high": lambda case: _minutes(case.get("extrapolated_high")),
            "aim": lambda case: f"at most {case['aim_seconds'] / 60:.0f}",
        },
    ),
    "densities": (
        "Densities of regressions",
        "Log densities of 10,000 records, 14 features, by the regression heads, with a context of 5,000 rows.",
        {
            "network": "network",
            "dtype": "dtype",
            "ms": lambda case: 1e3 * case["seconds"],
            "of which forward pass": lambda case: 1e3 * case["forward_seconds"],
            "records/s": "records_per_second",
            "peak MiB": "peak_mib",
        },
    ),
    "nulls": (
        "Randomisation nulls",
        "LiRA's null of 4,096 models and 10,000 records, on the processor beside the GPU.",
        {
            "attack": "name",
            "redraws": lambda case: case["sizes"]["draws"],
            "seconds": "seconds",
            "seconds a redraw": "seconds_per_redraw",
        },
    ),
    "compilation": (
        "Compilation",
        "torch.compile against the eager module: 64 contexts of 10 rows (probes), one of 5,000 (large).",
        {
            "case": "name",
            "dtype": "dtype",
            "eager ms": lambda case: 1e3 * case["eager_seconds"],
            "compiled ms": lambda case: 1e3 * case["seconds"],
            "gain": "eager_over_compiled",
            "first call s": "first_call_seconds",
            "difference": "largest_difference",
        },
    ),
    "fine_tuning": (
        "Fine-tuning",
        "A step on a context of 512 rows: pair, forward, backward, AdamW.",
        {
            "network": "network",
            "queries": lambda case: case["sizes"]["query_rows"],
            "dtype": "dtype",
            "ms": lambda case: 1e3 * case["seconds"],
            "TFLOP/s": "tflops",
            "of peak": lambda case: _percent(case["share_of_peak"]),
            "peak MiB": "peak_mib",
        },
    ),
    "token_features": (
        "Features of tokens",
        "All 154 channels of 8 texts of 128 tokens, from logits of 150,000 tokens of two models.",
        {
            "logits": "dtype",
            "working MiB": "working_memory_mib",
            "tokens/s": "tokens_per_second",
            "MiB beside logits": "peak_mib_beside_logits",
            "difference from CPU": "largest_difference_from_cpu",
        },
    ),
    "lt_mia_training": (
        "Training of LT-MIA's classifier",
        "An epoch of 16,384 texts of 128 tokens with its validation; their features are unpacked on the processor.",
        {
            "classifier": "source",
            "batch": "batch",
            "seconds": "seconds",
            "of which unpacking": "unpacking_seconds",
            "texts/s": "texts_per_second",
            "peak MiB": "peak_mib",
        },
    ),
    "packages": (
        "Models of other packages",
        "Answers as deployed to 250 queries about one context of 1,000 rows and 14 features, the mean of two views"
        " (Mitra: 50 queries, 200 rows, one view, without fine-tuning). Errors are differences of log probabilities, or"
        " of log densities (nats), from the CPU's. TabDPT and Mitra work in a process of their own, whose memory is not"
        " known. As deployed, structured-data-models draws other views on a GPU than on a CPU; here they are equal.",
        {
            "network": "network",
            "task": "task",
            "dtype": "dtype",
            "million weights": lambda case: case["weights"] / 1e6,
            "seconds": "seconds",
            "on the CPU": "cpu_seconds",
            "largest error": "largest_error",
            "root mean square": "root_mean_square_error",
            "deviation": "deviation_between_records",
            "predictions changed": lambda case: _percent(case["predictions_changed"]),
            "peak MiB": "peak_mib",
        },
    ),
}


def section(benches: Mapping[str, Record]) -> str:
    """Markdown of all parts that were measured on a GPU; benches: JSON of results/bench by the file's stem."""
    records = {part: benches.get(f"gpu_{part}") for part in PARTS}
    measured = {part: record for part, record in records.items() if record and record["size"] == "published"}
    if not measured:
        return NONE
    devices: dict[str, Record] = {record["device"]: record for record in measured.values() if "machine" in record}
    heads = [_head(record) for record in devices.values()]
    several = len({record["device"] for record in measured.values()}) > 1
    parts = [_part(part, measured.get(part), several) for part in PARTS]
    return "\n\n".join([*heads, *parts])


def _head(record: Record) -> str:
    machine = record["machine"]
    peak = machine["peak_tflops"] or {}
    lines = [[dtype, cell(peak.get(dtype)), cell(rate)] for dtype, rate in machine["matmul_tflops"].items()]
    return HEAD.format(
        device=record["device"],
        torch=record["versions"]["torch"],
        matmul_size=machine["matmul_size"],
        chip=markdown(["dtype", "peak TFLOP/s", "product TFLOP/s"], lines, [False, True, True]).rstrip("\n"),
    )


def _part(part: str, record: Record | None, several: bool) -> str:
    """A part's table and what it lacks; several: whether other parts come from another device."""
    title, text, columns = PARTS[part]
    paragraphs = [f"### {title}", text]
    if record is None:
        return "\n\n".join([*paragraphs, "Not measured yet."])
    if several:
        paragraphs.append(f"On {record['device']}.")
    cases = [case for case in record["cases"] if case["outcome"] == "measured"]
    if cases:
        lines = [[cell(_value(case, column)) for column in columns.values()] for case in cases]
        numeric = [all(text[:1].isdigit() or text == MISSING for text in column) for column in zip(*lines, strict=True)]
        paragraphs.append(markdown(list(columns), lines, numeric).rstrip("\n"))
    others = [case for case in record["cases"] if case["outcome"] != "measured"]
    missing = [f"- {case['name']}: {case['outcome']} (`{case['message']}`)" for case in others]
    if record["status"] != "finished":
        missing.append(f"- Unfinished: {record['cause']}.")
    return "\n\n".join([*paragraphs, *(["\n".join(missing)] if missing else [])])


def _value(case: Record, column: Column) -> Any:
    return case[column] if isinstance(column, str) else column(case)


def _percent(share: float | None) -> str | None:
    return f"{share:.0%}" if share is not None else None


def _minutes(seconds: float | None) -> float | None:
    return seconds / 60 if seconds is not None else None
