"""Where NVIDIA's compiler library is, if it came as a wheel (tally-reduce[cuda])."""

import importlib.util
import os
from pathlib import Path


def find():
    """The newest libnvrtc in a wheel of this environment, or None."""
    spec = importlib.util.find_spec("nvidia")
    folders = [Path(folder) for folder in (spec.submodule_search_locations if spec else None) or ()]
    found = [path for folder in folders for path in folder.glob("c*/lib/libnvrtc.so.*") if "alt" not in path.name]
    return max(found, key=lambda path: [int(part) for part in path.name.split(".") if part.isdigit()], default=None)


def name_it():
    """Names the library to libtally by TALLY_NVRTC, unless the user has: the loader does not look into wheels."""
    if "TALLY_NVRTC" not in os.environ:
        library = find()
        if library is not None:
            os.environ["TALLY_NVRTC"] = str(library)
