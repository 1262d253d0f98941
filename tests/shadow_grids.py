"""Simulated answers of the shadow models of the study ICLMEM, with planted memorization of some records."""

import numpy as np
import xarray as xr

SIGNALS = ["loss", "entropy", "confidence", "error"]


def shadow_grid(rng, in_context=0.0, probe=0.0, models=24, pairs=14, controls=7, epochs=(10,), arm="slow", classes=2):
    """A grid as of `iclmem_probe_shadows`; in_context, probe: how far the losses of a member fall, (record,) or one.

    Records differ in their losses and in how these change, and control pairs have no memory.
    """
    pair = np.tile(np.arange(pairs + controls), 2)
    control = pair >= pairs
    coins = (rng.random((models // 2, pairs + controls)) < 0.5).repeat(2, axis=0) ^ (np.arange(models) % 2 == 1)[
        :, None
    ]
    assigned = np.concatenate([~coins, coins], axis=1)
    member = assigned & ~control
    shape = (models, len(epochs), len(pair))

    def answers(fall, noise):
        loss = 4 + difficulty + change + noise * rng.normal(size=shape) - fall * member[:, None]
        loss = np.maximum(loss, 0.01)
        return np.stack([loss, loss / 2 + 0.2 * rng.normal(size=shape), np.exp(-loss), np.zeros(shape)], axis=-1)

    # A change that all models have, whoever their members are: it hides memory from one model, not from LiRA.
    difficulty, change = 0.5 * rng.normal(size=(2, len(pair)))
    base = np.stack([4 + difficulty, 2 + difficulty, np.exp(-4 - difficulty), 0 * difficulty], axis=-1)
    in_base = np.broadcast_to(base, (models, 1, *base.shape))
    variables = {
        "probe": (("model", "epoch", "target", "signal"), answers(probe, 0.3)),
        "in_context": (("model", "stage", "target", "signal"), np.concatenate([in_base, answers(in_context, 0.3)], 1)),
        "member": (("model", "epoch", "target"), member[:, None].repeat(len(epochs), 1)),
        "assigned": (("model", "target"), assigned),
        "base_probe": (("target", "signal"), base),
    }
    facts = {"id": [f"{at:03}" for at in range(len(pair))], "pair": pair, "control": control}
    coordinates = {name: ("target", values) for name, values in facts.items()}
    coordinates |= {"model": np.arange(models), "epoch": list(epochs), "stage": [0, *epochs], "signal": SIGNALS}
    attrs = {"dataset": "wine", "arm": arm, "classes": classes, "split": 0, "trained": pairs}
    return xr.Dataset(variables, coordinates, attrs)
