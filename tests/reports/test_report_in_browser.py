#!/usr/bin/env python3
"""Opens a report in headless Chromium, moves its sliders, and checks every number against fit.json.

usage: test_report_in_browser.py MAKE_EXAMPLE_REPORT

What the page computes is compared with an evaluation, in this file, of the coefficients in fit.json,
and its intervals with those of a second least-squares solution in exact fractions.
Exit code 77: Selenium or Chromium is not installed.
"""

import csv
import io
import json
import math
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest
import xml.dom.minidom
from fractions import Fraction

try:
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.keys import Keys
    from selenium.webdriver.support.ui import Select, WebDriverWait
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
        self.browser.refresh()
        self.assertEqual(self.settings()["batch_size"], 15)

    def test_the_view_travels_in_the_address(self):
        figure = self.show("#overlay", ".plot > svg")
        Select(figure.find_element(By.CSS_SELECTOR, "select")).select_by_value("processing_time")
        Select(figure.find_element(By.CSS_SELECTOR, "select[aria-label=up]")).select_by_value("decode_rate")
        across = figure.find_element(By.CSS_SELECTOR, "select[aria-label=across]").get_attribute("value")
        box = self.browser.find_element(By.CSS_SELECTOR, "input[data-shows=runs]")
        self.browser.execute_script("arguments[0].click()", box)
        address = self.browser.current_url
        self.browser.get("about:blank")
        self.browser.get(address)
        figure = self.show("#overlay", ".plot > svg")
        self.assertEqual([chosen.get_attribute("value") for chosen in figure.find_elements(By.CSS_SELECTOR, "select")],
                         ["processing_time", across, "decode_rate"])
        self.assertFalse(self.browser.find_element(By.CSS_SELECTOR, "input[data-shows=runs]").is_selected())
        self.assertIn("no-runs", self.browser.find_element(By.CSS_SELECTOR, ".explore").get_attribute("class"))
        self.browser.get("about:blank")
        self.browser.get(self.page + "#.contour=a,b,%00&.hide=%3Cb%3E,,&batch_size=NaN&" + "x" * 5000)
        self.assertEqual(self.settings(), self.optimum["settings"])
        self.check_quiet()

    def test_a_figure_is_taken_along_before_it_was_near(self):
        figure = self.browser.find_element(By.ID, "overlay")
        self.assertEqual(figure.find_elements(By.CSS_SELECTOR, ".plot"), [])
        self.assertRegex(figure.find_element(By.TAG_NAME, "h3").get_attribute("textContent"), "slice")
        self.assertGreater(len(self.download(figure, "CSV").splitlines()), 1000)
        self.browser.refresh()
        figure = self.browser.find_element(By.ID, "overlay")
        xml.dom.minidom.parseString(self.download(figure, "SVG"))
        self.check_quiet()

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

    def test_plots_follow_the_sliders(self):
        for name in self.fits:
            figure = self.show(f"#profile-{name}", ".plot > svg")
            before = figure.find_element(By.CSS_SELECTOR, ".plot path[stroke-width='2']")
            curve = before.get_attribute("d")
            self.browser.find_element(By.ID, "slider-decode_rate").send_keys(Keys.HOME)
            self.wait_for(lambda: before.get_attribute("d") != curve)
            title = figure.find_element(By.CSS_SELECTOR, "h3.live")
            self.wait_for(lambda: title.text.startswith("At these settings, "))
            self.browser.find_element(By.ID, "reset").click()
        self.show("#overlay", ".plot > svg")
        self.check_quiet()

    def test_profiles_hold_the_numbers_of_the_fit(self):
        for name, fit in self.fits.items():
            figure = self.show(f"#profile-{name}", ".plot > svg")
            header, *rows = csv.reader(io.StringIO(self.download(figure, "CSV")))
            self.assertEqual(header[:3], ["factor", "setting", name])
            self.assertEqual(len(rows), 3 * 41)
            for factor, setting, *numbers in rows:
                settings = {**self.settings(), factor: float(setting)}
                low, high = intervals(fit, self.covariance[name], settings)
                for number, wanted in zip(numbers, (mean(fit, settings), *low, *high)):
                    self.near(float(number), wanted)

    def test_names_of_thin_curves_stand_below_the_axis(self):
        figure = self.show("#profile-throughput", ".plot > svg")
        frames = [cover.rect for cover in figure.find_elements(By.CSS_SELECTOR, ".drag")]
        names = figure.find_elements(By.CSS_SELECTOR, ".plot g.partner text")
        self.assertGreater(len(names), 0)
        for name in names:
            self.assertTrue(all(name.rect["y"] > frame["y"] + frame["height"]
                                for frame in frames if frame["y"] < name.rect["y"]), name.text)
        self.assertEqual(len({text.text for text in names if text.text.startswith("decode_rate")}), 1)

    def test_a_drag_in_a_profile_moves_its_slider(self):
        figure = self.show("#profile-throughput", ".plot > svg")
        cover = figure.find_elements(By.CSS_SELECTOR, ".drag")[1]
        start = self.settings()
        right_end = cover.size["width"] // 2 - 1
        ActionChains(self.browser).move_to_element(cover).click_and_hold() \
            .move_by_offset(right_end, 0).release().perform()
        self.assertEqual(self.settings(), {**start, "batch_size": 15})
        self.assertIn("batch_size=15", self.browser.current_url)
        self.check_numbers()

    def test_contours_are_drawn_where_the_fit_has_their_values(self):
        """Nodes lie above the levels of their bands, and points of a line have its level."""
        figure = self.show("#overlay", ".plot > svg")
        names = [figure.get_attribute(f"data-{axis}") for axis in "xy"]
        fit = self.fits["throughput"]
        at = lambda x, y: {**self.optimum["settings"], names[0]: x, names[1]: y}
        drawn = self.browser.execute_script("""
            const data = doetune.data;
            const plot = document.querySelector("#overlay .plot > svg");
            const [x, y] = arguments[0].map((name) => data.factors.findIndex((f) => f.name === name));
            const box = plot.querySelector(".bands rect");
            const [x0, y0, width, height] = ["x", "y", "width", "height"]
              .map((name) => Number(box.getAttribute(name)));
            const natural = (px, py) => [
              doetune.natural(data.factors[x], (2 * (px - x0)) / width - 1),
              doetune.natural(data.factors[y], 1 - (2 * (py - y0)) / height)];
            const inside = (path, px, py) => {
              const point = plot.createSVGPoint();
              [point.x, point.y] = [px, py];
              return path !== null && path.isPointInFill(point);
            };
            const bands = [...plot.querySelectorAll(".bands path")];
            const nodes = [];
            for (let j = 3; j < 40; j += 7) {
              for (let i = 3; i < 40; i += 7) {
                const at = [x0 + (width * i) / 40, y0 + height - (height * j) / 40];
                nodes.push({ at: natural(...at),
                             above: bands.map((path) => inside(path, ...at)),
                             missed: inside(plot.querySelector(".missed"), ...at) });
              }
            }
            const lines = [...plot.querySelectorAll(".levels path")].map((path) => ({
              level: Number(path.dataset.level),
              points: [0.1, 0.5, 0.9].map((share) => {
                const point = path.getPointAtLength(share * path.getTotalLength());
                return natural(point.x, point.y);
              }) }));
            return { nodes, lines, levels: bands.map((path) => Number(path.dataset.above)),
                     scale: [...plot.querySelectorAll(".colour-scale text")].map((t) => t.textContent),
                     limits: Object.fromEntries(data.responses.filter((r) => r.goal && r.goal.is_limit)
                       .map((r) => [r.name, [r.goal.low, r.goal.high, r.goal.scale]])) };""", names)
        levels = drawn["levels"]
        self.assertGreater(len(levels), 4)
        self.assertEqual(len(drawn["nodes"]), 36)
        step = levels[1] - levels[0]
        for node in drawn["nodes"]:
            z = mean(fit, at(*node["at"]))
            for level, above in zip(levels, node["above"], strict=True):
                if abs(z - level) > 0.03 * step:
                    self.assertEqual(above, z > level, (node["at"], z, level))
        self.assertGreaterEqual({line["level"] for line in drawn["lines"]}, set(levels[1:-1]))
        for line in drawn["lines"]:
            for point in line["points"]:
                self.near(mean(fit, at(*point)), line["level"], 0.03 * step / abs(line["level"]))
        # The colour scale names the levels, and the response with its unit.
        self.assertEqual([float(text) for text in drawn["scale"][:-1]], levels)
        self.assertEqual(drawn["scale"][-1], "throughput [images/s]")
        self.check_hatching(drawn, at)

    def check_hatching(self, drawn, at):
        """Hatched is where the mean of a response misses its limit, and only there."""
        self.assertTrue(drawn["limits"])
        seen = set()
        for node in drawn["nodes"]:
            margins = []
            for name, (low, high, scale) in drawn["limits"].items():
                y = mean(self.fits[name], at(*node["at"]))
                margins += [(y - low) / scale] if low is not None else []
                margins += [(high - y) / scale] if high is not None else []
            if abs(min(margins)) > 0.02:
                self.assertEqual(node["missed"], min(margins) < 0, (node["at"], margins))
                seen.add(node["missed"])
        self.assertEqual(seen, {True, False})

    def test_contours_of_any_two_factors(self):
        figure = self.show("#overlay", ".plot > svg")
        across = figure.find_element(By.CSS_SELECTOR, "select[aria-label=across]")
        up = figure.find_element(By.CSS_SELECTOR, "select[aria-label=up]")
        first, second = across.get_attribute("value"), up.get_attribute("value")
        Select(across).select_by_value(second)
        self.assertEqual(up.get_attribute("value"), first)
        Select(figure.find_element(By.CSS_SELECTOR, "select")).select_by_value("processing_time")
        Select(up).select_by_value("decode_rate")
        self.wait_for(lambda: figure.find_element(By.CSS_SELECTOR, ".plot > svg").get_attribute(
            "aria-label") == f"Contours of processing_time over {second} and decode_rate")
        header, *rows = csv.reader(io.StringIO(self.download(figure, "CSV")))
        self.assertEqual(header[:3], [second, "decode_rate", "processing_time"])
        self.assertEqual(len(rows), 41 * 41)
        for row in rows[::100]:
            settings = {**self.settings(), second: float(row[0]), "decode_rate": float(row[1])}
            self.near(float(row[2]), mean(self.fits["processing_time"], settings))
        self.check_quiet()

    def test_the_surface_in_three_dimensions_is_drawn_on_demand_and_turned(self):
        figure = self.show("#overlay", ".plot > svg")
        self.assertEqual(figure.find_elements(By.CSS_SELECTOR, ".surface > svg"), [])
        figure.find_element(By.CSS_SELECTOR, "details.live summary").click()
        self.wait_for(lambda: figure.find_elements(By.CSS_SELECTOR, ".surface > svg"))
        names = [figure.get_attribute(f"data-{axis}") for axis in "xy"]
        faces = lambda: [face.get_attribute("points") for face in figure.find_elements(
            By.CSS_SELECTOR, ".surface .faces polygon")]
        before = faces()
        self.assertEqual(len(before), 20 * 20)
        surface = figure.find_element(By.CLASS_NAME, "surface")
        label = surface.find_element(By.TAG_NAME, "svg").get_attribute("aria-label")
        self.assertEqual(label, f"Surface of throughput over {names[0]} and {names[1]}")
        surface.send_keys(Keys.ARROW_LEFT)
        self.assertNotEqual(faces(), before)
        surface.send_keys(Keys.ARROW_RIGHT)
        self.assertEqual(faces(), before)
        ActionChains(self.browser).move_to_element(surface).click_and_hold() \
            .move_by_offset(40, 10).release().perform()
        self.assertNotEqual(faces(), before)
        self.check_quiet()

    def test_the_contours_follow_a_slider_while_it_moves(self):
        figure = self.show("#overlay", ".plot > svg")
        held = ({"executors_per_gpu", "batch_size", "decode_rate"} -
                {figure.get_attribute(f"data-{axis}") for axis in "xy"}).pop()
        levels = lambda: self.browser.execute_script(
            "return [...document.querySelectorAll('#overlay .levels path')].map((p) => p.getAttribute('d'))")
        drawn = levels()
        for key in Keys.HOME, Keys.END:
            self.browser.find_element(By.ID, f"slider-{held}").send_keys(key)
            self.wait_for(lambda: levels() != drawn)
            drawn = levels()
        caption = figure.find_element(By.CSS_SELECTOR, "figcaption.live").text
        self.assertIn(f"with {held} = {FACTORS[held][1]}", caption)

    def test_the_page_is_small_and_needs_no_network(self):
        path = pathlib.Path(self.page.removeprefix("file://"))
        self.assertLessEqual(path.stat().st_size, 2_000_000)
        self.browser.execute_cdp_cmd("Network.enable", {})
        self.browser.execute_cdp_cmd("Network.emulateNetworkConditions", {
            "offline": True, "latency": 0, "downloadThroughput": 0, "uploadThroughput": 0})
        try:
            self.browser.refresh()
            self.show("#overlay", ".plot > svg .levels path")
            self.check_numbers()
            self.check_quiet()
        finally:
            self.browser.execute_cdp_cmd("Network.emulateNetworkConditions", {
                "offline": False, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1})

    def test_every_figure_can_be_taken_along(self):
        for figure in self.browser.find_elements(By.CSS_SELECTOR, "figure[id]"):
            self.browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", figure)
            if figure.get_attribute("data-figure"):
                self.wait_for(lambda: figure.find_elements(By.CSS_SELECTOR, ".plot svg"))
            name = figure.get_attribute("id")
            svg = self.download(figure, "SVG")
            self.assertNotIn("var(--", svg, name)
            xml.dom.minidom.parseString(svg)
            rows = list(csv.reader(io.StringIO(self.download(figure, "CSV"))))
            self.assertGreater(len(rows), 3, name)
            self.assertEqual({len(row) for row in rows}, {len(rows[0])}, name)
        self.check_quiet()

    def test_the_table_of_runs_is_sorted_by_its_headings(self):
        table = self.browser.find_element(By.CSS_SELECTOR, "#runs table")
        headings = table.find_elements(By.CSS_SELECTOR, "th button")
        names = [heading.text for heading in headings]
        column = names.index("throughput [images/s]")
        for direction in "ascending", "descending":
            self.browser.execute_script("arguments[0].click()", headings[column])
            cells = table.find_elements(By.CSS_SELECTOR, f"tbody td:nth-child({column + 1})")
            values = [float(cell.text) for cell in cells]
            self.assertEqual(values, sorted(values, reverse=direction == "descending"))
            sorts = table.find_elements(By.CSS_SELECTOR, "th[aria-sort]")
            self.assertEqual([th.get_attribute("aria-sort") for th in sorts], [direction])

    def test_paper_shows_the_static_figures(self):
        self.show("#overlay", ".plot > svg")
        self.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
        try:
            shown = {part: any(e.is_displayed() for e in
                               self.browser.find_elements(By.CSS_SELECTOR, part))
                     for part in (".plot", ".downloads", "#settings", "#overlay")}
            self.assertEqual(set(shown.values()), {False}, shown)
            drawings = self.browser.find_elements(By.CSS_SELECTOR, "#explore .drawing > svg")
            self.assertEqual(len(drawings), 2 + 2 * 3)
            self.assertTrue(all(drawing.is_displayed() for drawing in drawings))
        finally:
            self.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})

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
        return WebDriverWait(self.browser, 10).until(lambda _: condition())


class SurfacesInBrowser(unittest.TestCase):
    """Every kind of surface and factor, against what the C++ predicts."""

    def check(self, kind):
        with tempfile.TemporaryDirectory(prefix="doetune-report-") as folder:
            study = make_study(kind, folder)
            browser = open_browser()
            try:
                browser.get((study / "report/report.html").as_uri())
                cases = json.loads((study / "predictions.json").read_text())
                self.assertEqual(len(cases), 25)
                for case in cases:
                    excluded = browser.execute_script(
                        "return doetune.excludedBy(doetune.data, arguments[0])", case["settings"])
                    self.assertEqual(excluded, case["excluded_by"])
                    shown = browser.execute_script("return doetune.predict(arguments[0])",
                                                   case["settings"])
                    self.assertEqual(set(shown), set(case["responses"]))
                    for name, wanted in case["responses"].items():
                        for key, value in wanted.items():
                            self.compare(shown[name][key], value)
                errors = [e for e in browser.get_log("browser") if e["level"] == "SEVERE"]
                self.assertEqual(errors, [])
            finally:
                browser.quit()

    def test_categories_scales_and_transforms(self):
        self.check("mixed")

    def test_gaussian_processes_parametric_models_and_uneven_variance(self):
        self.check("surfaces")

    def test_whole_plots(self):
        self.check("split-plot")

    def test_constraints_exclude_what_they_exclude_in_the_plan(self):
        self.check("constrained")

    def compare(self, shown, wanted):
        if isinstance(wanted, list):
            for a, b in zip(shown, wanted, strict=True):
                self.compare(a, b)
        elif wanted is None:  # infinity, which JSON has not
            self.assertIn(shown, (None, math.inf))
        else:
            self.assertLessEqual(abs(shown - wanted), NINE_DIGITS * max(abs(wanted), 1), (shown, wanted))


class ConstraintsInBrowser(unittest.TestCase):
    """What the study excludes is covered in the contours and named beside the sliders."""

    def test_they_are_drawn_and_named(self):
        with tempfile.TemporaryDirectory(prefix="doetune-report-") as folder:
            study = make_study("mixed", folder)
            browser = open_browser()
            try:
                browser.get((study / "report/report.html").as_uri())
                figure = browser.find_element(By.ID, "overlay")
                browser.execute_script("arguments[0].scrollIntoView()", figure)
                WebDriverWait(browser, 10).until(
                    lambda _: figure.find_elements(By.CSS_SELECTOR, ".plot > svg"))
                self.check_slice(browser)
                self.check_drawing(browser)
                self.check_log_slider(browser)
                self.assertIn("Grey: settings that are excluded (batch * rate <= 256)",
                              figure.find_element(By.CSS_SELECTOR, "figcaption.live").text)
                note = browser.find_element(By.CLASS_NAME, "excluded")
                self.assertFalse(note.is_displayed())
                for name in "batch", "rate":
                    browser.find_element(By.ID, f"slider-{name}").send_keys(Keys.END)
                self.assertTrue(note.is_displayed())
                self.assertIn("batch * rate <= 256", note.text)
            finally:
                browser.quit()

    def test_infeasible_runs_are_crosses(self):
        with tempfile.TemporaryDirectory(prefix="doetune-report-") as folder:
            study = make_study("constrained", folder)
            infeasible = (pathlib.Path(folder) / "constrained.csv").read_text().count("infeasible\n")
            browser = open_browser()
            try:
                browser.get((study / "report/report.html").as_uri())
                figure = browser.find_element(By.ID, "overlay")
                browser.execute_script("arguments[0].scrollIntoView()", figure)
                WebDriverWait(browser, 10).until(
                    lambda _: figure.find_elements(By.CSS_SELECTOR, ".plot > svg"))
                titles = browser.execute_script(
                    "return [...document.querySelectorAll('.runs-of-slice title')].map((t) => t.textContent)")
                crosses = [title for title in titles if title.endswith(": infeasible")]
                self.assertGreater(infeasible, 0)
                self.assertEqual(len(crosses), infeasible)
                self.assertIn("infeasible run", figure.find_element(By.CSS_SELECTOR, ".legend").text)
            finally:
                browser.quit()

    def check_slice(self, browser):
        """The margins that are drawn have the sign of 256 - batch * rate."""
        x, y, z = browser.execute_script("""
            const data = doetune.data;
            const s = doetune.sliceOf(data, data.responses[0], data.reference.settings, 0, 1);
            return [s.xs, s.ys, s.allowed];""")
        for j, rate in enumerate(y):
            for i, batch in enumerate(x):
                if abs(batch * rate - 256) > 1e-6:
                    self.assertEqual(z[j][i] > 0, batch * rate < 256, (batch, rate))


    def check_drawing(self, browser):
        """Grey covers batch * rate > 256, and ticks stand at their place on a log scale."""
        Select(browser.find_element(By.CSS_SELECTOR, "#overlay select[aria-label=across]")
               ).select_by_value("batch")
        Select(browser.find_element(By.CSS_SELECTOR, "#overlay select[aria-label=up]")
               ).select_by_value("rate")
        WebDriverWait(browser, 10).until(lambda _: browser.find_element(
            By.CSS_SELECTOR, "#overlay .plot > svg").get_attribute("aria-label")
            .endswith("over batch and rate"))
        grey, colour = browser.execute_script("""
            const plot = document.querySelector("#overlay .plot > svg");
            const path = plot.querySelector(".excluded-part");
            const box = plot.querySelector(".bands rect").getBBox();
            const covered = [];
            for (const [batch, rate] of [[1, 1], [8, 4], [32, 1], [16, 8], [60, 7.9], [63, 6], [40, 8]]) {
              const point = plot.createSVGPoint();
              point.x = box.x + (box.width * Math.log2(batch)) / 6;
              point.y = box.y + box.height * (1 - Math.log2(rate / 0.5) / 4);
              covered.push([batch * rate, path.isPointInFill(point)]);
            }
            return [covered, path.getAttribute("fill")];""")
        for product, covered in grey:
            self.assertEqual(covered, product > 256, product)
        self.assertEqual(colour, "#d9dde2")

    def check_log_slider(self, browser):
        """Half way is the geometric mean; a key moves on by one setting; levels stand evenly."""
        shown = lambda name: float(browser.find_element(
            By.XPATH, f"//input[@id='slider-{name}']/../output").text.split()[0])
        stops, places = browser.execute_script("""
            const [batch, rate] = ["batch", "rate"].map((n) => document.getElementById("slider-" + n));
            rate.value = Number(rate.max) / 2;
            rate.dispatchEvent(new Event("input"));
            return [doetune.data.factors[1].usable, [batch.min, batch.max, batch.step].map(Number)];""")
        self.assertEqual(shown("rate"), 2.0)
        self.assertEqual(places, [0, 6, 1])
        browser.find_element(By.ID, "slider-rate").send_keys(Keys.ARROW_RIGHT)
        self.assertEqual(shown("rate"), stops[stops.index(2.0) + 1])
        for _ in range(2):
            browser.find_element(By.ID, "slider-rate").send_keys(Keys.ARROW_LEFT)
        self.assertEqual(shown("rate"), stops[stops.index(2.0) - 1])
        browser.find_element(By.ID, "slider-rate").send_keys(Keys.HOME)
        self.assertEqual(shown("rate"), 0.5)
        browser.find_element(By.ID, "reset").click()


class OddStudyInBrowser(unittest.TestCase):
    """50 factors, markup in names, a constant response and one that was never measured."""

    def test_it_is_shown(self):
        with tempfile.TemporaryDirectory(prefix="doetune-report-") as folder:
            study = make_study("odd", folder)
            browser = open_browser()
            try:
                browser.get((study / "report/report.html").as_uri())
                self.assertEqual(
                    len(browser.find_elements(By.CSS_SELECTOR, "input[data-factor]")), 50)
                for selector in "#profile-good", "#profile-constant", "#overlay":
                    figure = browser.find_element(By.CSS_SELECTOR, selector)
                    browser.execute_script("arguments[0].scrollIntoView()", figure)
                    WebDriverWait(browser, 10).until(
                        lambda _: figure.find_elements(By.CSS_SELECTOR, ".plot svg"))
                for tag in "img", "u", "i":
                    self.assertEqual(browser.find_elements(By.TAG_NAME, tag), [])
                self.assertEqual(
                    [e for e in browser.get_log("browser") if e["level"] == "SEVERE"], [])
                browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
                    "width": 360, "height": 800, "deviceScaleFactor": 1, "mobile": True})
                browser.refresh()
                width = browser.execute_script("return document.scrollingElement.scrollWidth")
                self.assertLessEqual(width, 360)
            finally:
                browser.quit()


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
                self.assertFalse(browser.find_element(By.ID, "overlay").is_displayed())
                rows = browser.find_elements(By.CSS_SELECTOR, "#runs tbody tr")
                self.assertEqual(len([row for row in rows if row.is_displayed()]), 20)
                self.assertEqual(browser.find_elements(By.TAG_NAME, "button"), [])
            finally:
                browser.quit()


if __name__ == "__main__":
    if not shutil.which("chromium") or not shutil.which("chromedriver"):
        print("skipped: chromium or chromedriver is not installed")
        sys.exit(77)
    MAKE_EXAMPLE_REPORT = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main(verbosity=2)
