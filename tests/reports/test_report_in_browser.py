#!/usr/bin/env python3
"""Opens a report in headless Chromium, moves its sliders, and checks every number against fit.json.

usage: test_report_in_browser.py MAKE_EXAMPLE_REPORT
"""

import json
import math
import pathlib
import unittest

# First, for it ends the program where there is no Selenium.
from browser_case import FACTORS, NINE_DIGITS, PublishedReport, main, mean, opened
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select, WebDriverWait


class ReportInBrowser(PublishedReport):
    def test_starts_at_the_optimum(self):
        self.assertEqual(self.settings(), self.optimum["settings"])
        self.check_numbers()
        predictions = self.browser.execute_script("return doetune.predict(doetune.data.reference.settings)")
        for name, wanted in self.optimum["responses"].items():
            self.near(predictions[name]["mean"], wanted["mean"])
            self.assertEqual(predictions[name]["goal_met"], wanted["goal_met"])

    def test_the_optimum_has_its_expected_mean_beside_the_prediction(self):
        shown = lambda: [card.text for card in self.browser.find_elements(By.CSS_SELECTOR, ".expected")]
        self.assertEqual(len(shown()), len(self.optimum["responses"]))
        for text, (name, wanted) in zip(shown(), self.optimum["responses"].items()):
            self.near(float(text.split(": ")[1].split(",")[0]), wanted["expected"], 1e-2)
        self.browser.find_element(By.ID, "slider-batch_size").send_keys(Keys.END)
        self.assertEqual(set(shown()), {""})

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


class SurfacesInBrowser(unittest.TestCase):
    """Every kind of surface and factor, against what the C++ predicts."""

    def check(self, kind):
        with opened(kind) as (study, browser):
            cases = json.loads((study / "predictions.json").read_text())
            self.assertGreater(len(cases), 25)
            for case in cases:
                excluded = browser.execute_script(
                    "return doetune.excludedBy(doetune.data, arguments[0])", case["settings"])
                self.assertEqual(excluded, case["excluded_by"])
                if "completes" in case:
                    completes = browser.execute_script(
                        "return doetune.completion(doetune.data)(arguments[0])", case["settings"])
                    self.assertAlmostEqual(completes, case["completes"], 4)
                shown = browser.execute_script("return doetune.predict(arguments[0])",
                                               case["settings"])
                self.assertEqual(set(shown), set(case["responses"]))
                for name, wanted in case["responses"].items():
                    for key, value in wanted.items():
                        self.compare(shown[name][key], value)
            errors = [e for e in browser.get_log("browser") if e["level"] == "SEVERE"]
            self.assertEqual(errors, [])

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


class OddStudyInBrowser(unittest.TestCase):
    """50 factors, markup in names, a constant response and one that was never measured."""

    def test_it_is_shown(self):
        with opened("odd") as (_, browser):
            self.assertEqual(
                len(browser.find_elements(By.CSS_SELECTOR, "input[data-factor]")), 50)
            for selector in "#profile-good", "#profile-constant", "#overlay":
                figure = browser.find_element(By.CSS_SELECTOR, selector)
                browser.execute_script("arguments[0].scrollIntoView()", figure)
                WebDriverWait(browser, 30).until(
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


class WithoutScripts(unittest.TestCase):
    def test_answer_and_figures_are_there(self):
        with opened("fccd", scripts=False) as (_, browser):
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


if __name__ == "__main__":
    main()
