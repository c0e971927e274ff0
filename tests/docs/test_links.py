"""Every link of every page: the file exists, and so does the heading. Needs no network; links to other sites are
left alone."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted(
    page.relative_to(ROOT).as_posix()
    for top in (".", "docs", "kernels", "gallery", "examples", "src", "cli", "bench", "tests", "tools")
    for page in (ROOT / top).glob("*.md" if top == "." else "**/*.md")
)
FENCE = re.compile(r"^```.*?^```", re.M | re.S)


def anchors(page):
    """As GitHub makes them of headings: lower case, no punctuation, dashes for spaces, numbers for the second and
    later."""
    found = set()
    for title in re.findall(r"^#+ (.*)$", FENCE.sub("", page.read_text()), re.M):
        title = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", title)
        anchor = re.sub(r"[^\w\- ]", "", title.lower()).strip().replace(" ", "-")
        number = 0
        while (name := f"{anchor}-{number}" if number else anchor) in found:
            number += 1
        found.add(name)
    return found | set(re.findall(r'<a (?:id|name)="([^"]+)"', page.read_text()))


def links(text):
    text = re.sub(r"`[^`\n]*`", "", FENCE.sub("", text))
    return re.findall(r"\]\(([^)\s]+)\)", text) + re.findall(r'(?:src|href)="([^"]+)"', text)


def check_links(page):
    """The links of a page to files and to their headings."""
    for link in links(page.read_text()):
        if re.match(r"[a-z]+:", link):
            continue
        file, _, anchor = link.partition("#")
        target = (page.parent / file).resolve() if file else page
        assert target.exists(), f"{page} points to {link}, which is not there"
        if anchor and target.suffix == ".md":
            assert anchor in anchors(target), f"{page} points to {link}: {target.name} has no such heading"


@pytest.mark.parametrize("name", PAGES)
def test_links(name):
    check_links(ROOT / name)


def test_index_names_every_page():
    """docs/index.md is the way to every page."""
    index = ROOT / "docs" / "index.md"
    named = {(index.parent / link.partition("#")[0]).resolve() for link in links(index.read_text())}
    kept = [page for page in (ROOT / "docs").rglob("*.md") if page != index and page.parent.name != "measurements"]
    assert [page.name for page in kept if page.resolve() not in named] == []


TOPS = ("bench", "cli", "cmake", "docs", "examples", "gallery", "include", "kernels", "python", "src", "tests", "tools")
FILES = ["/" + file.relative_to(ROOT).as_posix() for top in TOPS for file in (ROOT / top).rglob("*.*")]


@pytest.mark.parametrize("name", [page for page in PAGES if not page.startswith("docs/measurements/")])
def test_paths_in_code(name):
    """A source file that a page names in code, with its folder, is there: the way of a call stays true."""
    text = FENCE.sub("", (ROOT / name).read_text())
    paths = re.findall(r"`(?:\.\./)*((?:[\w.-]+/)*[\w-]+\.(?:h|c|cu|py|sh|in|f90))`", text)
    assert [path for path in paths if not any(file.endswith("/" + path) for file in FILES) and "N" not in path] == []
    assert name != "CONTRIBUTING.md" or len(paths) > 15


def test_words_of_a_text():
    """What docs/operators.md promises to operators given as text is in the headers that they include."""
    page = (ROOT / "docs" / "operators.md").read_text().split("### Words of a text")[1]
    words = re.findall(
        r"`((?:TALLY|tally)_\w+)", "".join(row.split("|")[1] for row in page.splitlines() if row.startswith("| `"))
    )
    assert len(words) > 15
    texts = "".join(file.read_text() for file in (ROOT / "kernels").glob("*/*.h"))
    given = {"TALLY_COLUMN", "TALLY_NODE", "TALLY_START", "TALLY_JOIN"}
    assert [word for word in words if not re.search(rf"\b{word}\b", texts) and word not in given] == []
