"""Every run tests the same data, as tests/python does."""
import hypothesis

hypothesis.settings.register_profile("tally", derandomize=True, database=None, deadline=None, print_blob=True)
hypothesis.settings.load_profile("tally")
