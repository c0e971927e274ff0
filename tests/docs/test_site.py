"""The sources of the site (make docs): every page, every function of the interface, and links that lead somewhere.
Needs no network and no mkdocs, which checks them once more."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
import test_links

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    subprocess.run([sys.executable, ROOT / "tools" / "site.py", folder], check=True, capture_output=True)
    return folder


def test_pages(site):
    nav = re.findall(r": ([\w./-]+\.md)$", (site / "mkdocs.yml").read_text(), re.M)
    assert len(nav) > 20
    for page in nav:
        assert (site / "docs" / page).exists(), page
    designs = {page.name for page in (ROOT / "docs" / "design").glob("*.md")}
    assert designs == {Path(page).name for page in nav if page.startswith("design/")}


def test_links_lead_somewhere(site):
    for page in (site / "docs").rglob("*.md"):
        test_links.check_links(page)


def test_interface(site):
    """Each function of the header has a heading, and no comment marks are left."""
    page = (site / "docs" / "api.md").read_text()
    headings = set(re.findall(r"\w+", " ".join(re.findall(r"^### (.*)$", page, re.M))))
    declared = re.findall(
        r"^TALLY_(?:API|CHECKED) .*?\b(tally_\w+)\(", (ROOT / "include/tally/tally.h").read_text(), re.M
    )
    assert len(declared) > 40
    assert [name for name in declared if name not in headings] == []
    words = re.sub(r"^```.*?^```", "", page, flags=re.M | re.S)
    assert "/*" not in words and "*/" not in words
