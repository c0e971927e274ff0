"""tally_reduce.torch: gradients, torch.compile, vmap. tools/jobs.sh python has PyTorch; without it all is skipped."""
import doctest

import numpy as np
import pytest
import tally_reduce

torch = pytest.importorskip("torch", "2.5")
tally = pytest.importorskip("tally_reduce.torch")

from torch.autograd import gradcheck, gradgradcheck  # noqa: E402

WITH_GRADIENTS = "sum mean max min prod logsumexp var std norm1 norm2 norminf sumsq".split()
IDS = torch.tensor([0, 0, 2, 2, 2])
CUTS = {
    "ids": {"segment_ids": IDS, "num_segments": 4},
    "unsorted": {"segment_ids": torch.tensor([2, 0, 2, 9, 0]), "num_segments": 3, "indices_are_sorted": False,
                 "out_of_range": "drop"},
    "lengths": {"lengths": torch.tensor([2, 0, 3])},
    "offsets": {"offsets": torch.tensor([1, 1, 4])},  # values outside of all segments
}  # fmt: skip


@pytest.fixture(autouse=True)
def seed():
    torch.manual_seed(1)


def values(*shape):
    return torch.randn(*shape, dtype=torch.float64, requires_grad=True)


def check_twice(function, x):
    assert gradcheck(function, (x,))
    assert gradgradcheck(function, (x,))


@pytest.mark.parametrize("op", WITH_GRADIENTS)
def test_gradients(op):
    x = values(3, 4)
    for axis in (None, 1, (0, 1)):
        check_twice(lambda v: tally.reduce(v, op, axis=axis), x)
    check_twice(lambda v: tally.reduce(v, op, axis=0, keepdims=True, nan="skip"), x)


@pytest.mark.parametrize("op", WITH_GRADIENTS)
@pytest.mark.parametrize("cut", CUTS)
def test_gradients_of_segments(op, cut):
    fill = dict(nan=0.0, posinf=0.0, neginf=0.0)  # empty segments have no gradient
    check_twice(lambda v: tally.segment_reduce(v, op, **CUTS[cut]).nan_to_num(**fill), values(5, 2))
    x = values(2, 5)
    wanted = torch.autograd.grad(tally.segment_reduce(x.T, op, **CUTS[cut]).nan_to_num(**fill).sum(), x)[0]
    got = torch.autograd.grad(tally.segment_reduce(x, op, axis=1, **CUTS[cut]).nan_to_num(**fill).sum(), x)[0]
    torch.testing.assert_close(got, wanted)


def test_gradients_of_var_with_ddof():
    check_twice(lambda v: tally.var(v, axis=0, ddof=1), values(4, 2))
    check_twice(lambda v: tally.segment_var(v, lengths=torch.tensor([2, 0, 3]), ddof=1).nan_to_num(), values(5, 2))
    x = values(1)
    assert tally.var(x, ddof=1).isnan() and torch.autograd.grad(tally.var(x, ddof=1), x)[0].isnan()


@pytest.mark.parametrize("zeros", range(4))
def test_zeros_of_prod(zeros):
    x = torch.tensor([2.0, -3.0, 0.5, 7.0], dtype=torch.float64)
    x[:zeros] = 0
    check_twice(tally.prod, x.clone().requires_grad_())
    check_twice(lambda v: tally.segment_prod(v, lengths=torch.tensor([3, 1])), x.clone().requires_grad_())
    one, other = x.clone().requires_grad_(), x.clone().requires_grad_()
    tally.prod(one).backward(), torch.prod(other).backward()
    assert one.grad.tolist() == other.grad.tolist()


def test_edges_of_gradients():
    """Ties share; NaNs that are skipped get nothing; what has only NaNs, or nothing, gives no NaN to others."""
    nan, inf = float("nan"), float("inf")
    for op, x, options, wanted in [
        ("max", [1.0, 3, 3, 2], {}, [0, 0.5, 0.5, 0]),
        ("max", [1.0, nan, 3], {}, [0, 1, 0]),
        ("min", [1.0, nan, 3], {"nan": "skip"}, [1, 0, 0]),
        ("norminf", [1.0, -4, 4], {}, [0, -0.5, 0.5]),
        ("mean", [1.0, nan, 3], {"nan": "skip"}, [0.5, 0, 0.5]),
        ("sum", [1.0, nan], {"nan": "skip"}, [1, 0]),
        ("prod", [2.0, nan, 3], {"nan": "skip"}, [3, 0, 2]),
        ("prod", [0.0, nan, 3], {"nan": "skip"}, [3, 0, 0]),
        ("logsumexp", [-inf, 0.0], {}, [0, 1]),
        ("logsumexp", [-inf, -inf], {}, [0, 0]),
        ("norm2", [0.0, 0.0], {}, [0, 0]),
        ("std", [7.0], {}, [0]),
    ]:
        x = torch.tensor(x, requires_grad=True)
        tally.reduce(x, op, **options).backward()
        assert x.grad.tolist() == wanted, op
    for op in WITH_GRADIENTS:
        x = torch.tensor([1.0, 2, nan], requires_grad=True)
        both = tally.segment_reduce(x, op, lengths=torch.tensor([2, 1, 0]), nan="skip")
        (grad,) = torch.autograd.grad(both[0], x, create_graph=True)
        (grad.sum() + 0 * x.nan_to_num().sum()).backward()
        assert not grad.isnan().any() and not x.grad.isnan().any(), op


def test_halves_and_dtypes():
    """Halves are reduced and differentiated as float32; results of another dtype do not spoil the gradient."""
    for dtype in (torch.float16, torch.bfloat16, torch.float32):
        x = torch.randn(50, 3).to(dtype).requires_grad_()
        for op in WITH_GRADIENTS:
            got = tally.reduce(x, op, axis=0)
            assert got.dtype == dtype
            (grad,) = torch.autograd.grad(got.sum(), x)
            exact = x.detach().double().requires_grad_()
            (wanted,) = torch.autograd.grad(tally.reduce(exact, op, axis=0).sum(), exact)
            tolerance = 3 * torch.finfo(dtype).eps
            assert grad.dtype == dtype
            torch.testing.assert_close(grad.double(), wanted, rtol=tolerance, atol=tolerance)
    x = torch.randn(9, dtype=torch.float64, requires_grad=True)
    tally.max(x, dtype=torch.float32).backward()  # rounded, it equals no value
    assert x.grad.sum() == 1
    assert tally.sum(x, dtype=torch.float32).dtype == torch.float32


def test_softmax():
    x = values(5, 2)
    for cut in ("ids", "lengths"):
        got = tally.segment_softmax(x, **CUTS[cut])
        wanted = torch.cat([x[:2].softmax(0), x[2:].softmax(0)])
        torch.testing.assert_close(got, wanted, rtol=1e-15, atol=0)
    check_twice(lambda v: tally.segment_softmax(v, IDS, 3), x)
    check_twice(lambda v: tally.segment_softmax(v, IDS, 3, axis=1), values(2, 5))
    assert tally.segment_softmax(torch.tensor([1e4, -1e4]).half(), IDS[:2], 1).tolist() == [1, 0]


def test_values_are_those_of_the_module():
    x = torch.randn(6, 5)
    ids = torch.tensor([0, 1, 1, 1, 3, 3])
    for name in tally.__all__:
        if name in ("all_reduce", "reduce", "segment_reduce", "segment_softmax"):
            continue
        data = x.to(torch.int16) if name.rpartition("_")[0] == "segment_" or name in ("and_", "or_", "xor") else x
        data = data.to(torch.int16) if name in ("segment_and", "segment_or", "segment_xor") else data
        words = {"segment_ids": ids, "num_segments": 5} if name.startswith("segment_") else {"axis": 1}
        got, wanted = getattr(tally, name)(data, **words), getattr(tally_reduce, name)(data, **words)
        assert got.dtype == wanted.dtype and torch.equal(got.nan_to_num(), wanted.nan_to_num()), name


def test_what_is_refused():
    x = torch.ones(3, 2, requires_grad=True)
    for call, error in [
        (lambda: tally.sum(x, axis=2), ValueError),
        (lambda: tally.sum(x, axis=(0, 0)), ValueError),
        (lambda: tally.reduce(x, "median"), ValueError),
        (lambda: tally.reduce(x, "stats"), ValueError),
        (lambda: tally.sum(x, ddof=1), TypeError),
        (lambda: tally.max(x[:0]), ValueError),
        (lambda: tally.segment_sum(x, torch.tensor([0, 0, 7]), 3), ValueError),
        (lambda: tally.segment_sum(x, torch.tensor([0, 0]), 3), ValueError),
        (lambda: tally.segment_sum(x), TypeError),
        (lambda: tally.segment_sum(x, IDS[:3], lengths=IDS), TypeError),
        (lambda: tally.minmax(x).sum().backward(), NotImplementedError),
        (lambda: tally_reduce.sum(x), ValueError),
    ]:
        with pytest.raises(error):
            call()
    assert not tally.argmax(x).requires_grad and not tally.count(x).requires_grad


SAMPLES = [
    ("reduce", (values(3, 4), "sum", [0], False, None, 0, "propagate", "exact")),
    ("reduce", (values(3, 4), "var", [0, 1], True, None, 1, "skip", "fast")),
    ("reduce", (values(3, 4), "minmax", [1], False, None, 0, "propagate", "exact")),
    ("reduce", (torch.randn(3, 4).half().requires_grad_(), "logsumexp", [1], False, torch.float64, 0, "skip", "exact")),
    ("segment_reduce", (values(2, 5), "max", torch.tensor([0, 0, 1, 1, 1]), "segment_ids", 2, 1, None, 0, "propagate",
                        "exact", True, "error")),
    ("segment_reduce", (values(5), "mean", torch.tensor([1, 2, 2]), "lengths", 3, 0, None, 0, "skip", "exact", True,
                        "error")),
]  # fmt: skip


@pytest.mark.parametrize("sample", range(len(SAMPLES)))
def test_opcheck(sample):
    name, arguments = SAMPLES[sample]
    operator = getattr(torch.ops.tally_reduce, name).default
    if "minmax" in arguments:  # it has no gradient
        arguments = (arguments[0].detach(), *arguments[1:])
    torch.library.opcheck(operator, arguments)


def test_compile_keeps_them_in_the_graph():
    kept = []

    def backend(module, inputs):
        kept.extend(str(node.target) for node in module.graph.nodes if node.op == "call_function")
        return module.forward

    def function(x):
        rows = tally.segment_mean(x, IDS, 3, nan="skip").nan_to_num()
        return tally.logsumexp(rows, axis=0) + tally.segment_softmax(x, IDS, 3).sum(0)

    x = values(5, 2)
    wanted = function(x)
    assert torch.equal(torch.compile(function, fullgraph=True, backend=backend)(x), wanted)
    assert kept.count("tally_reduce.segment_reduce.default") == 3 and kept.count("tally_reduce.reduce.default") == 1
    compiled = torch.compile(function, fullgraph=True, backend="aot_eager", dynamic=True)
    for k in range(2):
        ours, theirs = (torch.autograd.grad(f(x).sum(), x)[0] for f in (function, compiled))
        torch.testing.assert_close(ours, theirs)
        x = values(5, 3 + k)


def test_vmap():
    x, ids = torch.randn(3, 5), torch.tensor([[0, 0, 1, 1, 1], [0, 1, 1, 1, 2], [0, 2, 2, 2, 2]])
    got = torch.vmap(lambda v: tally.segment_sum(v, ids[0], 3))(x)
    torch.testing.assert_close(got, torch.stack([tally.segment_sum(v, ids[0], 3) for v in x]))
    got = torch.vmap(lambda v, i: tally.segment_sum(v, i, 3), in_dims=(1, 0))(x.T, ids)
    torch.testing.assert_close(got, torch.stack([tally.segment_sum(v, i, 3) for v, i in zip(x, ids)]))
    got = torch.vmap(lambda v: tally.max(v, axis=(0, 1)), in_dims=2)(torch.arange(24.0).reshape(2, 3, 4))
    assert got.tolist() == [20, 21, 22, 23]


def test_exact_sums_in_a_model():
    """The sum of gradients that cancel is the true one."""
    x = torch.tensor([1e8, 1.0, -1e8], requires_grad=True)
    assert tally.sum(x) == 1 and np.float32(1e8) + np.float32(1) - np.float32(1e8) == 0


def test_lazily_negated():
    lazy = torch.tensor([1 + 2j, 3 + 4j]).conj().imag
    assert lazy.is_neg() and tally.sum(lazy) == -6


def test_docstrings():
    runner = doctest.DocTestRunner()
    for thing in (tally, tally.reduce, tally.segment_reduce, tally.segment_softmax):
        test = doctest.DocTestParser().get_doctest(thing.__doc__, {}, str(thing), None, 0)
        assert test.examples and runner.run(test).failed == 0
