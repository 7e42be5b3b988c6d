#!/usr/bin/env python3
"""Opens a report in headless Chromium, moves its sliders, and checks every number against fit.json.

usage: test_report_in_browser.py MAKE_EXAMPLE_REPORT

What the page computes is compared with an evaluation, in this file, of the coefficients in fit.json,
and its intervals with those of a second least-squares solution in exact fractions.
Exit code 77: Selenium or Chromium is not installed.
"""

import json
import math
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest
from fractions import Fraction

try:
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys
except ImportError:
    print("skipped: python3-selenium is not installed")
    sys.exit(77)

FACTORS = {"executors_per_gpu": (1, 3), "batch_size": (1, 15), "decode_rate": (1, 9)}
T_975_10 = 2.2281388519649385  # Student's t, 10 degrees of freedom, 97.5 %: R's qt(0.975, 10)
NINE_DIGITS = 1e-9
SLOWEST_MOVE_MS = 50  # from a slider's move to the numbers; plots follow in the next frames


def coded(name, natural):
    low, high = FACTORS[name]
    return 2 * (natural - low) / (high - low) - 1


def term_value(term, settings):
    """The value of a model term such as "a*b" or "a^2" at settings in natural units."""
    if term == "1":
        return 1.0
    product = 1.0
    for part in term.split("*"):
        name, _, power = part.partition("^")
        product *= coded(name, settings[name]) ** int(power or 1)
    return product


def mean(fit, settings):
    return math.fsum(c["estimate"] * term_value(c["term"], settings) for c in fit["coefficients"])


def inverse(matrix):
    """Gauss-Jordan elimination in exact fractions."""
    n = len(matrix)
    rows = [list(row) + [Fraction(int(i == j)) for j in range(n)] for i, row in enumerate(matrix)]
    for i in range(n):
        pivot = next(r for r in range(i, n) if rows[r][i] != 0)
        rows[i], rows[pivot] = rows[pivot], rows[i]
        rows[i] = [value / rows[i][i] for value in rows[i]]
        for r in range(n):
            if r != i:
                rows[r] = [a - rows[r][i] * b for a, b in zip(rows[r], rows[i])]
    return [row[n:] for row in rows]


def unscaled_covariance(fit, runs):
    x = [[Fraction(term_value(c["term"], run)) for c in fit["coefficients"]] for run in runs]
    columns = range(len(x[0]))
    return inverse([[sum(row[i] * row[j] for row in x) for j in columns] for i in columns])


def intervals(fit, covariance, settings):
    """The 95 % intervals of the mean and of the next run."""
    row = [term_value(c["term"], settings) for c in fit["coefficients"]]
    variance = math.fsum(
        a * float(covariance[i][j]) * b for i, a in enumerate(row) for j, b in enumerate(row))
    centre = mean(fit, settings)
    halves = [T_975_10 * fit["sigma"] * math.sqrt(extra + variance) for extra in (0, 1)]
    return [(centre - half, centre + half) for half in halves]


def read_runs(csv):
    header, *lines = csv.read_text().split()
    return [dict(zip(header.split(","), map(float, line.split(",")))) for line in lines]


def make_study(kind, folder):
    """A study directory of that kind with its report."""
    subprocess.run([MAKE_EXAMPLE_REPORT, kind, folder], check=True, stdout=subprocess.DEVNULL)
    return pathlib.Path(folder) / kind


def open_browser(scripts=True, width=1300):
    options = webdriver.ChromeOptions()
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                     f"--window-size={width},900"):
        options.add_argument(argument)
    if not scripts:
        options.add_experimental_option(
            "prefs", {"profile.managed_default_content_settings.javascript": 2})
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    options.binary_location = shutil.which("chromium")
    return webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))


class ReportInBrowser(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="doetune-report-")
        folder = pathlib.Path(cls.folder.name)
        study = make_study("fccd", folder)
        cls.page = (study / "report" / "report.html").as_uri()
        cls.fits = json.loads((study / "fit.json").read_text())["responses"]
        cls.optimum = json.loads((study / "optimum.json").read_text())
        runs = read_runs(folder / "runs.csv")
        cls.covariance = {name: unscaled_covariance(fit, runs) for name, fit in cls.fits.items()}
        cls.browser = open_browser()

    @classmethod
    def tearDownClass(cls):
        cls.browser.quit()
        cls.folder.cleanup()

    def setUp(self):
        self.browser.get("about:blank")
        self.browser.get_log("browser")
        self.browser.get_log("performance")
        self.browser.get(self.page)

    def settings(self):
        """The settings that the page shows beside its sliders."""
        shown = {}
        for slider in self.browser.find_elements(By.CSS_SELECTOR, "input[data-factor]"):
            text = slider.find_element(By.XPATH, "../output").text
            shown[slider.get_attribute("data-factor")] = float(text.split()[0])
        return shown

    def check_numbers(self):
        """Means in the cards, and means and intervals from the page's own function."""
        settings = self.settings()
        predictions = self.browser.execute_script("return doetune.predict(arguments[0])", settings)
        for name, fit in self.fits.items():
            card = self.browser.find_element(
                By.CSS_SELECTOR, f".prediction[data-response={name}] .mean")
            expected = mean(fit, settings)
            self.near(float(card.get_attribute("data-value")), expected)
            self.near(float(card.text.split()[0]), expected, 1e-2)
            self.near(predictions[name]["mean"], expected)
            of_mean, of_run = intervals(fit, self.covariance[name], settings)
            for key, interval in ("confidence_interval", of_mean), ("prediction_interval", of_run):
                for shown, wanted in zip(predictions[name][key], interval):
                    self.near(shown, wanted)

    def near(self, value, expected, tolerance=NINE_DIGITS):
        self.assertLessEqual(abs(value - expected), tolerance * max(abs(expected), 1))

    def check_quiet(self):
        """No error in the console and nothing asked of the network."""
        errors = [entry for entry in self.browser.get_log("browser") if entry["level"] == "SEVERE"]
        self.assertEqual(errors, [])
        for entry in self.browser.get_log("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                url = message["params"]["request"]["url"]
                self.assertTrue(url.startswith(("file:", "data:", "blob:", "about:")), url)

    def test_starts_at_the_optimum(self):
        self.assertEqual(self.settings(), self.optimum["settings"])
        self.check_numbers()
        predictions = self.browser.execute_script("return doetune.predict(doetune.data.reference.settings)")
        for name, wanted in self.optimum["responses"].items():
            self.near(predictions[name]["mean"], wanted["mean"])
            self.near(predictions[name]["goal_met_probability"], wanted["goal_met_probability"])
            self.assertEqual(predictions[name]["goal_met"], wanted["goal_met"])

    def test_every_slider_moves_the_numbers(self):
        for name in FACTORS:
            slider = self.browser.find_element(By.ID, f"slider-{name}")
            before = self.settings()
            for key in (Keys.ARROW_RIGHT, Keys.END, Keys.HOME):
                slider.send_keys(key)
                self.check_numbers()
            self.assertNotEqual(before[name], self.settings()[name])
        self.assertEqual(self.settings(), {name: low for name, (low, high) in FACTORS.items()})
        self.browser.find_element(By.ID, "reset").click()
        self.assertEqual(self.settings(), self.optimum["settings"])
        self.check_quiet()

    def test_settings_travel_in_the_address(self):
        self.browser.find_element(By.ID, "slider-batch_size").send_keys(Keys.END)
        address = self.browser.current_url
        self.assertIn("batch_size=15", address)
        self.browser.get("about:blank")
        self.browser.get(address)
        self.assertEqual(self.settings()["batch_size"], 15)

    def test_plots_follow_the_sliders(self):
        figures = self.browser.find_elements(By.CSS_SELECTOR, "figure[data-figure]")
        self.assertEqual(len(figures), 2 + 2 * 3)
        for figure in figures:
            self.browser.execute_script("arguments[0].scrollIntoView()", figure)
            self.wait_for(lambda: figure.find_elements(By.CSS_SELECTOR, ".plot .main-svg"))
            self.wait_for(lambda: figure.find_element(By.CSS_SELECTOR, ".live").text)
        self.check_quiet()

    def test_a_move_is_quick(self):
        self.wait_for(lambda: self.browser.find_elements(By.CSS_SELECTOR, ".plot .main-svg"))
        times = self.browser.execute_async_script("""
            const done = arguments[0];
            const slider = document.getElementById("slider-decode_rate");
            const times = { numbers: [], plot: [] };
            function move(i) {
              if (i === 21) return done(times);
              const start = performance.now();
              slider.value = i * 30;
              slider.dispatchEvent(new Event("input"));
              times.numbers.push(performance.now() - start);
              requestAnimationFrame(() => setTimeout(() => {
                times.plot.push(performance.now() - start);
                setTimeout(() => move(i + 1), 30);
              }));
            }
            move(0);""")
        numbers, plot = (sorted(times[part])[10] for part in ("numbers", "plot"))
        print(f"slider move, median: {numbers:.1f} ms to the numbers, {plot:.0f} ms to the first plot")
        self.assertLess(numbers, SLOWEST_MOVE_MS)

    def test_a_narrow_page_does_not_overflow(self):
        self.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
            "width": 360, "height": 800, "deviceScaleFactor": 1, "mobile": True})
        try:
            self.browser.get(self.page)
            width = self.browser.execute_script("return document.scrollingElement.scrollWidth")
            self.assertLessEqual(width, 360)
        finally:
            self.browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})

    def wait_for(self, condition):
        from selenium.webdriver.support.ui import WebDriverWait
        return WebDriverWait(self.browser, 10).until(lambda _: condition())


class MixedFactorsInBrowser(unittest.TestCase):
    """Categorical factors, log scales and transforms, against what the C++ predicts."""

    def test_predictions(self):
        with tempfile.TemporaryDirectory(prefix="doetune-report-") as folder:
            study = make_study("mixed", folder)
            browser = open_browser()
            try:
                browser.get((study / "report/report.html").as_uri())
                cases = json.loads((study / "predictions.json").read_text())
                self.assertEqual(len(cases), 25)
                for case in cases:
                    shown = browser.execute_script("return doetune.predict(arguments[0])",
                                                   case["settings"])
                    for name, wanted in case["responses"].items():
                        for key, value in wanted.items():
                            self.compare(shown[name][key], value)
                errors = [e for e in browser.get_log("browser") if e["level"] == "SEVERE"]
                self.assertEqual(errors, [])
            finally:
                browser.quit()

    def compare(self, shown, wanted):
        if isinstance(wanted, list):
            for a, b in zip(shown, wanted, strict=True):
                self.compare(a, b)
        elif wanted is None:  # infinity, which JSON has not
            self.assertIn(shown, (None, math.inf))
        else:
            self.assertLessEqual(abs(shown - wanted), NINE_DIGITS * max(abs(wanted), 1), (shown, wanted))


class WithoutScripts(unittest.TestCase):
    def test_answer_and_figures_are_there(self):
        with tempfile.TemporaryDirectory(prefix="doetune-report-") as folder:
            study = make_study("fccd", folder)
            browser = open_browser(scripts=False)
            try:
                browser.get((study / "report/report.html").as_uri())
                self.assertTrue(browser.find_element(By.CLASS_NAME, "verdict").is_displayed())
                self.assertTrue(browser.find_element(By.CSS_SELECTOR, "#answer table").is_displayed())
                drawings = browser.find_elements(By.CSS_SELECTOR, ".drawing > svg")
                self.assertGreaterEqual(len(drawings), 8)
                for drawing in drawings:
                    self.assertTrue(drawing.is_displayed())
                self.assertEqual(browser.find_elements(By.CLASS_NAME, "plot"), [])
            finally:
                browser.quit()


if __name__ == "__main__":
    if not shutil.which("chromium") or not shutil.which("chromedriver"):
        print("skipped: chromium or chromedriver is not installed")
        sys.exit(77)
    MAKE_EXAMPLE_REPORT = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main(verbosity=2)
