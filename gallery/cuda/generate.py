#!/usr/bin/env python3
"""Writes NNN_name.cu for each kernel of the gallery: the kernel as plain CUDA, for float and min, and a host that runs
and checks it. It is made of the kernel's own text: words of the contract become what they mean there.

    gallery/cuda/generate.py            rewrites the files
    gallery/cuda/generate.py --check    exit status 1, and a sentence, if one is stale
"""
import pathlib
import re
import shutil
import subprocess
import sys
import textwrap

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "pages"))
import generate as pages  # noqa: E402

KERNELS = HERE.parent / "kernels"
STYLE = "{BasedOnStyle: LLVM, IndentWidth: 4, ColumnLimit: 100, AllowShortIfStatementsOnASingleLine: true}"

HEADERS = ["algorithm", "cmath", "cstdint", "cstdio", "cstdlib", "vector"]

# What a kernel can be given: in this order, as far as it asks.
GIVEN = {
    "x": "const float *x",
    "segment_ids": "const int *segment_ids",
    "count": "int64_t count",
    "lists": "int lists",
    "out": "float *out",
    "out_ids": "int *out_ids",
    "output": "float *output",
    "counter": "unsigned *counter",
}
# Words with arguments: $1, $2, ... stand for them. W is what is given of the work.
WORDS = {
    "TALLY_READ": "$1",
    "TALLY_WRITE": "$1 = $2",
    "tally_branch": "$1",
    "TALLY_OP": "op($1, $2)",
    "TALLY_SHARED_ARRAY": "__shared__ $1 $3[$2]",
    "TALLY_SHARED": "__shared__ $1 $2",
    "take": "take(W$1, $2)",
    "give": "@out@[$2] = $3",
    "take_vector": "take_vector(W$1, $2)",
    "left_at": "@out@[$2]",
    "tally_swap32": "atomicExch($1, $2)",
    "segment_id_of": "@segment_ids@[$2 < @count@ ? $2 : @count@ - 1]",
    "put_behind": "@output@[$2] = op(@output@[$2], $3)",
    "put_before": "@output@[$2] = op($3, @output@[$2])",
    "order_key": "$1",
    "from_above": "__shfl_down_sync(0xffffffff, $1, $2)",
    "tally_arrive": "atomicInc($1, $2)",
    "tally_shuffle": "__shfl_sync(0xffffffff, $1, $2)",
}
PLAIN = {
    "(uint32_t)tally_blocks()": "gridDim.x",
    "tally_threads()": "blockDim.x",
    "tally_thread()": "threadIdx.x",
    "tally_blocks()": "gridDim.x",
    "tally_block()": "blockIdx.x",
    "tally_lane()": "threadIdx.x % 32",
    "tally_warp()": "threadIdx.x / 32",
    "tally_warp_barrier()": "__syncwarp()",
    "tally_barrier()": "__syncthreads()",
    "tally_fence()": "__threadfence()",
    "((TALLY_T *)(void *)work.nodes)": "@out@",
    "    const TALLY_T *values = (const TALLY_T *)(const void *)work.x;\n": "",
    "work.count": "@count@",
    "work->count": "@count@",
    "work.run": "@lists@",
    "left.count": "gridDim.x",
    "later(work, ": "later(W",
    "head_t": "Head",
    "owned_t": "Owned",
    "tally_gallery_share_of": "share_of",
    "tally_gallery_share": "Share",
    "tally_gallery_padded": "padded",
    "tally_gallery_is_last": "is_last",
    "(int *)work.arrivals": "(int *)@counter@",
    "work.arrivals": "@counter@",
    "TALLY_MOST_LISTS": "1024",
    "TALLY_VECTOR": "4",
    "TALLY_NONE": "identity",
    "TALLY_E ": "float ",
    "TALLY_E,": "float,",
    "TALLY_T ": "float ",
    "TALLY_WARP": "32",
    "TALLY_MATRIX_ELEMENTS": "1056",
    "TALLY_MATRIX": "1024",
    "TALLY_WIDTH": "32",
    "TALLY_HEIGHT": "32",
    "TALLY_FN ": "__device__ ",
    "int32_t": "int",
    "uint": "unsigned ",
}
OPERATOR = """// The operator: any associative one.%s
__host__ __device__ inline float op(float a, float b) { return fminf(a, b); }
#define identity INFINITY

"""
TAKE = """// Value i, or what changes nothing where there is none.
__device__ float take(const float *x, int64_t count, int64_t i) { return i < count ? x[i] : identity; }

"""
TAKE_VECTOR = """// Four neighbours, folded: one load of 16 bytes where all are there.
__device__ float take_vector(const float *x, int64_t count, int64_t i) {
    if (i + 4 <= count) {
        float4 v = *(const float4 *)(x + i);
        return op(op(op(v.x, v.y), v.z), v.w);
    }
    float sum = identity;
    for (int k = 0; k < 4; k++) sum = op(sum, take(x, count, i + k));
    return sum;
}

"""
LEAVE = """// The block's element and its segment id. The last block there is puts it into the output.
__device__ void leave_%s(float *out, int *out_ids, float *output, float e, int segment_id) {
    if (gridDim.x == 1) {
        output[segment_id] = op(%s);
    } else {
        out[blockIdx.x] = e;
        out_ids[blockIdx.x] = segment_id;
    }
}

"""
PLAIN_READ = """__global__ void plain_read(const float *x, int64_t count, float *out) {
    float seen = 0;
    for (int k = 0; k < 8; k++) {
        int64_t at = ((int64_t)blockIdx.x * 8 + k) * blockDim.x + threadIdx.x;
        if (at < count / 4) {
            float4 v = ((const float4 *)x)[at]; // 16 bytes at a time
            seen += v.x + v.y + v.z + v.w;
        }
    }
    if (seen == -1.25f) out[0] = seen; // so that the reads are not left out
}
"""


def argument_list(text, at):
    """The arguments of the parentheses at `at`, and where they end."""
    depth, start, arguments = 0, at + 1, []
    for k in range(at, len(text)):
        depth += text[k] in "([{"
        depth -= text[k] in ")]}"
        if (text[k] == "," and depth == 1) or depth == 0:
            arguments.append(text[start:k].strip())
            start = k + 1
        if depth == 0:
            return arguments, k + 1
    sys.exit(f"parentheses do not balance: {text[at:at + 60]}")


def expand(text):
    """Words of the contract in the words of CUDA. What is done is marked, as `take` becomes a `take` of its own."""
    for word, meaning in WORDS.items():
        while True:
            found = re.search(r"(?<![\w\0])" + re.escape(word) + r"\(", text)
            if not found:
                break
            arguments, end = argument_list(text, found.end() - 1)
            made = re.sub(r"\$(\d)", lambda m: arguments[int(m.group(1)) - 1], "\0" + meaning)
            text = text[: found.start()] + made + text[end:]
    return text.replace("\0", "")


def work_of(text):
    """What stands for the work in calls: its parts are filled in later (W), of the elements that are left now."""
    text = re.sub(r"take\(W&left, ", "take(@out@, gridDim.x, ", text)
    text = re.sub(r"take_vector\(W&?work, ", "take_vector(@x@, @count@, ", text)
    text = re.sub(r"take\(W&?work, ", "take(@x@, @count@, ", text)
    text = re.sub(r"(\w+)\(&left, ", r"\1(@out@, gridDim.x, ", text)
    return re.sub(r"(\w+)\(&?work(, |\))", r"\1(W\2", text)


def bodies(path, kernel):
    """The functions of a kernel's text, and those of the texts it includes, without their kernels and comments."""
    text, own = path.read_text(), path.name[4:-2] == kernel
    for name in re.findall(r'#include "gallery/kernels/(\w+\.h)"', text):
        if name not in ("contract.h", "table.h"):
            yield from bodies(KERNELS / name, kernel)
    if re.match(r"/\*.*?\*/\n", text, re.S):
        text = text[re.match(r"/\*.*?\*/\n", text, re.S).end() :]
    text = re.sub(r"^#.*\n", "", text, flags=re.M)
    if not own:
        text = re.sub(r"^TALLY_KERNEL_OF\(.*?(?:^\}\n|\{.*\}\n)", "", text, flags=re.S | re.M)
    yield text.strip() + "\n\n"


def split(text):
    """Functions and structs, each with the comment before it."""
    pieces, at = [], 0
    for end in re.finditer(r"^(?:\}.*|(?:__device__|TALLY_KERNEL_OF).*\})\n", text, re.M):
        pieces.append(text[at : end.end()].strip() + "\n")
        at = end.end()
    return pieces


def kernel_text(row, rows):
    number, name = int(row["number"]), row["name"]
    if number == 0:
        return PLAIN_READ
    whole, seen = "", set()
    for text in bodies(KERNELS / f"{number:03d}_{name}.h", name):
        whole += "" if text in seen else text
        seen.add(text)
    for other in rows:
        for what in ("threads", "each", "shared"):
            whole = re.sub(rf"TALLY_{what.upper()}_{other['name']}\b", other[what], whole)
    # steps are for pictures only, and so is their number
    whole = re.sub(r"^ *tally_step\(.*\n", "", whole, flags=re.M)
    whole = re.sub(r",\s*(?:int32_t )?level(?: = [\w -]+)?(?=[,;)])", "", whole)
    whole = re.sub(r"(\breduce_warp(?:_owned)?\([^;{]*), [\w -]+\);", r"\1);", whole)
    whole = whole.replace(", lists = work.run", "")
    whole = re.sub(r"^    tally_work left = work;\n|^    left\.\w+ = .*\n", "", whole, flags=re.M)
    whole = re.sub(r"^TALLY_FN TALLY_E from_above\(.*?^\}\n", "", whole, flags=re.S | re.M)
    # matrices have 32 rows
    whole = re.sub(r"^/\*[^/]*\*/\nTALLY_FN \w+ reduce_high_\w+\(.*?^\}\n", "", whole, flags=re.S | re.M)
    whole = whole.replace("reduce_high_", "reduce_")
    if name == "merge_lists":
        whole = re.sub(r"\bvalues\[", "@x@[", whole)
        whole = re.sub(r"\blists\b", "@lists@", whole)
    for word, meaning in list(PLAIN.items())[:1] + [(w, m) for w, m in PLAIN.items() if "work.x" in w]:
        whole = whole.replace(word, meaning)
    whole = expand(whole)
    for word, meaning in PLAIN.items():
        if word not in ("int32_t", "uint"):
            whole = whole.replace(word, meaning)
    whole = re.sub(r"\bTALLY_E\b", "float", whole)
    whole = re.sub(r"\buint32_t\b", "unsigned", whole)
    whole = re.sub(r"\bint32_t\b", "int", whole)
    for shared in re.findall(r"__shared__ \w+ (\w+);", whole):
        whole = re.sub(rf"\*{shared}\b", shared, whole)
    whole = work_of(whole)
    return given(name, whole)


def given(name, text):
    """Each function is given of the work what it and those that it calls ask for."""
    pieces = split(text)
    names = [re.search(r"(?:TALLY_KERNEL_OF\((\w+)\)|__device__ [\w ]+?\*?(\w+)\()", piece) for piece in pieces]
    names = [(found.group(1) or found.group(2)) if found else None for found in names]
    needs = {n: set(re.findall(r"@(\w+)@", piece)) for n, piece in zip(names, pieces) if n}
    needs["leave_behind"] = needs["leave_before"] = {"out", "out_ids", "output"}
    for _ in names:
        for n, piece in zip(names, pieces):
            if n:
                for called in re.findall(r"(\w+)\(W", piece):
                    needs[n] |= needs[called]
    called = {name}
    for piece, n in reversed(list(zip(pieces, names))):
        if n in called:
            called |= set(re.findall(r"\b(\w+)\(", piece))
    made = ""
    for piece, n in zip(pieces, names):
        struct = re.search(r"typedef struct (\w+)", piece)
        used = "".join(p for p, m in zip(pieces, names) if m in called)
        if (n and n not in called) or (struct and not re.search(rf"\b{struct.group(1)} ", used)):
            continue
        parts = lambda of: [part for part in GIVEN if part in needs[of]]  # noqa: E731
        call = lambda m: f"{m.group(1)}({', '.join(parts(m.group(1)))}{m.group(2) or ', '}"  # noqa: E731
        piece = re.sub(r"(\w+)\(W(, |\)|(?=\w))", call, piece)
        if n:
            parameters = ", ".join(GIVEN[part] for part in parts(n))
            piece = piece.replace("const tally_work *work", parameters)
            piece = piece.replace(f"TALLY_KERNEL_OF({n})", f"__global__ void {n}({parameters})")
        made += re.sub(r"@(\w+)@", r"\1", piece) + "\n"
    made = re.sub(r"typedef struct (\w+) \{(.*?)\} \w+;", r"struct \1 {\2};", made, flags=re.S)
    made = re.sub(r"/\* (.*?)\s*\*/", lambda m: "// " + re.sub(r"\n \* ", "\n// ", m.group(1)), made, flags=re.S)
    head = OPERATOR % ""
    if "take(" in made:
        head += TAKE
    if "take_vector(" in made:
        head += ("" if "take(" in head else TAKE) + TAKE_VECTOR
    for side, operands in (("behind", "output[segment_id], e"), ("before", "e, output[segment_id]")):
        if f"leave_{side}(" in made:
            head += LEAVE % (side, operands)
    return head + made, [part for part in GIVEN if part in needs[name]]


# ---- the host ----

HOST = (HERE / "host.txt").read_text()
PLANS = dict(re.findall(r"^-- (\w+)\n(.*?)(?=^-- |\Z)", HOST, re.S | re.M))


def host_text(row, arguments):
    plan = row["plan"].removeprefix("TALLY_PLAN_").lower()
    if row["segment_ids"] == "1":
        plan = "segments_" + plan
    text = PLANS["begin"] + PLANS[plan] + ("" if plan in ("merge", "read") else PLANS["end"])
    if row["segment_ids"] == "1":
        text = PLANS["begin"] + PLANS["segments_begin"] + PLANS[plan] + PLANS["segments_end"]
    for key in ("name", "threads", "each"):
        text = text.replace(f"${key}", row[key])
    return text


def formatted(text):
    return subprocess.run(
        ["clang-format", f"--style={STYLE}", "--assume-filename=x.cu"],
        input=text,
        capture_output=True,
        text=True,
        check=True,
    ).stdout


def files():
    rows = list(pages.table_rows())
    for row in rows:
        number, name = int(row["number"]), row["name"]
        title, parts = pages.opening(KERNELS / f"{number:03d}_{name}.h", number, name)
        text = kernel_text(row, rows)
        if number == 0:
            text = (OPERATOR % "") + text, ["x", "count", "out"]
        comment = textwrap.fill(f"{number:03d} {name}: {title}. Source: {parts['Source']}", 97)
        comment += f"\nPlain CUDA, made of gallery/kernels. nvcc -O3 {number:03d}_{name}.cu && ./a.out"
        comment = "".join(f"// {line}\n" for line in comment.splitlines())
        includes = "".join(f"#include <{header}>\n" for header in HEADERS) + "\n"
        body = text[0] + "// ---- the host: runs it over random values, and checks the result\n\n"
        yield HERE / f"{number:03d}_{name}.cu", comment + includes + formatted(body + host_text(row, text[1]))


def main():
    check = sys.argv[1:] == ["--check"]
    if shutil.which("clang-format") is None:
        print("SKIPPED: gallery/cuda/generate.py needs clang-format")
        return 0
    for path, text in files():
        if path.exists() and path.read_text() == text:
            continue
        if check:
            sys.exit(f"{path.name}: it is stale: run gallery/cuda/generate.py")
        path.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
