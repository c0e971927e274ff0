"""Every run tests the same data. TALLY_SEED moves the arrays that numpy draws; hypothesis is derandomized."""
import functools
import os
import pathlib

import hypothesis
import pytest
from hypothesis.internal import reflection

os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # the tests run more threads than a shared machine has cores

LIBRARY = pathlib.Path(os.environ.get("TALLY_LIBRARY", pathlib.Path(__file__).parents[2] / "build" / "libtally.so"))
SEED = int(os.environ.get("TALLY_SEED", "1"))

# For each example it parses its own file to describe one and the same lambda: a tenth of the tests' time.
if hasattr(reflection, "extract_lambda_source"):
    reflection.extract_lambda_source = functools.lru_cache(maxsize=None)(reflection.extract_lambda_source)

hypothesis.settings.register_profile("tally", derandomize=True, database=None, deadline=None, print_blob=True)
hypothesis.settings.load_profile("tally")


def pytest_report_header():
    return f"TALLY_SEED={SEED} (numpy's arrays), hypothesis derandomized"


def pytest_sessionstart(session):
    """One sentence where the library is not built, and for an operator without an oracle, in place of a failure of each
    test."""
    if not LIBRARY.exists():
        pytest.exit(f"{LIBRARY} is not there: make all builds it (or TALLY_LIBRARY names another)", 1)
    import order
    import state_file
    import tally

    for op in tally.OPERATORS:
        if op not in order.ORACLES:
            pytest.exit(f"{op} has no oracle: write one in tests/python/order.py, and name it in ORACLES there", 1)
        try:
            state_file.node_fields(op, "f64")
        except ValueError as error:
            pytest.exit(str(error), 1)
