#!/usr/bin/env python3
"""Opens reports in headless Chromium and checks what their figures draw.

usage: test_drawings_in_browser.py MAKE_EXAMPLE_REPORT
"""

import csv
import io
import re
import unittest
import xml.dom.minidom

# First, for it ends the program where there is no Selenium.
from browser_case import FACTORS, PublishedReport, intervals, main, mean, opened
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select, WebDriverWait


class DrawingsInBrowser(PublishedReport):
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

    def test_a_figure_is_taken_along_before_it_was_near(self):
        figure = self.browser.find_element(By.ID, "overlay")
        self.assertEqual(figure.find_elements(By.CSS_SELECTOR, ".plot"), [])
        self.assertRegex(figure.find_element(By.TAG_NAME, "h3").get_attribute("textContent"), "slice")
        self.assertGreater(len(self.download(figure, "CSV").splitlines()), 1000)
        self.browser.refresh()
        figure = self.browser.find_element(By.ID, "overlay")
        xml.dom.minidom.parseString(self.download(figure, "SVG"))
        self.check_quiet()

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


class ConstraintsInBrowser(unittest.TestCase):
    """What the study excludes is covered in the contours and named beside the sliders."""

    def test_they_are_drawn_and_named(self):
        with opened("mixed") as (_, browser):
            figure = browser.find_element(By.ID, "overlay")
            browser.execute_script("arguments[0].scrollIntoView()", figure)
            WebDriverWait(browser, 30).until(
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

    def test_profiles_are_grey_where_settings_are_excluded(self):
        """The title's change is the largest between settings with batch * rate <= 256."""
        with opened("mixed") as (_, browser):
            figure = browser.find_element(By.CSS_SELECTOR, "[data-figure=profile]")
            browser.execute_script("arguments[0].scrollIntoView()", figure)
            WebDriverWait(browser, 30).until(
                lambda _: figure.find_elements(By.CSS_SELECTOR, ".plot > svg"))
            self.assertIn("Grey: settings that are excluded (batch * rate <= 256)",
                          figure.find_element(By.CSS_SELECTOR, "figcaption.live").text)
            grey = [part.get_attribute("d")
                    for part in figure.find_elements(By.CSS_SELECTOR, ".plot .excluded-part")]
            self.assertTrue(any(grey))
            changes = browser.execute_script("""
                const { data } = doetune;
                const response = data.responses.find((r) => r.name === arguments[0]);
                const settings = data.reference.settings;
                const [batch, rate] = ["batch", "rate"].map(
                    (name) => data.factors.findIndex((factor) => factor.name === name));
                return data.factors.map((factor, f) => {
                    const places = factor.kind === "categorical"
                        ? factor.level_names.map((_, i) => i)
                        : Array.from({ length: 41 }, (_, i) => -1 + i / 20);
                    const means = places.map((c) => settings.map((s, g) =>
                        (g === f ? doetune.natural(factor, c) : s)))
                        .filter((at) => at[batch] * at[rate] <= 256)
                        .map((at) => response.model.mean(doetune.codedPoint(data, at)));
                    return Math.max(...means) - Math.min(...means);
                });""", figure.get_attribute("data-response"))
            title = figure.find_element(By.CSS_SELECTOR, "h3.live").text
            said = float(re.search(r": by ([0-9.]+)", title)[1])
            self.assertAlmostEqual(said / max(changes), 1, delta=0.02, msg=title)

    def test_infeasible_runs_are_crosses(self):
        with opened("constrained") as (study, browser):
            infeasible = (study.parent / "constrained.csv").read_text().count("infeasible\n")
            figure = browser.find_element(By.ID, "overlay")
            browser.execute_script("arguments[0].scrollIntoView()", figure)
            WebDriverWait(browser, 30).until(
                lambda _: figure.find_elements(By.CSS_SELECTOR, ".plot > svg"))
            titles = browser.execute_script(
                "return [...document.querySelectorAll('.runs-of-slice title')].map((t) => t.textContent)")
            crosses = [title for title in titles if title.endswith(": infeasible")]
            self.assertGreater(infeasible, 0)
            self.assertEqual(len(crosses), infeasible)
            self.assertIn("infeasible run", figure.find_element(By.CSS_SELECTOR, ".legend").text)

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
        WebDriverWait(browser, 30).until(lambda _: browser.find_element(
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


if __name__ == "__main__":
    main()
