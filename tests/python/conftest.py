"""Every run tests the same data. TALLY_SEED moves the arrays that numpy draws; hypothesis is derandomized."""
import os

import hypothesis

os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # the tests run more threads than a shared machine has cores

SEED = int(os.environ.get("TALLY_SEED", "1"))

hypothesis.settings.register_profile("tally", derandomize=True, database=None, deadline=None, print_blob=True)
hypothesis.settings.load_profile("tally")


def pytest_report_header():
    return f"TALLY_SEED={SEED} (numpy's arrays), hypothesis derandomized"
