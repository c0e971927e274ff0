"""What mypy and pyright read of tally_reduce.torch and tally_reduce.jax (tools/lanes.sh python); it runs, too."""
import jax
import numpy as np
import tally_reduce.jax as on_jax
import tally_reduce.torch as on_torch
import torch

x = torch.ones(3)
total: torch.Tensor = on_torch.sum(x, axis=0, keepdims=True, nan="skip")
on_torch.segment_softmax(x, torch.tensor([0, 0, 1]), 2)
on_torch.segment_var(x, lengths=[1, 2], ddof=1, dtype=torch.float64)
y = np.ones(3)
sums: jax.Array = on_jax.segment_sum(y, np.array([0, 0, 1]), 2, indices_are_sorted=True)
on_jax.reduce(sums, "max", dtype="float32")
