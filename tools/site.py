#!/usr/bin/env python3
"""tools/site.py OUT [COURSE]: the documentation as the sources of a site, for mkdocs (`make docs` builds it).

COURSE is the page of tally course. OUT gets mkdocs.yml and docs/: the pages of docs/ and gallery/, README.md,
CONTRIBUTING.md, CHANGELOG.md, the pages of the interface made from the comments of include/tally/tally.h, and the
other files that pages point to. Links between them are changed to where they are there.
"""

import os
import pathlib
import re
import shutil
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
NAV = """nav:
  - Start: readme.md
  - Guide: guide.md
  - Reference:
      - The interface: api.md
      - Operators: operators.md
      - GPUs: gpu.md
      - States: states.md
      - Glossary: glossary.md
  - Internals:
      - All pages: index.md
      - The canonical order: order.md
      - Exact sums: exact.md
      - Contributing: contributing.md
      - Changelog: changelog.md
  - Design:
%s
  - Learn:
      - The gallery: gallery/gallery.md
      - A paper of 2012: gallery/paper.md
      - Errata: gallery/errata.md
  - Results:
      - Results: results.md
      - How it was measured: measurements/README.md
"""
CONFIG = """site_name: Tally
theme:
  name: material
  font: false
  features: [navigation.sections, navigation.top, content.code.copy]
  palette:
    - {media: "(prefers-color-scheme: light)", scheme: default}
    - {media: "(prefers-color-scheme: dark)", scheme: slate}
markdown_extensions: [tables, fenced_code, attr_list, md_in_html, {toc: {permalink: true}}]
plugins: [search]
use_directory_urls: false
validation: {nav: {omitted_files: ignore}, links: {anchors: warn, not_found: warn, unrecognized_links: warn}}
"""
LINK = re.compile(r"(\]\()([^)\s]+)(\))")


def place(path):
    """Where a file of the repository is on the site; None: a folder, which is not."""
    if path.startswith("docs/"):
        return path.removeprefix("docs/")
    if path.startswith("gallery/pages/"):
        return path.replace("gallery/pages/", "gallery/", 1)
    if path == "include/tally/tally.h":
        return "api.md"
    if path.endswith(".md"):
        return path.lower().replace("/", "-")
    return None if (ROOT / path).is_dir() else "source/" + path


def moved(text, page, copied):
    """The text of a page with its links as they are on the site; copied gets the other files that it points to."""
    at = os.path.dirname(place(page))

    def link(match):
        target, _, anchor = match.group(2).partition("#")
        if not target or re.match(r"[a-z]+:", target):
            return match.group(0)
        path = os.path.normpath(os.path.join(os.path.dirname(page), target))
        new = place(path)
        if new is None:
            new = place(path + "/README.md") if (ROOT / path / "README.md").exists() else "contributing.md"
            path = path + "/README.md" if (ROOT / path / "README.md").exists() else "CONTRIBUTING.md"
        copied.add(path)
        return match.group(1) + os.path.relpath(new, at or ".") + ("#" + anchor if anchor else "") + match.group(3)

    parts = re.split(r"(^```.*?^```|`[^`\n]*`)", text, flags=re.M | re.S)
    return "".join(LINK.sub(link, part) if k % 2 == 0 else part for k, part in enumerate(parts))


# ---- the interface ----


def paragraphs(comment):
    """The words of a C comment as Markdown: paragraphs, and lists where it has them."""
    text = re.sub(r"^\s*(/\*+|\*/|\* ?)", "", re.sub(r"\s*\*/\s*$", "", comment), flags=re.M)
    text = re.sub(r"^ +- ", "\n- ", text, flags=re.M)
    text = re.sub(r"^(TALLY_[A-Z_]+): ", r"\n- `\1`: ", text, flags=re.M)
    text = re.sub(r"(?<![`\w/])((?:TALLY|tally)_\w+(?:\(\))?)(?![`\w])", r"`\1`", text)
    blocks = [
        re.sub(r"\s*\n\s+", " ", block.strip()) if not block.startswith("     ") else block
        for block in re.split(r"\n(?=\n)", text)
    ]
    return "\n\n".join(block.strip("\n").replace("*", "\\*") for block in blocks if block.strip())


def interface():
    """include/tally/tally.h: a section for each of its parts, a heading for each comment with what it describes."""
    text = (ROOT / "include" / "tally" / "tally.h").read_text()
    head, body = text.split("#ifndef TALLY_H", 1)
    words, example = paragraphs(head), re.search(r"^ \*     double.*\n( \*     .*\n)+", head, re.M).group()
    out = ["# The interface", "Made from the comments of `include/tally/tally.h`.",
           "```c\n" + re.sub(r"^ \*     ", "", example, flags=re.M) + "```", words.split("\n\n", 2)[2]]  # fmt: skip
    for part in re.split(r"^/\* ---- ", body, flags=re.M)[1:]:
        title, rest = part.split(" -", 1)
        out.append(f"## {title.strip()[0].upper() + title.strip()[1:]}")
        rest = rest.split("*/", 1)[1]
        for block in rest.strip().split("\n\n"):
            comment, code = re.fullmatch(r"(/\*.*?\*/\n|)(.*)", block, re.S).groups()
            names = re.findall(r"\b(tally_[a-z_0-9]+)\(", re.sub(r"/\*.*?\*/|\{.*?^\}", "", code, flags=re.S | re.M))
            names = names or re.findall(r"^(?:typedef (?:struct|enum|union) )(\w+)", code, re.M)
            if not code or code.startswith("#"):
                continue
            out.append("### " + (", ".join(dict.fromkeys(names)) or "Numbers"))
            if comment:
                out.append(paragraphs(comment))
            out.append("```c\n" + code.rstrip() + "\n```")
    return "\n\n".join(out) + "\n"


def main():
    site = pathlib.Path(sys.argv[1])
    shutil.rmtree(site / "docs", ignore_errors=True)
    pages = [
        page.relative_to(ROOT).as_posix()
        for pattern in ("docs/**/*.md", "gallery/**/*.md", "*.md")
        for page in sorted(ROOT.glob(pattern))
    ]
    copied, done = set(pages), set()
    while copied - done:
        for path in sorted(copied - done):
            done.add(path)
            to = site / "docs" / place(path)
            to.parent.mkdir(parents=True, exist_ok=True)
            if path == "include/tally/tally.h":
                to.write_text(interface())
            elif path.endswith(".md"):
                to.write_text(moved((ROOT / path).read_text(), path, copied))
            else:
                shutil.copy(ROOT / path, to)
    if len(sys.argv) > 2:
        shutil.copy(sys.argv[2], site / "docs" / "gallery" / "course.html")
        page = site / "docs" / "gallery" / "gallery.md"
        page.write_text(page.read_text().replace("\n```\n", "\n[The page of the course](course.html)\n\n```\n", 1))
    titles = [
        (page, (ROOT / page).read_text().split("\n", 1)[0].lstrip("# "))
        for page in pages
        if page.startswith("docs/design/")
    ]
    design = "\n".join(f'      - "{title}": {place(page)}' for page, title in titles)
    (site / "mkdocs.yml").write_text(CONFIG + NAV % design)
    print(f"{len(done)} pages and files in {site}")


if __name__ == "__main__":
    sys.exit(main())
