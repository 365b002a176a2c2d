import os
import shutil
import threading
import time

import pytest

from bestia_env.records import Record, check
from experiments.play.__main__ import Arguments, addresses, open_server

CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
pytestmark = pytest.mark.skipif(
    not (CHROMIUM and DRIVER) and not os.environ.get("CI"),  # CI installs a browser
    reason="needs chromium and chromedriver",
)
CSS = "css selector"
PATIENCE = 240  # seconds; what is compiled the first time takes its while


@pytest.fixture(scope="module")
def url(tmp_path_factory):
    server = open_server(Arguments(port=0, folder=tmp_path_factory.mktemp("tables")))
    stop = threading.Event()
    thread = threading.Thread(target=serve, args=(server, stop))
    thread.start()
    yield addresses(server)[0]
    stop.set()
    thread.join()
    server.asyncore.close_all(server._map)
    server.task_dispatcher.shutdown()


def serve(server, stop):
    """As `server.run` does, which only an interrupt ends."""
    while not stop.is_set():
        server.asyncore.loop(timeout=0.2, map=server._map, count=1)


@pytest.fixture(scope="module")
def downloads(tmp_path_factory):
    return tmp_path_factory.mktemp("downloads")


@pytest.fixture(scope="module")
def browser(downloads):
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    options.add_experimental_option("prefs", {"download.default_directory": str(downloads)})
    driver = webdriver.Chrome(options=options, service=Service(DRIVER))
    yield driver
    driver.quit()


@pytest.fixture
def page(browser, url):
    browser.get_log("browser")
    resize(browser, 1280, 900)
    browser.get(url)
    browser.execute_script("localStorage.setItem('speed', '0')")
    yield Page(browser, url)
    assert [entry for entry in browser.get_log("browser") if entry["level"] == "SEVERE"] == []


def resize(browser, width, height):
    metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)


class Page:
    """What a person does at the page."""

    def __init__(self, browser, url):
        self.browser, self.url = browser, url

    def until(self, css):
        """The first element of a selector, once there is one."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            if found := self.all(css):
                return found[0]
            time.sleep(0.02)
        raise AssertionError(f"no {css} in time: {self.browser.page_source[:3000]}")

    def all(self, css):
        return self.browser.find_elements(CSS, css)

    def text(self, css):
        return self.browser.execute_script(
            "return document.querySelector(arguments[0]).textContent", css
        )

    def told(self, css, text):
        """Wait until an element holds a text."""
        end = time.monotonic() + PATIENCE
        while self.text(css) != text and time.monotonic() < end:
            time.sleep(0.02)
        assert self.text(css) == text

    def choose(self, css, value):
        self.until(css)
        script = """const input = document.querySelector(arguments[0]); input.value = arguments[1];
            input.dispatchEvent(new Event("input", {bubbles: true}));
            input.dispatchEvent(new Event("change", {bubbles: true}));"""
        self.browser.execute_script(script, css, value)

    def set_up(self, game, num_players, seed=3, **choices):
        self.browser.get(self.url)
        self.until("#seats li")
        self.until(f"[value={game}]").click()
        self.choose("[name=num_players]", str(num_players))
        self.choose("[name=seed]", str(seed))
        for css, value in choices.items():
            self.choose(f"[name={css}]", value)
        self.until("#submit").click()
        self.ready()

    def ready(self):
        """Wait for the person's turn or the end of the hand."""
        self.until("#turn[aria-busy=false]")

    def press(self, keys):
        from selenium.webdriver.common.action_chains import ActionChains

        ActionChains(self.browser).send_keys(keys).perform()

    def done(self, did):
        """Do something that is sent, and wait until all that follows is shown."""
        before = self.text("#text")
        did()
        end = time.monotonic() + PATIENCE
        while self.text("#text") == before and time.monotonic() < end:
            time.sleep(0.02)
        self.ready()
        assert self.text("#text") != before


def test_a_hand_of_bestia_is_played_with_the_mouse_and_its_replay_downloaded(page, downloads):
    page.set_up("bestia", 4, name="Ann <b>")
    assert "Ann <b>" in page.text("#accounts thead")
    while not page.all("#next"):
        cards = page.all("#picture .legal")
        page.done((cards or page.all(".action"))[0].click)
    assert "Ann" in page.text("#actions")
    page.until("#paid a[href$='/hands/1.json']").click()
    end = time.monotonic() + 20
    while not (files := list(downloads.glob("*-1.json"))) and time.monotonic() < end:
        time.sleep(0.05)
    record = Record.from_json(files[0].read_text())
    check(record)
    assert record.players[0] == "Ann <b>"
    page.done(page.until("#next").click)
    assert page.text("#hand") == "2"


def test_hands_of_beast_are_played_with_keys_alone_and_advice_is_asked_for(page):
    page.set_up("beast", 4)
    for _ in range(2):
        page.press("a")
        page.until("#advice table")
        actions = page.all(".action")
        assert len(page.all("#advice tbody tr")) == len(actions)
        page.ready()
        while not page.all("#next"):
            key = page.until(".action kbd").text.lower()
            page.done(lambda key=key: page.press(key))
        page.done(lambda: page.press("\ue007"))  # Enter
    assert page.text("#hand") == "3"
    assert len(page.all("#paid tr")) == 3


def test_a_reload_in_mid_hand_and_the_back_button_lose_nothing(page):
    page.set_up("bestia", 5, seed=4)
    page.done(page.all(".action")[1].click)
    told = [page.text(css) for css in ("#text", "#log", "#question")]
    table = page.browser.current_url
    page.browser.refresh()
    page.ready()
    assert [page.text(css) for css in ("#text", "#log", "#question")] == told
    page.browser.get(page.url)
    assert page.until("#tables a").get_attribute("href") == table
    page.browser.back()
    page.ready()
    assert [page.text(css) for css in ("#text", "#log", "#question")] == told


def test_two_tabs_are_two_tables_and_an_old_tab_catches_up(page):
    browser = page.browser
    page.set_up("bestia", 4, seed=5)
    first, table = browser.current_window_handle, browser.current_url
    told = page.text("#text")
    try:
        browser.switch_to.new_window("tab")
        page.set_up("beast", 4, seed=6)
        page.done(page.all(".action")[0].click)
        browser.switch_to.window(first)
        assert page.text("#text") == told
        browser.switch_to.new_window("tab")
        browser.get(table)
        page.ready()
        page.done(page.all(".action")[1].click)
        newest = page.text("#text")
        browser.switch_to.window(first)
        page.told("#text", newest)
    finally:
        for handle in set(browser.window_handles) - {first}:
            browser.switch_to.window(handle)
            browser.close()
        browser.switch_to.window(first)


def test_a_click_that_comes_too_late_plays_nothing_and_shows_how_things_stand(page):
    page.set_up("bestia", 4, seed=5)
    table = page.browser.current_url.rsplit("/", 1)[1]
    late = page.until(".action[data-action='40']")
    script = """const [path, seen, action] = arguments; return fetch(path, {method: "POST",
        headers: {"Content-Type": "application/json"}, body: JSON.stringify({seen, action})})
        .then((answer) => answer.json());"""
    seen = page.browser.execute_script(
        "return fetch(arguments[0]).then((answer) => answer.json())", f"/api/tables/{table}"
    )["seen"]
    after = page.browser.execute_script(script, f"/api/tables/{table}/act", seen, 41)
    page.done(late.click)
    assert page.text("#text") == after["text"]
    assert "moved on" in page.text("#notice")
    log = page.browser.get_log("browser")  # a browser reports every 409
    assert [entry for entry in log if "409" not in entry["message"]] == []


def test_the_pace_shows_every_action_and_enter_skips(page):
    page.set_up("bestia", 6, seed=8)
    page.choose("#speed", "1400")
    page.until(".action").click()
    skip = page.until("#skip")
    assert "is to act" in page.text("#question")
    skip.click()
    page.ready()
    assert page.all(".action") or page.all("#next")


def test_what_is_wrong_is_said_in_its_place(page):
    page.until("#seats li")
    page.choose("#seats li:nth-child(2) select", "other")
    page.choose("#seats li:nth-child(2) input", "genius")
    page.until("#submit").click()
    assert "unknown policy 'genius'" in page.until("#seats li:nth-child(2) [role=alert]").text
    assert page.until("[aria-invalid]").get_attribute("value") == "genius"
    page.choose("#seats li:nth-child(2) input", "random")
    page.choose("#preset", "1")
    page.browser.execute_script("document.querySelector('#rules').open = true")
    page.choose("[name=stake]", "4")
    page.until("#submit").click()
    assert "multiple of 3" in page.until("[data-field='rules.stake'] [role=alert]").text
    assert "3 changed" in page.text("#changed")
    expected = [entry for entry in page.browser.get_log("browser") if "400" not in entry["message"]]
    assert expected == []


@pytest.mark.parametrize("width", [390, 360])
def test_nothing_overflows_sideways_on_a_narrow_screen(page, width):
    resize(page.browser, width, 844)
    fits = "return document.documentElement.scrollWidth <= innerWidth"
    page.until("#seats li")
    page.browser.execute_script(
        "document.querySelectorAll('details').forEach((d) => d.open = true)"
    )
    assert page.browser.execute_script(fits)
    for game, num_players in (("bestia", 10), ("beast", 6)):
        page.set_up(game, num_players, name="W" * 20)
        while not page.all("#next"):
            assert page.browser.execute_script(fits)
            page.done(page.all(".action")[-1].click)
        assert page.browser.execute_script(fits)
