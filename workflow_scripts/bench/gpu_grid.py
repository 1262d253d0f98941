"""Rate of a shadow grid at the size of the reliability paper on a GPU, with published architectures.

python workflow_scripts/bench/gpu_grid.py --output results/bench/gpu_grid.json \
    --params '{"models": 4, "peak_tflops": {"fp32": 67, "bf16": 989}}'

A random table like Adult of the paper: 10,000 rows, 14 features, contexts of half the rows, all rows asked about. The
weights are random, in the shape of TabICL v2 and TabPFN v3 (the defaults of their packages): rate and memory do not
turn on their values. `models` contexts are timed after one that is not, and the paper's 4,096 are taken to go at that
rate. `peak_tflops`: what the device's data sheet says; the example's are of an NVIDIA H100. Without a GPU the script
ends, unless "device": "cpu" is said. Other params: rows, features, target_models, families, dtypes, compiled, small
(true: tiny networks, for a trial).
"""

import time
from contextlib import nullcontext

import torch
from tabicl._model.tabicl import TabICL
from torch.autograd import DeviceType
from torch.profiler import ProfilerActivity, profile

from memaudit.errors import AuditError
from memaudit.io import MEBIBYTE, write_json
from memaudit.models import flops
from memaudit.models.model_protocol import Limits
from memaudit.workflow.job import run

DEFAULTS = {
    "models": 4, "target_models": 4096, "rows": 10000, "features": 14, "device": "cuda", "peak_tflops": {},
    "families": ["tabicl", "tabpfn"], "dtypes": ["fp32", "bf16"], "compiled": [False, True], "small": False,
}  # fmt: skip
# Of TabPFN v3 in TabICL's terms: the same three stages, twice as deep in the last; its decoder is left out.
TABPFN = flops.TABICL | {"icl_num_blocks": 24}
SMALL = {"embed_dim": 64, "col_num_blocks": 1, "col_num_inds": 4, "row_num_blocks": 1, "icl_num_blocks": 2}
# Parts of the names of operations on a CPU and of kernels on a GPU.
KINDS = {
    "attention": ("scaled_dot_product", "attention", "fmha", "flash"),
    "matrix products": ("mm", "gemm", "nvjet", "linear"),
}


def main(job):
    params = DEFAULTS | vars(job.params)
    if params["device"] == "cuda" and not torch.cuda.is_available():
        raise AuditError('bench_gpu_grid: there is no GPU here; run it where one is, or try it with "device": "cpu"')
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.manual_seed(0)
    x, y = torch.randn(params["rows"], params["features"]), torch.arange(params["rows"]) % 2
    contexts = [torch.randperm(params["rows"])[: params["rows"] // 2] for _ in range(params["models"] + 1)]
    ways = []
    for family in params["families"]:
        model, architecture = opened(family, params["small"], params["device"])
        count = flops.tabicl(params["rows"] // 2, *x.shape, **architecture)
        plain = model.module
        for compiled in params["compiled"]:
            model.module = torch.compile(plain) if compiled else plain
            for dtype in params["dtypes"]:
                way = {"family": family, "dtype": dtype, "compiled": compiled}
                ways.append(way | measured(model, x, y, contexts, count, params, dtype))
                print(ways[-1])
    name = torch.cuda.get_device_name() if params["device"] == "cuda" else "cpu"
    write_json(params | {"device": name, "torch": torch.__version__, "ways": ways}, job.output[0])


def opened(family, small, device):
    """A branch with random weights in the family's published shape, and that shape as flops.py reads it."""
    if family == "tabicl":
        from memaudit.models.tabicl import TabICLBranch

        architecture = flops.TABICL | (SMALL if small else {})
        return TabICLBranch(TabICL(**architecture, zero_init=False), device), architecture
    from tabpfn.architectures import ARCHITECTURES

    from memaudit.models.tabpfn import TabPFNBranch
    from memaudit.models.tabpfn_checkpoint import Opened

    named = {"embed_dim": "embed_dim", "dist_embed_num_blocks": "col_num_blocks", "nlayers": "icl_num_blocks"}
    named |= {"dist_embed_num_inducing_points": "col_num_inds", "feat_agg_num_blocks": "row_num_blocks"}
    architecture = TABPFN | (SMALL if small else {})
    shape = {theirs: architecture[ours] for theirs, ours in named.items()} | {"max_num_classes": 10, "num_buckets": 10}
    module = ARCHITECTURES["tabpfn_v3"].get_architecture(ARCHITECTURES["tabpfn_v3"].parse_config(shape)[0])
    limits = Limits(rows=None, features=None, classes=10)
    return TabPFNBranch(Opened(module.eval(), None, "v3", limits), "classification", device), architecture


@torch.inference_mode()
def measured(model, x, y, contexts, count, params, dtype):
    """Rates, memory and where the time goes; count: operations of one forward pass."""
    device = params["device"]
    shortened = torch.autocast(device, torch.bfloat16) if dtype == "bf16" else nullcontext()
    if device == "cuda":
        torch.cuda.reset_peak_memory_stats()

    def ask(context):
        with shortened:
            model.logits(x[context][None], y[context][None], x[None])
        if device == "cuda":
            torch.cuda.synchronize()

    ask(contexts[0])
    start = time.perf_counter()
    for context in contexts[1:]:
        ask(context)
    seconds = (time.perf_counter() - start) / (len(contexts) - 1)
    peak = params["peak_tflops"].get(dtype)
    spent = shares(lambda: ask(contexts[0]), seconds, device)
    return {
        "seconds_per_model": seconds,
        "rows_per_second": len(x) / seconds,
        "hours_at_target": params["target_models"] * seconds / 3600,
        "tflops": count / seconds / 1e12,
        "share_of_peak": peak and count / seconds / 1e12 / peak,
        "peak_mib": torch.cuda.max_memory_allocated() / MEBIBYTE if device == "cuda" else None,
        "time": spent,
        "bound_by": max(spent, key=spent.get),
    }


def shares(work, seconds, device):
    """Share of a pass's time by kind of kernel; of its `seconds` a GPU may also stand idle and wait for the next."""
    activities = [ProfilerActivity.CPU] + [ProfilerActivity.CUDA] * (device == "cuda")
    with profile(activities=activities) as seen:
        work()
    spent = dict.fromkeys([*KINDS, "norms, activations, copies"], 0.0)
    there = DeviceType.CUDA if device == "cuda" else DeviceType.CPU
    for event in seen.key_averages():
        if event.device_type != there:  # an operation's time on the GPU is that of its kernels
            continue
        kind = next((kind for kind, parts in KINDS.items() if any(part in event.key for part in parts)), None)
        own = event.self_device_time_total if device == "cuda" else event.self_cpu_time_total
        spent[kind or "norms, activations, copies"] += own
    if device == "cuda":
        spent["waiting for the processor"] = max(0.0, 1e6 * seconds - sum(spent.values()))
    return {kind: own / sum(spent.values()) for kind, own in spent.items()}


if __name__ == "__main__":
    run(main, globals())
