"""The page of a report in a real browser: Debian's `chromium` and `chromium-driver`, driven by Selenium."""

import itertools

import msgspec
import pytest
from watched import HOSTILE, saboteur, talker, watch

pytest.importorskip("selenium", reason="needs an environment of its own: make test-integrations")

from browsing import (
    colour,
    focused,
    hard_to_read,
    luminance,
    milliseconds_to_open,
    open_page,
    press,
    start_browser,
    unfold,
)
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.select import Select
from selenium.webdriver.support.wait import WebDriverWait

from tool_envs.evaluation.page import page_of
from tool_envs.evaluation.runs import Run, Stage, run_of_report
from tool_envs.evaluation.slice_files import read_slice
from tool_envs.evaluation.view import conversations_of, view_of
from tool_envs.evaluation.whole_files import write_whole

SMOKE = read_slice("retail/smoke@1")
PLANTED = "rule broken: explicit_yes"
PLACES = [("two", ""), ("one", "#/episode/0/1"), ("two", "#/task/0")]


@pytest.fixture(scope="module")
def browser():
    driver = start_browser()
    yield driver
    driver.quit()


@pytest.fixture(scope="module")
def pages(browser, tmp_path_factory):  # noqa: ARG001 - without a browser there is nothing to write them for
    """A folder of pages, and what each shows: one run, two, a hostile agent's, one without records."""
    folder, stage = tmp_path_factory.mktemp("pages"), Stage()
    first = run_of(saboteur("explicit_yes", 0.6, rest="silent"), trials=2, marks=("trained on retail 2.0.0",))
    second = run_of(saboteur("explicit_yes", 0.2), trials=2)
    hostile = run_of(talker(*HOSTILE), marks=HOSTILE[:1])
    bare = msgspec.structs.replace(first, records={})
    runs = {"one": [first], "two": [first, second], "hostile": [hostile], "bare": [bare]}
    for name, shown in runs.items():
        told = [dict(conversations_of(run, stage)) for run in shown]
        write_whole(page_of(view_of(*shown), told), folder / f"{name}.html")
    return folder, runs


@pytest.fixture
def opened(browser, pages):
    """Opens a page at an address in it; nothing may go wrong in it until the test is over."""

    def open_named(name, *where, **how):
        open_page(browser, pages[0] / f"{name}.html", *where, **how)
        return browser

    browser.get_log("browser")
    yield open_named
    assert browser.get_log("browser") == []


def run_of(agent, trials=1, marks=()):
    report, records = watch(SMOKE, agent, trials, floors=True)
    return run_of_report(msgspec.structs.replace(report, marks=marks), records)


def planted(run):
    """The places of the episodes that failed for the planted cause."""
    return [place for place, r in enumerate(run.results) if r.failure and r.failure.cause == PLANTED]


def find(browser, where):
    return browser.find_element(By.CSS_SELECTOR, where)


def text_of(browser, where="main"):
    return find(browser, where).text


def rows_of(browser, section="#episodes"):
    """The texts of a table's rows that are shown."""
    return browser.execute_script(
        "return [...document.querySelectorAll(arguments[0])].filter((row) => row.checkVisibility())"
        ".map((row) => row.textContent)",
        f"section:has(> {section}) tbody tr",
    )


# --- One run


def test_the_first_screen_says_why_it_failed(opened, pages):
    [run] = pages[1]["one"]
    browser = opened("one")
    said, link = text_of(browser), find(browser, ".causes a")
    (cause, count), *_ = run.scores.causes.items()
    assert link.text == cause == PLANTED
    assert f"{count} of {sum(run.scores.causes.values())}" in said
    assert link.rect["y"] + link.rect["height"] < 900
    assert f"{run.scores.rate:.3f}" in said
    assert "trivial agents 0.000" in said
    assert "Not comparable: trained on retail 2.0.0" in said
    assert SMOKE.digest[:12] in said
    assert "interface" in said


def test_the_score_stands_between_the_floor_and_the_oracle(opened, pages):
    [run] = pages[1]["one"]
    line = find(opened("one"), ".line")
    middles = {}
    for name in ("floor", "range", "dot", "oracle"):
        box = line.find_element(By.CLASS_NAME, name).rect
        middles[name] = (box["x"] + box["width"] / 2 - line.rect["x"]) / line.rect["width"]
    rate = run.scores.success_rate
    expected = {"floor": 0.0, "range": (rate.low + rate.high) / 2, "dot": rate.value, "oracle": 1.0}
    assert middles == pytest.approx(expected, abs=0.01)
    assert f"{rate.value:.3f}" in line.get_attribute("aria-label")


def test_a_cause_leads_to_the_step_that_broke_the_rule(opened):
    browser = opened("one")
    press(browser, find(browser, ".causes a"), Keys.ENTER)
    assert focused(browser).tag_name == "h1"
    step = find(browser, ".turn.broken")
    assert "Rule broken: explicit_yes" in step.text
    assert "record changed" in step.text
    press(browser, find(browser, "button.link"), Keys.ENTER)
    assert focused(browser) == step
    browser.back()
    assert focused(browser).text == PLANTED


def test_calls_are_folded_and_open_from_the_keyboard(opened, pages):
    browser = opened("one", f"#/episode/0/{planted(pages[1]['one'][0])[0]}")
    fold = find(browser, ".call details")
    assert not fold.find_element(By.TAG_NAME, "pre").is_displayed()
    press(browser, fold.find_element(By.TAG_NAME, "summary"), Keys.ENTER)
    assert fold.find_element(By.TAG_NAME, "pre").is_displayed()
    everything = find(browser, ".headed button")
    press(browser, everything, Keys.SPACE)
    assert all(pre.is_displayed() for pre in browser.find_elements(By.CSS_SELECTOR, ".turns pre"))
    assert everything.get_attribute("aria-pressed") == "true"


def test_episodes_are_filtered(opened, pages):
    [run] = pages[1]["one"]
    browser = opened("one")
    choose = {name: Select(browser.find_element(By.NAME, name)) for name in ("cause", "status", "family")}
    assert len(rows_of(browser)) == len(run.results)
    choose["cause"].select_by_value(PLANTED)
    assert len(rows_of(browser)) == len(planted(run))
    choose["family"].select_by_value("cancel")
    cancelled = sum(run.results[place].family == "cancel" for place in planted(run))
    assert len(rows_of(browser)) == cancelled > 0
    assert text_of(browser, "#shown") == f"{cancelled} of {len(run.results)} episodes"
    choose["status"].select_by_value("success")
    assert rows_of(browser) == []


def test_episodes_are_found_by_what_was_said_in_them(opened, pages):
    [run] = pages[1]["one"]
    browser = opened("one")
    browser.find_element(By.NAME, "text").send_keys("YARA_HALL_4239")
    named = [place for place, record in run.records.items() if "yara_hall_4239" in record.to_line()]
    WebDriverWait(browser, 20).until(lambda _: len(rows_of(browser)) < len(run.results))
    assert len(rows_of(browser)) == len(named) > 0


def test_filters_are_kept_and_lead_from_episode_to_episode(opened, pages):
    places = planted(pages[1]["one"][0])
    browser = opened("one")
    Select(browser.find_element(By.NAME, "cause")).select_by_value(PLANTED)
    here, after = next(pair for pair in itertools.pairwise(places) if pair[1] > pair[0] + 1)
    press(browser, find(browser, f"tbody a[href='#/episode/0/{here}']"), Keys.ENTER)
    assert browser.current_url.endswith(f"#/episode/0/{here}")
    press(browser, browser.find_element(By.PARTIAL_LINK_TEXT, "next"), Keys.ENTER)
    assert browser.current_url.endswith(f"#/episode/0/{after}")
    press(browser, browser.find_element(By.LINK_TEXT, "Report"), Keys.ENTER)
    assert len(rows_of(browser)) == len(places)


@pytest.mark.parametrize("address", ["#/episode/0/9999", "#/episode/7/0", "#/episode/x/y", "#/task/0", "#x"])
def test_an_address_that_names_nothing_shows_the_report(opened, pages, address):
    [run] = pages[1]["one"]
    assert f"{run.scores.rate:.3f}" in text_of(opened("one", address))


def test_without_records_the_page_says_so(opened):
    browser = opened("bare")
    press(browser, find(browser, ".causes a"), Keys.ENTER)
    assert "There is no record of this episode" in text_of(browser)


# --- What is shown is text


def test_what_a_hostile_agent_writes_is_text(opened, pages):
    [run] = pages[1]["hostile"]
    browser = opened("hostile")
    assert f"Not comparable: {HOSTILE[0]}" in text_of(browser)
    assert run.agent.name in browser.title
    for place in (0, len(run.results) - 1):
        opened("hostile", f"#/episode/0/{place}")
        said = [each.get_property("textContent") for each in browser.find_elements(By.CLASS_NAME, "said")]
        assert HOSTILE[0] in said
        assert HOSTILE[1] in said
        assert not browser.find_elements(By.CSS_SELECTOR, "main script, main img, main b, main i")
    assert browser.execute_script("return window.broken") is None


def test_nothing_is_fetched_and_no_other_script_would_run(browser, opened):
    opened("hostile")
    assert browser.execute_script("return performance.getEntriesByType('resource').length") == 0
    browser.execute_script(
        "const script = document.createElement('script');"
        "script.textContent = 'window.broken = true'; document.body.append(script);"
        "document.body.append(Object.assign(new Image(), { src: 'http://127.0.0.1:9/x.png' }));"
    )
    assert browser.execute_script("return window.broken") is None
    refused = [entry["message"] for entry in browser.get_log("browser")]
    assert len(refused) == 2
    assert all("Content Security Policy" in message for message in refused)


# --- For everybody


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(("name", "address"), PLACES)
def test_texts_can_be_read(opened, name, address, scheme):
    """Contrast of at least 4.5 to 1: WCAG 2.2, success criterion 1.4.3 (AA)."""
    browser = opened(name, address, scheme=scheme)
    unfold(browser)
    pale, count = hard_to_read(browser, 4.5)
    assert count > 40
    assert pale == []


def test_dark_mode_is_dark(opened):
    light, dark = (
        find(opened("one", scheme=scheme), "body").value_of_css_property("background-color")
        for scheme in ("light", "dark")
    )
    assert luminance(colour(light)) > 0.8
    assert luminance(colour(dark)) < 0.05


@pytest.mark.parametrize("width", [400, 1400])
@pytest.mark.parametrize(("name", "address"), [*PLACES, ("hostile", "#/episode/0/0")])
def test_nothing_is_wider_than_the_window(opened, name, address, width):
    browser = opened(name, address, width=width)
    unfold(browser)
    assert browser.execute_script("return document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize(("name", "address"), PLACES[:2])
def test_the_keyboard_gets_everywhere_and_shows_where_it_is(opened, name, address):
    browser = opened(name, address)
    wanted = browser.execute_script(
        "return [...document.querySelectorAll('a, button, select, input, summary')]"
        ".filter((each) => each.checkVisibility())"
    )
    met = []
    for _ in range(60):
        browser.switch_to.active_element.send_keys(Keys.TAB)
        here = browser.switch_to.active_element
        if here.tag_name == "body":
            break
        met.append(here)
        assert here.accessible_name
        assert here.value_of_css_property("outline-style") == "solid"
    order = [element for element in met if element in wanted]
    assert order == wanted[: len(order)]
    assert len(order) >= min(len(wanted), 30)


def test_the_skip_link_goes_to_the_content(opened):
    browser = opened("one")
    press(browser, find(browser, "body"), Keys.TAB)
    assert focused(browser).get_attribute("id") == "skip"
    assert focused(browser).rect["x"] >= 0
    press(browser, focused(browser), Keys.ENTER)
    assert focused(browser).get_attribute("id") == "main"


# --- Two runs


def test_two_runs_stand_side_by_side(opened, pages):
    first, second = pages[1]["two"]
    browser = opened("two")
    said = text_of(browser)
    assert f"{second.scores.rate - first.scores.rate:+.3f}" in said
    assert "Not comparable: First: trained on retail 2.0.0" in said
    differing = len(rows_of(browser, "#tasks"))
    press(browser, find(browser, "#differing"), Keys.SPACE)
    assert 0 < differing < len(rows_of(browser, "#tasks")) == len(SMOKE.tasks)

    press(browser, find(browser, "section:has(> #tasks) tbody a"), Keys.ENTER)
    sides = [find(browser, f"[data-side='{side}']") for side in (0, 1)]
    assert [side.find_element(By.TAG_NAME, "h2").text for side in sides] == [
        f"First: {first.agent.name}",
        f"Second: {second.agent.name}",
    ]
    assert sides[0].rect["y"] == sides[1].rect["y"]
    assert all(side.find_elements(By.CSS_SELECTOR, ".turn") for side in sides)


# --- A thousand episodes


def test_a_thousand_episodes_open_almost_as_fast_as_one(browser, pages, tmp_path):
    """As a ratio to the page with one of the episodes, since the speed of a machine is no law."""
    [run] = pages[1]["one"]
    told = dict(conversations_of(run, Stage()))
    many = [
        (msgspec.structs.replace(result, trial=copy), run.records[place], told[place])
        for copy in range(12)
        for place, result in enumerate(run.results)
    ]
    assert len(many) >= 1000
    for name, chosen in (("one", many[:1]), ("thousand", many)):
        results, records, conversations = zip(*chosen, strict=True)
        report = msgspec.structs.replace(run.report, results=results)
        shown = Run(agent=run.agent, report=report, results=results, records=dict(enumerate(records)))
        write_whole(page_of(view_of(shown), [dict(enumerate(conversations))]), tmp_path / f"{name}.html")

    one, thousand = (
        min(milliseconds_to_open(browser, tmp_path / f"{name}.html") for _ in range(5))
        for name in ("one", "thousand")
    )
    size = (tmp_path / "thousand.html").stat().st_size / 1e6
    print(f"{len(many)} episodes, {size:.1f} MB: {thousand:.0f} ms until shown, {one:.0f} ms for one episode")
    assert thousand < 25 * one
