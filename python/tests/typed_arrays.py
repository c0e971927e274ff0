"""What mypy and pyright read of the modules for other libraries (tools/jobs.sh python)."""
import dask.array as da
import jax
import numpy as np
import tally_reduce.dask as on_dask
import tally_reduce.jax as on_jax
import tally_reduce.torch as on_torch
import torch
from tally_reduce.mpi import allreduce

x = torch.ones(3)
total: torch.Tensor = on_torch.sum(x, axis=0, keepdims=True, nan="skip")
on_torch.segment_softmax(x, torch.tensor([0, 0, 1]), 2)
on_torch.segment_var(x, lengths=[1, 2], ddof=1, dtype=torch.float64)
y = np.ones(3)
sums: jax.Array = on_jax.segment_sum(y, np.array([0, 0, 1]), 2, indices_are_sorted=True)
on_jax.reduce(sums, "max", dtype="float32")
everyone: torch.Tensor = on_torch.all_reduce(x, "sum", axis=())
lazy: da.Array = on_dask.mean(y, axis=0, split_every=4)
count: da.Array = on_dask.stats(y).count
part: np.ndarray = allreduce(y, "var", axis=0, ddof=1)
