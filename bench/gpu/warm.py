"""Kernels made ready ahead: compiled, or loaded from the cache, as many at once as there are cores."""

import concurrent.futures
import ctypes
import sys
import time

from cells import axes

THREADS = 16
lib = axes.tally.lib
for name, more in (("tally_warm", []), ("tally_warm_segments", [ctypes.c_int])):
    getattr(lib, name).argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_int, *more]


def one(contexts, op, type, accuracy, form):
    """What went wrong, or None."""
    words = contexts[accuracy].handle, axes.tally.OPERATORS[op].number, axes.tally.TYPES[type].number
    if form == "whole":
        status = lib.tally_warm(*words)
    else:
        status = lib.tally_warm_segments(*words, axes.tally.SEGMENTATIONS[form])
    return f"not compiled: {lib.tally_message().decode()}" if status else None


def all_of(contexts, kernels, until=None):
    """{kernel that is not ready then: why}. A kernel: see cells.axes.kernel."""
    late, began = {}, time.monotonic()

    def warm(kernel):
        reason = "not compiled in time" if until and time.monotonic() > until else one(contexts, *kernel)
        if reason:
            late[kernel] = reason

    with concurrent.futures.ThreadPoolExecutor(THREADS) as pool:
        for done, _ in enumerate(pool.map(warm, kernels), 1):
            if done % 100 == 0 or done == len(kernels):
                spent = time.monotonic() - began
                print(f"[{spent:5.0f} s] {done} of {len(kernels)} sets of kernels", file=sys.stderr, flush=True)
    return late
