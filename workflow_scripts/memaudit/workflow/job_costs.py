"""What a run will cost: the sizes of its jobs, times what jobs of another run have cost for their sizes."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, linear_regression, quantiles
from typing import Any, NamedTuple

from memaudit.workflow.digest import script_of

DEVICES = {"cpu": "cpu_seconds", "cuda": "wall_seconds"}


class Size(NamedTuple):
    """Numbers that the costs of one job grow with.

    work: its time, in a unit of the rule's own, floating-point operations where a GPU may do it; written: the bytes of
    its outputs; held: its memory, beside `forward`, the bytes that a model's forward pass takes by its shape; seconds:
    CPU seconds beside those that grow with the work; stored: bytes of its outputs beside those that grow with
    `written`; state: bytes on the disk until it ends, from which it goes on if it is killed.
    """

    work: float
    written: float
    held: float
    forward: float = 0.0
    seconds: float = 0.0
    stored: float = 0.0
    state: float = 0.0


Jobs = Mapping[str, Mapping[str, Size]]  # rule -> name of the job's sidecar below the rule's folder -> size


def size(
    work: float,
    written: float | None = None,
    held: float | None = None,
    forward: float = 0.0,
    seconds: float = 0.0,
    **disk: float,
) -> Size:
    """A size; what is not given of the first three grows with the work. disk: `stored` and `state`, 0 by default."""
    return Size(work, work if written is None else written, work if held is None else held, forward, seconds, **disk)


def asked_mb(size: Size, beside: int) -> int:
    """MB that a job asks for: `beside`, and the bytes that its model's forward pass takes."""
    return beside + round(size.forward / 10**6)


class Line(NamedTuple):
    """base + slope * size, in seconds, MiB or bytes."""

    base: float
    slope: float

    def at(self, size: float) -> float:
        return self.base + self.slope * size

    def time_of(self, size: Size) -> float:
        """Seconds of a job, by the line of its rule."""
        return self.at(size.work) + size.seconds


def fit(sizes: Sequence[float], values: Sequence[float], start: float) -> Line:
    """The line closest to the values, `start` being what a job costs that does nothing.

    Where that line falls or starts below `start`, as with jobs of one size or lost in noise, all above the start is
    taken to grow with the size: a larger run is then rather planned too dear than too cheap.
    """
    square = sum(x * x for x in sizes)
    if not square:
        return Line(fmean(values), 0.0)
    if len(set(sizes)) > 1:
        slope, base = linear_regression(sizes, values)
        if slope > 0 and base >= start:
            return Line(base, slope)
    product = sum(x * (y - start) for x, y in zip(sizes, values, strict=True))
    return Line(start, max(0.0, product / square))


def whole(sidecars: Mapping[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Sidecars of jobs that one process did alone, from its start.

    What a job cost that was resumed, adopted or forked, no sidecar says.
    """
    return {
        name: record
        for name, record in sidecars.items()
        if len(record.get("writers", [])) < 2 and not record.get("adopted") and not record.get("forked")
    }


def measure(jobs: Jobs, sidecars: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, dict[str, Any]]]:
    """Unit costs by rule and device, from the sidecars of a finished run by name (`rule/job`).

    Each has lines for `seconds` (CPU time; wall time on a GPU), `mebibytes` and `bytes`, the number of jobs behind them
    and the largest of these jobs' work. `outputs_bytes` of a sidecar is the size of the job's files.
    """
    start = {key: min(record[key] for record in sidecars.values()) for key in (*DEVICES.values(), "peak_memory_mib")}
    found: dict[str, dict[str, Any]] = {}
    for rule, of_rule in jobs.items():
        pairs = [(of_rule[job], sidecars[_name(rule, job)]) for job in of_rule if _name(rule, job) in sidecars]
        for device in sorted({_device(record) for _, record in pairs}):
            sizes, records = zip(*[pair for pair in pairs if _device(pair[1]) == device], strict=True)
            found.setdefault(rule, {})[device] = _units(sizes, records, DEVICES[device], start)
    return found


def errors(jobs: Jobs, sidecars: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """How far off the plan is, by rule: CPU seconds of its jobs, measured and as jobs of other sizes predict them.

    Each has the number of jobs, their seconds, and the middle 90 % of predicted / measured over the jobs. Jobs without
    work, which tell what a start costs, stay in every fit and are not predicted. A rule with jobs of one size besides
    predicts none of them, and is left out.
    """
    start, found = min(record["cpu_seconds"] for record in sidecars.values()), {}
    for rule, of_rule in jobs.items():
        records = [(one, sidecars.get(_name(rule, job))) for job, one in of_rule.items()]
        known = [(one, record["cpu_seconds"]) for one, record in records if record and _device(record) == "cpu"]
        if len({one.work for one, _ in known if one.work}) > 1:
            found[rule] = _error(known, start)
    return found


def _error(known: Sequence[tuple[Size, float]], start: float) -> dict[str, Any]:
    lines = {}
    for work in {one.work for one, _ in known}:
        others = [(one.work, _by_work(seconds, one, start)) for one, seconds in known if one.work != work]
        lines[work] = fit(*zip(*others, strict=True), start)
    pairs = [(seconds, lines[one.work].time_of(one)) for one, seconds in known if one.work]
    cuts = quantiles((predicted / seconds for seconds, predicted in pairs), n=20, method="inclusive")
    measured, predicted = map(sum, zip(*pairs, strict=True))
    return {"jobs": len(pairs), "measured": measured, "predicted": predicted, "ratios": [cuts[0], cuts[-1]]}


def _units(
    sizes: Sequence[Size], records: Sequence[Mapping[str, Any]], clock: str, start: Mapping[str, float]
) -> dict[str, Any]:
    work, written, held, forward, _, stored, _ = zip(*sizes, strict=True)
    seconds = [_by_work(record[clock], one, start[clock]) for one, record in zip(sizes, records, strict=True)]
    memory = [record["peak_memory_mib"] - taken / 2**20 for record, taken in zip(records, forward, strict=True)]
    disk = [max(0.0, record["outputs_bytes"] - known) for record, known in zip(records, stored, strict=True)]
    return {
        "jobs": len(sizes),
        "largest": max(work),
        "seconds": fit(work, seconds, start[clock]),
        "mebibytes": fit(held, memory, start["peak_memory_mib"]),
        "bytes": fit(written, disk, 0),
    }


def _by_work(seconds: float, size: Size, start: float) -> float:
    """Seconds of a job that grow with its work; at least those of a start, where its own are put too high."""
    return max(start, seconds - size.seconds)


def _name(rule: str, job: str) -> str:
    return f"{rule}/{job}" if job else rule


def _device(record: Mapping[str, Any]) -> str:
    return record.get("device", "cpu")


@dataclass(frozen=True)
class Cost:
    """Jobs together: CPU seconds without a GPU; of these, what a GPU can take over, and in how many GPU-seconds.

    bytes: of all outputs; states: of the largest state that one job keeps on the disk until it ends.
    """

    jobs: int = 0
    cpu_seconds: float = 0.0
    for_gpu: float = 0.0
    gpu_seconds: float = 0.0
    bytes: float = 0.0
    mebibytes: float = 0.0
    longest: float = 0.0
    states: float = 0.0

    @property
    def disk(self) -> float:
        """Bytes that must be free where one job runs at a time."""
        return self.bytes + self.states

    def __add__(self, other: "Cost") -> "Cost":
        sums = [getattr(self, name) + getattr(other, name) for name in list(vars(self))[:5]]
        most = [max(getattr(self, name), getattr(other, name)) for name in list(vars(self))[5:]]
        return Cost(*sums, *most)


def estimate(jobs: Jobs, units: Mapping[str, Any], gpu: Iterable[str], flops: float) -> dict[str, Cost]:
    """Cost of the jobs of every rule.

    units: as `measure` gives them; a rule without any is taken for the cheapest one. gpu: rules that may run on a GPU;
    flops: operations a second that a GPU is taken to reach where none was measured, after the start-up of a CPU's job.
    """
    costs = {}
    for rule, of_rule in jobs.items():
        lines, sizes = _lines(units, rule), of_rule.values()
        seconds = [lines["seconds"].time_of(job) for job in sizes]
        disk = sum(lines["bytes"].at(job.written) + job.stored for job in sizes)
        memory = max(lines["mebibytes"].at(job.held) + job.forward / 2**20 for job in sizes)
        cost = Cost(len(sizes), sum(seconds), 0.0, 0.0, disk, memory, max(seconds), max(job.state for job in sizes))
        if rule in gpu:
            on_gpu = units.get(rule, {}).get("cuda", {}).get("seconds")
            line = Line(*on_gpu) if on_gpu else Line(lines["seconds"].base, 1 / flops)
            cost += Cost(for_gpu=cost.cpu_seconds, gpu_seconds=sum(map(line.time_of, sizes)))
        costs[rule] = cost
    return costs


def cpu_range(costs: Mapping[str, Cost], errors: Mapping[str, Mapping[str, Any]]) -> tuple[float, float]:
    """Least and most CPU seconds of the rules' jobs, all as far off as 90 % of the measured jobs of their rule are.

    errors: as `errors` gives them; a rule without any is taken to be as far off as the worst of all rules.
    """
    ratios = {rule: one["ratios"] for rule, one in errors.items()}
    lows, highs = zip(*ratios.values(), strict=True) if ratios else ((1.0,), (1.0,))
    worst = min(lows), max(highs)
    pairs = [(cost.cpu_seconds, ratios.get(rule, worst)) for rule, cost in costs.items()]
    return sum(seconds / high for seconds, (_, high) in pairs), sum(seconds / low for seconds, (low, _) in pairs)


def extrapolated(jobs: Jobs, units: Mapping[str, Any]) -> tuple[str, float]:
    """The rule whose largest job exceeds those measured most, and how many times its work; ("", 0) if none is known."""
    times = {
        rule: max(job.work for job in of_rule.values()) / units[rule]["cpu"]["largest"]
        for rule, of_rule in jobs.items()
        if units.get(rule, {}).get("cpu", {}).get("largest")
    }
    return max(times.items(), key=lambda pair: pair[1], default=("", 0.0))


def too_long(
    jobs: Jobs, units: Mapping[str, Any], gpu: Iterable[str], flops: float, minutes: Mapping[str, float]
) -> dict[str, float]:
    """Minutes of the longest job of each rule whose jobs last longer than it requests, which a cluster ends.

    minutes: requested, by rule. gpu, flops: as for `estimate`; rules of `gpu` are taken to run on one.
    """
    found = {}
    for rule, requested in minutes.items():
        line = _lines(units, rule)["seconds"]
        if rule in gpu:
            on_gpu = units.get(rule, {}).get("cuda", {}).get("seconds")
            line = Line(*on_gpu) if on_gpu else Line(line.base, 1 / flops)
        longest = max(map(line.time_of, jobs.get(rule, {}).values()), default=0.0) / 60
        if longest > requested:
            found[rule] = longest
    return found


def is_resumable(rule: str) -> bool:
    """Whether a job of the rule that was ended goes on where it was when it is sent again (`scratch.resumable`)."""
    return "import resumable\n" in script_of(rule).read_text(encoding="utf-8")


def seconds_of(jobs: Jobs, units: Mapping[str, Any]) -> Callable[[str, str], float]:
    """A function that tells the CPU seconds of a job from its rule and its sidecar's name; 1 where nothing is known."""

    def of(rule: str, job: str) -> float:
        size = jobs.get(rule, {}).get(job, Size(0, 0, 0))
        return _lines(units, rule)["seconds"].time_of(size)

    return of


def _lines(units: Mapping[str, Any], rule: str) -> dict[str, Line]:
    if "cpu" in units.get(rule, {}):
        return {key: Line(*units[rule]["cpu"][key]) for key in ("seconds", "mebibytes", "bytes")}
    known = [entry["cpu"] for entry in units.values() if "cpu" in entry]
    return {
        key: Line(min((entry[key][0] for entry in known), default=1.0), 0.0)
        for key in ("seconds", "mebibytes", "bytes")
    }
