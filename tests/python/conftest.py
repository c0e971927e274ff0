"""Every run tests the same data. TALLY_SEED moves the arrays that numpy draws; hypothesis is derandomized."""
import functools
import os

import hypothesis
from hypothesis.internal import reflection

os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # the tests run more threads than a shared machine has cores

SEED = int(os.environ.get("TALLY_SEED", "1"))

# For each example it parses its own file to describe one and the same lambda: a tenth of the tests' time.
if hasattr(reflection, "extract_lambda_source"):
    reflection.extract_lambda_source = functools.lru_cache(maxsize=None)(reflection.extract_lambda_source)

hypothesis.settings.register_profile("tally", derandomize=True, database=None, deadline=None, print_blob=True)
hypothesis.settings.load_profile("tally")


def pytest_report_header():
    return f"TALLY_SEED={SEED} (numpy's arrays), hypothesis derandomized"
