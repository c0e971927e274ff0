"""Each header of kernels/ compiles alone for some operator and type, or stops with one sentence (kernels/README.md)."""
import re
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
KERNELS = ROOT / "kernels"
NOT_ALONE = {"forms.h", "device/nvrtc.h"}  # a table that others expand; what a compiler without headers is given


def preface(file, type, order=0, more=""):
    kernel = file.partition("/")[2].removesuffix(".h")
    return (f'#define TALLY_TYPE {type}\n#define TALLY_NAN 0\n#define TALLY_KERNEL {kernel}\n'
            f'#define TALLY_KERNEL_FILE "{file}"\n#define TALLY_KERNEL_ORDER {order}\n'
            f"#define TALLY_KERNEL_INPUTS 1\n{more}")


USER = '#define TALLY_USER_TEXT "affine.h"\n#define TALLY_USER_ACC 8\n#define TALLY_USER_RESULT 4\n' \
       "#define TALLY_USER_KEEPS_ORDER 1\n#define TALLY_STRUCT_BYTES 8\n"
PREFACES = [preface("operators/var.h", "f32", 2), preface("exact/sum.h", "f32", more="#define TALLY_EXPANSIONS 1\n"),
            preface("exact/stats.h", "f64"), preface("operators/argmin.h", "i32"),
            preface("user/operator.h", "structure", 2, USER), ""]


def first_error(header, before):
    text = f'#include "simt/words.h"\n{before}#include "{header}"\n'
    command = ["cc", "-std=c11", "-fsyntax-only", "-D_GNU_SOURCE", "-x", "c", "-"]
    command += [f"-I{ROOT / folder}" for folder in ("kernels", "src", "include", "tests/unit/texts")]
    done = subprocess.run(command, input=text, text=True, capture_output=True)
    return re.search(r"error: .*", done.stderr)[0] if done.returncode != 0 else None


def complaint(header):
    """None, or what is wrong: it compiles behind no preface, and behind none does it say what is missing."""
    errors = []
    for before in PREFACES:
        error = first_error(header, before)
        if error is None or (before and error.startswith("error: #error")):
            return None
        errors.append(error)
    return f"{header}: {' | '.join(errors)}"


def test_headers_stand_alone():
    headers = [path.relative_to(KERNELS).as_posix() for path in sorted(KERNELS.glob("**/*.h"))]
    with ThreadPoolExecutor() as pool:
        wrong = [said for said in pool.map(complaint, [h for h in headers if h not in NOT_ALONE]) if said]
    assert not wrong, "\n".join(wrong)
