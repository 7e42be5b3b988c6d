"""A report in headless Chromium, and its numbers by a second evaluation of fit.json.

A test program calls main(); its argument is the program that makes example reports. What the page
computes is compared with an evaluation, in this file, of the coefficients in fit.json, and its
intervals with those of a second least-squares solution in exact fractions. Exit code 77: Selenium or
Chromium is not installed.
"""

import contextlib
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
    from selenium.webdriver.support.ui import WebDriverWait
except ImportError:
    print("skipped: python3-selenium is not installed")
    sys.exit(77)

FACTORS = {"executors_per_gpu": (1, 3), "batch_size": (1, 15), "decode_rate": (1, 9)}
T_975_10 = 2.2281388519649385  # Student's t, 10 degrees of freedom, 97.5 %: R's qt(0.975, 10)
NINE_DIGITS = 1e-9


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


def read_runs(file):
    header, *lines = file.read_text().split()
    return [dict(zip(header.split(","), map(float, line.split(",")))) for line in lines]


def make_study(kind, folder):
    """A study directory of that kind with its report."""
    subprocess.run([sys.argv[-1], kind, folder], check=True, stdout=subprocess.DEVNULL)
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


@contextlib.contextmanager
def opened(kind, **settings):
    """A study directory of that kind, and a browser that shows its report."""
    with tempfile.TemporaryDirectory(prefix="doetune-report-") as folder:
        study = make_study(kind, folder)
        browser = open_browser(**settings)
        try:
            browser.get((study / "report/report.html").as_uri())
            yield study, browser
        finally:
            browser.quit()


class PublishedReport(unittest.TestCase):
    """The report of the published study, opened anew for each test."""

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

    def show(self, selector, part):
        """Scrolls to a figure and waits until that part of it is drawn."""
        figure = self.browser.find_element(By.CSS_SELECTOR, selector)
        self.browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", figure)
        self.wait_for(lambda: figure.find_elements(By.CSS_SELECTOR, part))
        self.wait_for(lambda: figure.find_element(By.CSS_SELECTOR, "figcaption.live").text)
        return figure

    def download(self, figure, label):
        """What a click on a figure's button would save."""
        return self.browser.execute_async_script("""
            const [figure, label, done] = arguments;
            const make = URL.createObjectURL;
            HTMLAnchorElement.prototype.click = function () {};
            URL.createObjectURL = (blob) => {
              URL.createObjectURL = make;
              blob.text().then(done);
              return make(blob);
            };
            for (const button of figure.querySelectorAll(".downloads button")) {
              if (button.textContent === label) button.click();
            }""", figure, label)

    def wait_for(self, condition):
        return WebDriverWait(self.browser, 30).until(lambda _: condition())


def main():
    if not shutil.which("chromium") or not shutil.which("chromedriver"):
        print("skipped: chromium or chromedriver is not installed")
        sys.exit(77)
    program = str(pathlib.Path(sys.argv.pop()).resolve())
    sys.argv.append(program)
    unittest.main(verbosity=2, argv=sys.argv[:-1])
