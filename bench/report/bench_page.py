#!/usr/bin/env python3
"""How long a report takes in headless Chromium: to its first profile, and at a slider's move.

usage: bench_page.py REPORT.html [MOVES]

Needs Debian's python3-selenium, chromium and chromium-driver.
"""

import pathlib
import shutil
import sys

from selenium import webdriver
from selenium.webdriver.chrome.service import Service

# Since the start of the navigation, until the first profile stands.
FIRST = """
const done = arguments[0];
const start = performance.now();
document.querySelector("#explore").scrollIntoView();
function wait() {
  if (document.querySelector(".plot > svg path[d^=M]")) return done(performance.now());
  if (performance.now() - start > 20000) return done(-1);
  setTimeout(wait, 2);
}
wait();"""

# A move to the numbers, to the first profile, and until everything visible stands again.
MOVES = """
const [count, done] = arguments;
const slider = document.querySelectorAll("input[data-factor]")[1];
const times = { numbers: [], profile: [], all: [] };
const path = document.querySelector(".plot > svg path[stroke-width='2']");
function move(i) {
  if (i === count) return done(times);
  const start = performance.now();
  let first = true;
  const observer = new MutationObserver(() => {
    if (first) times.profile.push(performance.now() - start);
    first = false;
  });
  observer.observe(path, { attributes: true });
  slider.value = (i * 7) % (Number(slider.max) + 1);
  slider.dispatchEvent(new Event("input"));
  times.numbers.push(performance.now() - start);
  setTimeout(() => { observer.disconnect(); move(i + 1); }, 600);
}
move(0);"""


def browser():
    options = webdriver.ChromeOptions()
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                     "--window-size=1300,900"):
        options.add_argument(argument)
    options.binary_location = shutil.which("chromium")
    return webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))


def main():
    page = pathlib.Path(sys.argv[1]).resolve()
    moves = int(sys.argv[2]) if len(sys.argv) > 2 else 15
    chromium = browser()
    chromium.set_script_timeout(120)
    try:
        firsts = []
        for _ in range(5):
            chromium.get("about:blank")
            chromium.get(page.as_uri())
            firsts.append(chromium.execute_async_script(FIRST))
        times = chromium.execute_async_script(MOVES, moves)
    finally:
        chromium.quit()
    print(f"{page.stat().st_size / 1e6:.2f} MB; first profile after {sorted(firsts)[2]:.0f} ms "
          f"(fastest {min(firsts):.0f}) of navigation")
    for name in ("numbers", "profile"):
        sample = sorted(times[name])
        print(f"slider to {name}: median {sample[len(sample) // 2]:.1f} ms, "
              f"slowest {sample[-1]:.1f} ms of {len(sample)}")


if __name__ == "__main__":
    main()
