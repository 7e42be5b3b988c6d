#!/usr/bin/env python3
"""What headless Chromium shows of a study while its runs are made. Exit code 77: no Selenium.

usage: test_live_in_browser.py DOETUNE SOURCE_TREE
"""
import os
import re
import subprocess
import sys

from cli_case import DOETUNE, TREE, CliCase, main

sys.path.append(str(TREE / "tests/reports"))
from browser_case import By, WebDriverWait, open_browser  # noqa: E402


class LiveInBrowser(CliCase):
    def test_a_page_follows_the_runs_to_their_end(self):
        self.hold_after(4)
        self.doetune("plan", "tune.yaml")
        process = subprocess.Popen([str(DOETUNE), "run", "tune", "--live"], cwd=self.directory, text=True,
                                   stderr=subprocess.PIPE, env={**os.environ, "SLOW": "0.3"})
        browser = open_browser()
        try:
            browser.get(re.search(r"http://\S+", process.stderr.readline())[0])
            text = lambda id: browser.find_element(By.ID, id).text
            until = lambda condition: WebDriverWait(browser, 300, 0.1).until(lambda _: condition())
            reports = lambda: browser.execute_script(
                "return Array.from(document.querySelectorAll('iframe:not(.waiting)'))"
                ".map((frame) => frame.src)")
            until(reports)
            self.assertEqual(text("phase"), "RUNNING")
            self.assertRegex(text("counts"), r"^\d+ of 14 runs")
            self.assertRegex(text("best"), r"Best run\s+#\d+ a=\S+ b=\S+: y \S+ points")
            # A reader's place and settings survive a newer report.
            first = reports()
            browser.execute_script(
                "const view = document.querySelector('iframe').contentWindow;"
                "view.location.hash = '#.hide=runs'; view.document.getElementById('runs').scrollIntoView()")
            self.release()
            until(lambda: reports() and reports() != first)
            self.assertEqual(len(reports()), 1)
            top, address = browser.execute_script(
                "const view = document.querySelector('iframe').contentWindow;"
                "return [view.document.getElementById('runs').getBoundingClientRect().top, view.location.hash]")
            self.assertLess(abs(top), 5)
            self.assertEqual(address, "#.hide=runs")
            until(lambda: text("phase") == "FINISHED")
            process.communicate(timeout=300)
            self.assertEqual(process.returncode, 0)
            # The page stays, with the last report, when there is nobody to ask any more.
            self.assertEqual(text("counts"), "14 of 14 runs")
            until(lambda: browser.execute_script(
                "return document.querySelector('iframe').contentWindow.document"
                ".querySelectorAll('#runs tbody tr').length") >= 14)
            self.assertEqual([entry for entry in browser.get_log("browser") if entry["level"] == "SEVERE"], [])
        finally:
            browser.quit()
            process.kill()
            process.communicate()


if __name__ == "__main__":
    main()
