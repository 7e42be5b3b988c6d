// Puts the page together: sliders drive predictions, profiles and contours. Without this file the
// page shows the same figures as static drawings at the optimum.
"use strict";
(function (doetune) {
  const data = JSON.parse(document.getElementById("report-data").textContent);
  doetune.data = data;

  doetune.codedPoint = (of, settings) =>
    of.factors.map((factor, f) => doetune.coded(factor, settings[f]));

  // How far a run lies from the slice through a point along the factors `along`: the root mean
  // square of the coded distances along the others.
  doetune.distance = function (of, run, point, along) {
    let sum = 0;
    let count = 0;
    point.forEach((c, f) => {
      if (along.includes(f)) return;
      const gap = of.factors[f].kind === "categorical" ? Number(run.coded[f] !== c)
                                                       : run.coded[f] - c;
      sum += gap * gap;
      ++count;
    });
    return count ? Math.sqrt(sum / count) : 0;
  };

  // How plainly such a run is drawn: 1 on the slice, faint far away.
  doetune.nearness = (distance) => Math.max(0.1, 1 - distance / 1.2);

  for (const response of data.responses) {
    if (typeof response.covariance === "number") {
      response.covariance = data.responses[response.covariance].covariance;
    }
    response.model = doetune.surface(data.factors, response);
  }
  Object.assign(data, doetune.regionOf(data));
  for (const run of data.runs) {
    run.coded = doetune.codedPoint(data, run.settings);
    run.responses = Object.fromEntries(run.values
      .map((value, r) => [data.responses[r].name, value]).filter(([, value]) => value !== null));
  }
  const fitted = data.responses.filter((response) => response.model);

  // Predictions of every fitted response at settings: a list in the order of data.factors (natural
  // units; a level's index where categorical), or an object by name (levels by name).
  doetune.predict = function (settings) {
    const value = (factor, f) => {
      if (Array.isArray(settings)) return settings[f];
      const given = settings[factor.name];
      return typeof given === "string" ? factor.level_names.indexOf(given) : given;
    };
    const point = doetune.codedPoint(data, data.factors.map(value));
    return Object.fromEntries(fitted.map((response) =>
      [response.name, response.model.predict(point)]));
  };

  const kinds = { profile: doetune.profileFigure, contour: doetune.contourFigure };
  const long = 60; // ms: a figure that takes longer to draw waits until the sliders rest
  const rest = 120; // ms
  let settings = data.reference.settings;
  let panel = null;
  const visible = new Set();
  const known = new Set(fitted.map((response) => response.name));

  // The figures that scripts draw. On the screen a plot takes the place of the static drawing once
  // it is near; on paper the drawing stays.
  const figures = Array.from(document.querySelectorAll("figure[data-figure]"))
    .filter((figure) => kinds[figure.dataset.figure] && known.has(figure.dataset.response))
    .map((figure) => ({ figure, kind: figure.dataset.figure, stale: true, live: null,
                       drawn: 0, took: 0 }));

  function begin(item) {
    const plot = doetune.element("div", { class: "plot" });
    item.title = doetune.element("h3", { class: "live" });
    item.caption = doetune.element("figcaption", { class: "live" });
    item.figure.querySelector(".downloads").before(item.title, plot, item.caption);
    item.figure.classList.add("drawn");
    const again = () => { item.stale = true; schedule(); };
    item.live = kinds[item.kind](item.figure, data, plot, panel.move, again);
    let width = plot.clientWidth;
    new ResizeObserver(() => {
      if (plot.clientWidth !== width) again();
      width = plot.clientWidth;
    }).observe(plot);
  }

  function draw(item) {
    if (item.live === null) begin(item);
    item.stale = false;
    const begun = performance.now();
    const { title, caption } = item.live.draw(settings);
    item.title.textContent = title;
    item.caption.textContent = caption;
    item.drawn = performance.now();
    item.took = item.drawn - begun;
  }

  // One plot a frame, so that a slider never waits for all of them; the one drawn longest ago, so
  // that all follow.
  let frame = 0;
  let restsFrom = 0;
  function drawNext() {
    const now = performance.now();
    const due = figures.filter((item) => item.stale && visible.has(item));
    const ready = due.filter((item) => item.took < long || now >= restsFrom);
    if (ready.length > 0) draw(ready.reduce((a, b) => (b.drawn < a.drawn ? b : a)));
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
    restsFrom = performance.now() + rest;
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

  function addDownloads() {
    for (const figure of document.querySelectorAll("figure[id]")) {
      const item = figures.find((other) => other.figure === figure);
      const fixed = known.has(figure.dataset.response) && figure.dataset.x;
      if (item) {
        doetune.addDownloads(figure, () => item.live && item.live.rows(),
                             () => { if (panel && item.stale) draw(item); });
      } else {
        doetune.addDownloads(figure, fixed && (() => doetune.contourRows(figure, data)));
      }
    }
  }

  document.querySelectorAll("#runs table").forEach(doetune.makeSortable);
  document.querySelectorAll("#runs table").forEach(doetune.addRemarkFilter);
  addDownloads();
  const place = document.getElementById("settings");
  if (place === null || fitted.length === 0) return;
  document.documentElement.classList.add("interactive");
  panel = doetune.buildSettings(place, data, changed);
  watch();
})((window.doetune = window.doetune || {}));
