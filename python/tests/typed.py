"""What mypy and pyright read in strict mode (tools/jobs.sh python); it runs, too."""
import numpy as np
import tally_reduce as t
x = np.ones(3)
t.sum(x, axis=0, initial=3)
a: float = t.stats(x).mean
t.segment_sum(x, np.array([0, 0, 1]), 2, indices_are_sorted=True)
t.reduce(x, "sum", keepdims=True)
s = t.State("sum") + t.State("sum", np.float64)
s.push(x)
p = t.Plan(3, lengths=[1, 2])
t.segment_reduce(x, "max", plan=p)
