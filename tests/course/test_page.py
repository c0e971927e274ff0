"""The page of the course in headless Chromium: it opens from a file, without a server; the slider moves, keys work, no
error is logged; it is readable on a phone and in the dark. Skipped, with a word, where Chromium or Selenium is missing.

TALLY_COMMAND names the command (build/tally)."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TALLY = os.environ.get("TALLY_COMMAND", str(ROOT / "build" / "tally"))
webdriver = pytest.importorskip("selenium.webdriver", reason="no python3-selenium: tools/setup.sh course")
if shutil.which("chromium") is None or shutil.which("chromedriver") is None:
    pytest.skip("no chromium and chromedriver: tools/setup.sh course", allow_module_level=True)


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    path = tmp_path_factory.mktemp("course") / "course.html"
    subprocess.run([TALLY, "course", "-o", path], check=True)
    return path


@pytest.fixture(scope="module")
def chromium():
    from selenium.webdriver.chrome.options import Options
    from selenium.webdriver.chrome.service import Service

    options = Options()
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--window-size=1400,1000"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(service=Service(shutil.which("chromedriver")), options=options)
    yield driver
    driver.quit()


@pytest.fixture
def browser(chromium, page):
    chromium.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    chromium.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
    chromium.get("about:blank")
    chromium.get(page.as_uri() + "#interleaved")
    yield chromium
    errors = [line for line in chromium.get_log("browser") if line["level"] in ("SEVERE", "WARNING")]
    assert errors == []


def ask(browser, script, *arguments):
    return browser.execute_script("return " + script, *arguments)


def wait_for(browser, condition):
    from selenium.webdriver.support.wait import WebDriverWait

    WebDriverWait(browser, 20, 0.05).until(lambda _: ask(browser, condition))


def press(browser, key):
    from selenium.webdriver.common.by import By

    browser.find_element(By.TAG_NAME, "body").send_keys(key)


def kernels(page):
    return json.loads(re.search(r'id="data">(.*?)</script>', page.read_text(), re.S).group(1))["kernels"]


def test_needs_nothing_from_outside(browser, page):
    text = page.read_text()
    assert re.findall(r'(?:src|href)="(?!#)[^"]*"', text) == []
    assert re.findall(r"https?://(?!www\.w3\.org/2000/svg)[^\s\"'\\]+", text.split('id="data">')[0]) == []
    asked = [json.loads(line["message"])["message"] for line in browser.get_log("performance")]
    urls = {m["params"]["request"]["url"] for m in asked if m["method"] == "Network.requestWillBeSent"}
    assert {url for url in urls if not url.startswith(("file:", "data:", "about:"))} == set()


def test_every_kernel_opens(browser, page):
    made = kernels(page)
    assert len(made) >= 28
    for kernel in made:
        ask(browser, "open(arguments[0], false)", kernel["name"])
        assert ask(browser, "document.getElementById('title').textContent").startswith(
            f"{kernel['number']}. {kernel['name']} "
        )
        assert "__global__ void" in ask(browser, "document.querySelector('pre').textContent")
        words = ask(browser, "document.getElementById('kernel').textContent")
        assert "undefined" not in words and "null" not in words and "NaN" not in words
        assert "TALLY_" not in words
        if kernel["number"] > 0:
            steps = len(kernel["picture"]["frames"])
            assert ask(browser, "document.querySelectorAll('#kernel g.frame').length") == steps
        assert ask(browser, "document.querySelectorAll('.figure svg').length") == ("figure" in kernel)
    assert {k["name"] for k in made if "figure" in k} == {"matrix", "persistent_matrix", "diffwarps"}


def test_prose_agrees_with_counts(page):
    """Barriers that a block meets at, where a kernel says how many in short."""
    words = {"one": 1, "two": 2, "nine": 9}
    said = 0
    for kernel in kernels(page):
        found = re.match(r"(\w+) barriers?( a block|,)", kernel["parts"]["In short"])
        if found and found.group(1) in words:
            assert kernel["counts"]["barriers"] == words[found.group(1)], kernel["name"]
            said += 1
    assert said >= 5


def test_slider_and_keys(browser):
    from selenium.webdriver.common.keys import Keys

    seen = "document.querySelectorAll('g.frame:not(.later)').length"
    assert ask(browser, seen) == 1
    press(browser, Keys.ARROW_RIGHT)
    assert ask(browser, seen) == 2
    assert "8 threads make something" in ask(browser, "document.querySelector('.say').textContent")
    press(browser, Keys.ARROW_LEFT)
    assert ask(browser, seen) == 1
    ask(browser, "(() => { const s = document.querySelector('input[type=range]'); s.value = s.max;"
        " s.dispatchEvent(new Event('input')); })()")  # fmt: skip
    assert ask(browser, seen) == ask(browser, "document.querySelectorAll('g.frame').length")
    press(browser, "n")
    assert ask(browser, "location.hash") == "#halves"
    press(browser, "p")
    assert ask(browser, "location.hash") == "#interleaved"
    ask(browser, "(() => { location.hash = '#warp_halves_padded'; })()")
    ask(browser, "scrollTo(0, document.body.scrollHeight)")
    press(browser, "n")  # in the order of the course, and from its beginning
    assert ask(browser, "location.hash") == "#warp_halves_once"
    nav, title = (f"document.querySelector('{what}').getBoundingClientRect()" for what in ("nav", "#title"))
    wait_for(browser, f"{nav}.bottom <= {title}.top && {title}.top <= 200")  # the event of a hash comes later


def test_values(browser):
    """Boxes can show values in place of inputs: those of the first digits of pi."""
    ask(browser, "(() => { const s = document.querySelector('select[aria-label=\"what boxes show\"]'); s.value = 'sum';"
        " s.dispatchEvent(new Event('change')); })()")  # fmt: skip
    texts = ask(browser, "[...document.querySelectorAll('text[data-h]')].map((t) => t.textContent)")
    assert texts[:4] == ["3", "1", "4", "1"]
    assert texts[-1] == str(sum([3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3]))


def test_predict_then_reveal(browser):
    hidden = "document.querySelector('.predict > div').hidden"
    assert ask(browser, hidden) is True
    ask(browser, "document.getElementById('reveal').click()")
    assert ask(browser, hidden) is False
    ask(browser, "document.getElementById('ask').click()")
    ask(browser, "[...document.querySelectorAll('button.main')].find((b) => b.textContent.startsWith('step')).click()")
    ask(browser, "(() => { const f = document.querySelector('form.quiz'); f.querySelector('input').value = 3;"
        " f.requestSubmit(); })()")  # fmt: skip
    assert "You said 3; it is 8." in ask(browser, "document.querySelector('.say').textContent")


def test_prediction(browser, page):
    """What memory alone would take, of all multiprocessors or of the one that has work: never more than is measured by
    much."""
    for kernel in kernels(page):
        row = [cell for cell in ask(browser, f"[...document.querySelectorAll('tr[data-name={kernel['name']}] td')]"
                                             ".map((cell) => cell.textContent)")]  # fmt: skip
        names = ask(browser, "[...document.querySelectorAll('th button')].map((button) => button.textContent)")
        predicted, measured = (row[names.index(name)].replace(",", "") for name in ("predicted µs", "measured µs"))
        assert (predicted == "–") == (measured == "–")
        if measured != "–":
            assert 0.001 * float(measured) < float(predicted) < 1.3 * float(measured), kernel["name"]
            assert (float(predicted) > 1000) == (kernel["name"] in ("one_block", "one_block_ordered", "block_of_warps"))


def test_table(browser):
    first = "document.querySelector('#table tbody tr:not(.chapter) .name').textContent"
    assert ask(browser, first) == "plain_read"
    ask(browser, "[...document.querySelectorAll('th button')].find((b) => b.textContent === 'measured µs').click()")
    assert ask(browser, first) == "plain_read"
    ask(browser, "[...document.querySelectorAll('th button')].find((b) => b.textContent === 'measured µs').click()")
    assert ask(browser, first) == "one_block_ordered"


@pytest.mark.parametrize("name", ["interleaved", "diffwarps", "segmented_matrix"])
def test_phone(browser, name):
    browser.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride", {"width": 375, "height": 800, "deviceScaleFactor": 2, "mobile": True}
    )
    ask(browser, "open(arguments[0], false)", name)
    assert ask(browser, "innerWidth") == 375
    assert ask(browser, "document.documentElement.scrollWidth") <= 375
    assert ask(browser, "parseFloat(getComputedStyle(document.querySelector('.lead')).fontSize)") >= 15
    ask(browser, "document.querySelector('.scroll').scrollTo(9999, 0)")
    assert 0 <= ask(browser, "document.querySelector('td.name').getBoundingClientRect().left") < 40  # names stay
    assert ask(browser, "document.querySelector('#sweep-list svg').getBoundingClientRect().width") >= 560  # it scrolls
    box = "document.querySelector('button.main').getBoundingClientRect()"
    assert ask(browser, box + ".right") <= 375 and ask(browser, box + ".height") >= 28


def test_dark(browser):
    def lightness(script):
        return sum(int(v) for v in re.findall(r"\d+", ask(browser, script))[:3])

    paper = "getComputedStyle(document.body).backgroundColor"
    box = "getComputedStyle(document.querySelector('svg rect.sh')).fill"
    assert lightness(paper) > 600
    browser.execute_cdp_cmd(
        "Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": "dark"}]}
    )
    assert lightness(paper) < 150 and lightness(box) < 300
    assert lightness("getComputedStyle(document.body).color") > 600


def test_sweeps(browser, tmp_path):
    """A chart of each sweep that was kept, with a line for each kernel; on a kernel's page its own, with its times."""
    sweep = {"by": "threads of a block", "n": 9, "shape": "", "values": [32, 64, 128],
             "us": {"tb2": [100, 50.25, None], "grid": [2500, 700, 600]}}  # fmt: skip
    kept = {"op": "min", "type": "f32", "n": 9, "device": "a GPU", "runs": {"whole": []}, "sweeps": [sweep]}
    (tmp_path / "kept.json").write_text(json.dumps(kept))
    subprocess.run([TALLY, "course", "-o", tmp_path / "own.html", "--measured", tmp_path / "kept.json"], check=True)
    browser.get((tmp_path / "own.html").as_uri() + "#tb2")
    points = "[...document.querySelectorAll(arguments[0])].map((line) => line.getAttribute('points').split(' ').length)"
    texts = "[...document.querySelectorAll(arguments[0])].map((text) => text.textContent)"
    assert ask(browser, points, "#sweep-list polyline") == [2, 3]
    assert sorted(ask(browser, texts, "#sweep-list .name")) == ["grid", "tb2"]
    assert ask(browser, points, "#kernel .sweep polyline") == [2]
    assert ask(browser, texts, "#kernel .sweep text.mine") == ["100 µs", "50.3 µs"]
    ask(browser, "open('matrix', false)")
    assert ask(browser, points, "#kernel .sweep polyline") == []


def test_exercises(browser):
    assert ask(browser, "document.querySelectorAll('#exercise-list details').length") == 10
    assert ask(browser, "document.querySelectorAll('#solution-list details').length") == 10
    assert ask(browser, "[...document.querySelectorAll('#solution-list pre')].every((p) => p.querySelector('.u'))")


def test_own_measurement(browser, tmp_path):
    """--measured: the times of another race; what is no race is refused."""
    race = {"op": "sum", "type": "f32", "n": 1000, "shape": "", "device": "a GPU", "most_threads": 2048, "kernels": [
        {"kernel": "plain_read", "seconds": 1e-6, "bytes": 4000, "registers": 20},
        {"kernel": "tb2", "seconds": 4e-6, "bytes": 4000, "registers": 30, "threads": 256, "resident": 5}],
        "alone": [{"kernel": "tb2", "n": 512, "right": True, "seconds": 1.234e-6}]}  # fmt: skip
    (tmp_path / "race.json").write_text(json.dumps(race))
    path = tmp_path / "own.html"
    subprocess.run([TALLY, "course", "-o", path, "--measured", tmp_path / "race.json"], check=True)
    browser.get(path.as_uri() + "#tb2")
    row = ask(browser, "document.querySelector('#table tr[data-name=tb2]').textContent")
    assert "30" in row and "63 %" in row and "25 %" in row and "4.0" in row and "1,234" in row
    (tmp_path / "race.json").write_text("</script>")
    done = subprocess.run([TALLY, "course", "-o", path, "--measured", tmp_path / "race.json"], capture_output=True)
    assert done.returncode == 1 and b"it is not what tally race --json prints" in done.stderr
