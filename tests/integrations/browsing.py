"""A browser for tests of pages: started, opened at places, asked for what it shows; contrast of colours."""

import os
import shutil

import pytest
from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.support.wait import WebDriverWait

# Every text that is shown, with its size, colours and the background that it stands on, as CSS says them.
_TEXTS = """
const seen = [];
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (walker.nextNode()) {
  const element = walker.currentNode.parentElement;
  const text = walker.currentNode.data.trim();
  if (!text || !element.checkVisibility() || element.closest("script, style, svg")) continue;
  let below = element;
  while (below && getComputedStyle(below).backgroundColor === "rgba(0, 0, 0, 0)") below = below.parentElement;
  const style = getComputedStyle(element);
  seen.push([text.slice(0, 40), style.color,
    below ? getComputedStyle(below).backgroundColor : "rgb(255, 255, 255)"]);
}
return seen;
"""


# Headless Chromium now and then stops asking a page for frames until something else happens: one is waited
# for, but not for ever.
_SETTLED = """
const done = arguments[0];
requestAnimationFrame(() => setTimeout(done));
setTimeout(done, 1000);
"""

# What stands at an infinite time has not happened yet.
_SHOWN = """
const times = [performance.getEntriesByType("navigation")[0].loadEventEnd || Infinity];
times.push(performance.getEntriesByName("report-shown")[0]?.startTime ?? Infinity);
performance.getEntriesByType("paint").forEach((paint) => times.push(paint.startTime));
const shown = Math.max(...times);
return Number.isFinite(shown) ? shown : null;
"""


def start_browser():
    """Debian's Chromium; skips where it is not installed."""
    browser, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if not (browser and driver):
        pytest.skip("needs a browser: apt-get install chromium chromium-driver")
    options = webdriver.ChromeOptions()
    options.binary_location = browser
    options.add_argument("--headless=new")
    options.add_argument("--disable-gpu")
    if os.geteuid() == 0:
        options.add_argument("--no-sandbox")  # Chromium's sandbox refuses to run as root
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    return webdriver.Chrome(options=options, service=Service(driver))


def open_page(browser, path, address="", width=1400, scheme="light"):
    """Opens a file at an address in it, in a window of a width, in a colour scheme."""
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    feature = {"name": "prefers-color-scheme", "value": scheme}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})
    browser.get("about:blank")
    browser.get(f"{path.as_uri()}{address}")


def press(browser, element, key):
    """Presses a key on an element, and waits until the page has done what follows."""
    element.send_keys(key)
    browser.execute_async_script(_SETTLED)


def focused(browser):
    browser.execute_async_script(_SETTLED)
    return browser.switch_to.active_element


def unfold(browser):
    browser.execute_script("document.querySelectorAll('details').forEach((each) => { each.open = true; })")


def hard_to_read(browser, least):
    """The texts whose contrast to what they stand on is below a ratio, and how many texts there are."""
    texts = browser.execute_script(_TEXTS)
    return [text for text in texts if contrast(*map(colour, text[1:])) < least], len(texts)


def milliseconds_to_open(browser, path):
    """From the start of loading until the report was shown, and painted where the browser tells when."""
    browser.get("about:blank")
    browser.get(path.as_uri())
    browser.execute_async_script(_SETTLED)
    return WebDriverWait(browser, 120).until(lambda opened: opened.execute_script(_SHOWN))


def colour(text):
    """Red, green and blue of `rgb(...)`."""
    return [float(part) for part in text[text.index("(") + 1 : -1].split(",")[:3]]


def luminance(rgb):
    """Relative luminance; source: WCAG 2.2, definitions."""
    parts = [part / 255 for part in rgb]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(one, other):
    """Contrast ratio, 1 to 21; source: WCAG 2.2, definitions."""
    low, high = sorted([luminance(one), luminance(other)])
    return (high + 0.05) / (low + 0.05)
