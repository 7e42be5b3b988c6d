// Puts the page together: sliders drive predictions, profiles and contours. Without this file the
// page shows the same figures as static drawings at the optimum.
"use strict";
(function (doetune) {
  const data = JSON.parse(document.getElementById("report-data").textContent);
  const fitted = data.responses.filter((response) => response.fitted);

  // Predictions of every fitted response at settings: a list in the order of data.factors (natural
  // units; a level's index where categorical), or an object by name (levels by name).
  doetune.predict = function (settings) {
    const value = (factor, f) => {
      if (Array.isArray(settings)) return settings[f];
      const given = settings[factor.name];
      return typeof given === "string" ? factor.level_names.indexOf(given) : given;
    };
    const point = data.factors.map((factor, f) => doetune.coded(factor, value(factor, f)));
    return Object.fromEntries(fitted.map((response) =>
      [response.name, doetune.predictOne(data.factors, response, point)]));
  };
  doetune.data = data;

  const kinds = { profile: doetune.profileFigure, contour: doetune.contourFigure };
  const contourDelay = 120; // ms of rest before contours follow a slider
  let settings = data.reference.settings;
  const visible = new Set();

  // The figures that scripts draw. On the screen a plot takes the place of the static drawing once
  // it is near; on paper the drawing stays.
  const figures = Array.from(document.querySelectorAll("figure[data-figure]")).map((figure) => ({
    figure, kind: figure.dataset.figure, stale: true, plot: null, caption: null,
    draw: kinds[figure.dataset.figure](figure, data),
  }));

  function addPlot(item) {
    item.plot = document.createElement("div");
    item.plot.className = "plot";
    item.caption = document.createElement("figcaption");
    item.caption.className = "live";
    item.figure.append(item.plot, item.caption);
    item.figure.classList.add("drawn");
  }

  function draw(item) {
    if (item.plot === null) addPlot(item);
    item.stale = false;
    item.caption.textContent = item.draw(item.plot, settings);
  }

  // One plot a frame, so that a slider never waits for all of them.
  let frame = 0;
  let contoursFrom = 0;
  function drawNext() {
    const now = performance.now();
    const due = figures.filter((item) => item.stale && visible.has(item));
    const next = due.find((item) => item.kind !== "contour" || now >= contoursFrom);
    if (next) draw(next);
    frame = due.length > 0 ? requestAnimationFrame(drawNext) : 0;
  }

  function schedule() {
    if (frame === 0) frame = requestAnimationFrame(drawNext);
  }

  function redraw() {
    figures.forEach((item) => { item.stale = true; });
    schedule();
  }

  function changed(moved) {
    settings = moved;
    contoursFrom = performance.now() + contourDelay;
    redraw();
  }

  function watch() {
    const items = new Map(figures.map((item) => [item.figure, item]));
    const observer = new IntersectionObserver((entries) => {
      for (const entry of entries) {
        const item = items.get(entry.target);
        if (entry.isIntersecting) visible.add(item); else visible.delete(item);
      }
      schedule();
    }, { rootMargin: "200px" });
    figures.forEach((item) => observer.observe(item.figure));
  }

  const panel = document.getElementById("settings");
  if (panel === null || fitted.length === 0) return;
  document.documentElement.classList.add("interactive");
  doetune.buildSettings(panel, data, changed);
  watch();
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
})((window.doetune = window.doetune || {}));
