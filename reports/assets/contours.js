// Contours: a response over two factors, the others at the sliders' settings, and where the limits
// of all responses hold.
"use strict";
(function (doetune) {
  const nodes = 41;
  const fewNodes = 17; // of surfaces that take long
  const wanted = 0.95; // the probability that the next run meets a limit
  const mostRuns = 150;
  const lineColours = ["#111111", "#cc3311", "#aa3377", "#7a4100"];

  const limitedOf = (data) => data.responses.filter((r) => r.model && r.goal && r.goal.is_limit);
  const logit = (p) => Math.min(6, Math.max(-6, Math.log(p) - Math.log1p(-p)));

  // By how much the study's conditions allow settings, negative where one excludes them.
  function allowedOver(data, settings, x, y, xs, ys) {
    const far = 1e9;
    const margin = (at) => Math.min(...data.conditions.map((condition) => condition.margin(at)));
    return ys.map((cy) => xs.map((cx) => {
      const m = margin(settings.map((s, f) => (f === x ? cx : f === y ? cy : s)));
      return Number.isNaN(m) ? -far : Math.min(far, Math.max(-far, m));
    }));
  }

  // All that is drawn of a response over factors x and y; grids are rows from the bottom.
  doetune.sliceOf = function (data, response, settings, x, y) {
    const limited = limitedOf(data);
    const slow = [response, ...limited].some((r) => r.model.slow);
    const count = slow ? fewNodes : nodes;
    const places = Array.from({ length: count }, (_, i) => -1 + (2 * i) / (count - 1));
    const point = doetune.codedPoint(data, settings);
    const over = (value) => places.map((cy) => places.map((cx) => {
      const here = point.slice();
      here[x] = cx;
      here[y] = cy;
      return value(here);
    }));
    // Values far beyond what was observed (a transform has poles) would drown the levels.
    const room = 5 * (response.observed_high - response.observed_low || 1);
    const clamp = (z) =>
      Math.min(Math.max(z, response.observed_low - room), response.observed_high + room);
    const natural = (f) => places.map((c) => doetune.natural(data.factors[f], c));
    const [xs, ys] = [natural(x), natural(y)];
    return {
      allowed: data.conditions.length > 0 ? allowedOver(data, settings, x, y, xs, ys) : null,
      data, response, settings, point, x, y, xs, ys,
      mean: over((p) => clamp(response.model.mean(p))),
      limits: limited.map((r) => ({
        response: r,
        margin: over((p) => Math.min(1, Math.max(-1, doetune.goalMargin(r.goal, r.model.mean(p))))),
        chance: over((p) => r.model.probability(p)),
      })),
    };
  };

  // Whether a grid has its level 0 anywhere: a line that is not there needs no name.
  const crossed = (grid) => grid.flat().some((z) => z > 0) && grid.flat().some((z) => z <= 0);

  const least = (slice, part) => slice.mean.map((row, j) => row.map((_, i) =>
    Math.min(1, ...slice.limits.map((limit) => part(limit)[j][i]))));

  // Below the mask the filled bands, above it lines and labels.
  function meanLayers(slice) {
    const shared = { x: slice.xs, y: slice.ys, type: "contour", z: slice.mean, ncontours: 10,
                     showscale: false, showlegend: false };
    return [{ ...shared, colorscale: doetune.viridis(), line: { width: 0 },
              hovertemplate: "%{x}, %{y}: %{z:.4g} " + doetune.plainText(slice.response.unit) +
                             "<extra></extra>" },
            { ...shared, hoverinfo: "skip", line: { color: "#fff", width: 1 },
              contours: { coloring: "none", showlabels: true,
                          labelfont: { size: 11, color: "#111" } } }];
  }

  // Grey where the mean misses a limit: a filled contour with one level, of the amount by which it
  // is missed. Plotly paints all of the plot in the colour below the level, then what lies above.
  function missedLayer(slice) {
    if (slice.limits.length === 0) return [];
    const missed = least(slice, (limit) => limit.margin).map((row) => row.map((m) => -m));
    const grey = "rgba(110,110,110,0.72)";
    const clear = "rgba(110,110,110,0)";
    return [{ x: slice.xs, y: slice.ys, type: "contour", z: missed, zmin: -1, zmax: 1,
              autocontour: false, contours: { start: 0, end: 0, size: 1, coloring: "fill" },
              colorscale: [[0, clear], [0.5, clear], [0.5, grey], [1, grey]],
              line: { width: 0 }, showscale: false, hoverinfo: "skip", showlegend: false }];
  }

  // What the study's constraints exclude, covered; runs are drawn above it.
  function excludedLayers(slice) {
    if (slice.allowed === null || slice.allowed.flat().every((m) => m > 0)) return [];
    const { paper, quiet } = doetune.colours();
    const shared = { x: slice.xs, y: slice.ys, type: "contour", autocontour: false,
                     showscale: false, hoverinfo: "skip", showlegend: false };
    const clear = "rgba(0,0,0,0)";
    const contours = { start: 0, end: 0, size: 1 };
    return [{ ...shared, z: slice.allowed.map((row) => row.map((m) => -m)), zmin: -1, zmax: 1,
              contours: { ...contours, coloring: "fill" }, line: { width: 0 },
              colorscale: [[0, clear], [0.5, clear], [0.5, paper], [1, paper]] },
            { ...shared, z: slice.allowed, contours: { ...contours, coloring: "none" },
              line: { color: quiet, width: 1.5 } }];
  }

  // The limit of a response: solid where its mean meets it, dashed where the next run does with
  // 95 % probability.
  function limitLayers(slice) {
    const line = (z, name, look) => ({
      x: slice.xs, y: slice.ys, type: "contour", z, autocontour: false, showscale: false,
      contours: { start: 0, end: 0, size: 1, coloring: "none" }, line: { width: 2.2, ...look },
      hoverinfo: "skip", name: doetune.plainText(name), showlegend: true });
    return slice.limits.flatMap(({ response, margin, chance }, i) => {
      const color = lineColours[i % lineColours.length];
      const name = response.name + " " + response.goal.text;
      const layers = crossed(margin) ? [line(margin, name + ": mean", { color })] : [];
      if (chance[0][0] === null) return layers;
      const gap = chance.map((row) => row.map((p) => logit(p) - logit(wanted)));
      if (crossed(gap)) {
        layers.push(line(gap, name + ": 95 % of next runs", { color, dash: "dash" }));
      }
      return layers;
    });
  }

  function runLayer(slice) {
    const { data, response, x, y, point } = slice;
    const near = data.runs.filter((run) => response.name in run.responses)
      .map((run) => [run, doetune.distance(data, run, point, [x, y])])
      .sort((a, b) => a[1] - b[1]).slice(0, mostRuns).reverse();
    const opacity = near.map(([, distance]) => doetune.nearness(distance));
    return {
      type: "scatter", mode: "markers", showlegend: false, cliponaxis: false,
      x: near.map(([run]) => run.settings[x]), y: near.map(([run]) => run.settings[y]),
      marker: { size: opacity.map((o) => 5 + 5 * o), opacity: opacity.map((o) => 0.25 + 0.75 * o),
                color: "#fff", line: { color: "#111", width: 1.3 } },
      text: near.map(([run]) => "run " + run.run + ": " + doetune.plainText(
        doetune.format.withUnit(doetune.format.short(run.responses[response.name]),
                                response.unit))),
      hovertemplate: "%{text}<extra></extra>" };
  }

  function mark(slice, name, settings, symbol, size, colour) {
    return { type: "scatter", mode: "markers", showlegend: true, name, cliponaxis: false,
             x: [settings[slice.x]], y: [settings[slice.y]],
             marker: { symbol, size, color: colour, line: { color: "#fff", width: 1.5 } },
             hovertemplate: name + "<extra></extra>" };
  }

  function marks(slice) {
    const { data, settings } = slice;
    const baseline = data.factors.map((factor) => factor.baseline);
    const all = [];
    if (!baseline.includes(null)) {
      all.push(mark(slice, "baseline", baseline, "diamond", 13, "#0072b2"));
    }
    if (data.optimum) all.push(mark(slice, "optimum", data.optimum.settings, "star", 18, "#d55e00"));
    if (data.optimum && data.optimum.settings.every((s, f) => s === settings[f])) return all;
    const sliders = mark(slice, "sliders", settings, "cross-thin-open", 15, "#111");
    sliders.marker.line.width = 2.5;
    return [...all, sliders];
  }

  // `entries` of the legend stand below the plot, in as many columns as fit.
  function layout(slice, width, entries) {
    const { data, x, y } = slice;
    const legend = 20 * Math.ceil(entries / Math.max(1, Math.floor(width / 340)));
    return { ...doetune.baseLayout(), height: 430 + legend,
             margin: { l: 70, r: 14, t: 10, b: 60 + legend },
             showlegend: true, // The lines and marks are those of the plot: black ones too, so on white in the dark as well.
             legend: { orientation: "h", y: -0.16, yanchor: "top", x: 0, bgcolor: "#fff",
                       font: { color: "#111" } },
             xaxis: { ...doetune.baseAxis(), ...doetune.factorAxis(data.factors[x]) },
             yaxis: { ...doetune.baseAxis(), ...doetune.factorAxis(data.factors[y]) } };
  }

  // "a = 1, b = 2 Hz": where the other factors stand.
  function heldText({ data, settings, x, y }) {
    const others = data.factors.map((_, f) => f).filter((f) => f !== x && f !== y);
    if (others.length > 12) return "the other factors at the sliders' settings";
    return others.map((f) => data.factors[f].name + " = " + doetune.format.withUnit(
      doetune.format.setting(data.factors[f], settings[f]), data.factors[f].unit)).join(", ");
  }

  function caption(slice) {
    const { data, response } = slice;
    const held = heldText(slice);
    const missed = slice.limits.some(({ margin }) => margin.flat().some((m) => m < 0));
    return "Predicted mean of " + doetune.format.nameWithUnit(response) +
      (held && ", with " + held) + ". Circles: measured runs, smaller and fainter the farther " +
      "from this slice." +
      (missed ? " Grey: the mean of a response violates a limit." : "") +
      (limitLayers(slice).length > 0 ? " Solid lines: the mean just meets the limit. Dashed " +
        "lines: the next run meets the limit with 95 % probability." : "") +
      (excludedLayers(slice).length > 0 ? " Blank: settings that are excluded (" +
        data.conditions.map(({ text }) => text).join("; ") + ")." : "") +
      (data.unread > 0 ? " Some of the study's constraints are not drawn here; the SVG files have " +
                         "them." : "");
  }

  // "0.06 to 0.87 TFLOP/s": the least and the greatest mean, to the digits they are known to.
  function rangeText({ data, response, settings, x, y, xs, ys, mean }) {
    const all = mean.flat();
    const text = (z) => {
      const place = all.indexOf(z);
      const at = settings.map((s, f) => (f === x ? xs[place % xs.length]
                                         : f === y ? ys[Math.floor(place / xs.length)] : s));
      const { confidence_interval: known } = response.model.predict(doetune.codedPoint(data, at));
      return doetune.format.numberTo(z, doetune.format.halfWidth(known));
    };
    return text(Math.min(...all)) + " to " +
      doetune.format.withUnit(text(Math.max(...all)), response.unit);
  }

  // What the slice says of the limits, in a sentence.
  function conclusion(slice) {
    if (slice.limits.length === 0) {
      return "Over this slice, " + slice.response.name + " ranges from " + rangeText(slice) + ".";
    }
    const counted = (grid) => grid.flat()
      .filter((_, i) => slice.allowed === null || slice.allowed.flat()[i] > 0);
    const share = (part, level) => {
      const all = counted(least(slice, part));
      return all.filter((v) => v >= level).length / all.length;
    };
    const met = share((limit) => limit.margin, 0);
    if (Number.isNaN(met)) return "The study's constraints exclude all of this slice.";
    const words = (s) => (s === 1 ? "All" : s === 0 ? "None" : doetune.format.percent(s));
    const text = words(met) + " of " +
      (excludedLayers(slice).length > 0 ? "the allowed part" : "this slice") +
      " meets every limit on average";
    if (met === 0 || slice.limits.some(({ chance }) => chance[0][0] === null)) return text + ".";
    const sure = share((limit) => limit.chance, wanted);
    if (sure === met) return text + ", and in the next run with 95 % probability.";
    return text + ", " + words(sure).toLowerCase() + " in the next run with 95 % probability.";
  }

  function choice(label, names, chosen, changed) {
    const select = doetune.element("select", { "aria-label": label },
      ...names.map((name) => doetune.element("option", { value: name }, name)));
    select.value = chosen;
    select.addEventListener("change", changed);
    return { node: doetune.element("label", {}, label + " ", select), value: () => select.value,
             set: (value) => { select.value = value; } };
  }

  // The response and the two factors that the address names, or those of the figure.
  function firstChoice({ dataset }, responses, numeric) {
    const [response, x, y] = (doetune.address.get(".contour") || "").split(",");
    const known = responses.includes(response) && numeric.includes(x) && numeric.includes(y);
    return known && x !== y ? [response, x, y] : [dataset.response, dataset.x, dataset.y];
  }

  // Choosers of the response and of the two factors; a factor chosen twice changes places.
  function choosers(figure, data, changed) {
    const numeric = data.factors.filter((f) => f.kind !== "categorical").map((f) => f.name);
    const responses = data.responses.filter((r) => r.model).map((r) => r.name);
    const [first, ...factors] = firstChoice(figure, responses, numeric);
    let pair = factors;
    const chosen = () => {
      doetune.address.set({ ".contour": [response.value(), ...pair].join(",") });
      changed();
    };
    const apart = () => {
      if (x.value() === y.value()) { x.set(pair[1]); y.set(pair[0]); }
      pair = [x.value(), y.value()];
      chosen();
    };
    const response = choice("Response", responses, first, chosen);
    const x = choice("across", numeric, pair[0], apart);
    const y = choice("up", numeric, pair[1], apart);
    const index = (of) => data.factors.findIndex((factor) => factor.name === of.value());
    return {
      node: doetune.element("div", { class: "choosers" }, response.node, x.node, y.node),
      chosen: () => [data.responses.find((r) => r.name === response.value()), index(x), index(y)],
    };
  }

  function gridRows({ data, response, x, y, xs, ys, mean, limits }) {
    const header = [data.factors[x].name, data.factors[y].name, response.name,
                    ...limits.map((limit) => "probability_" + limit.response.name)];
    return [header, ...ys.flatMap((cy, j) => xs.map((cx, i) =>
      [cx, cy, mean[j][i], ...limits.map((limit) => limit.chance[j][i] ?? "")]))];
  }

  // The numbers of a static figure.
  doetune.contourRows = function ({ dataset }, data) {
    const index = (name) => data.factors.findIndex((factor) => factor.name === name);
    const response = data.responses.find((r) => r.name === dataset.response);
    return gridRows(doetune.sliceOf(data, response, data.reference.settings, index(dataset.x),
                                    index(dataset.y)));
  };

  // The drawing of the figure: draw(settings) redraws it and says what it shows, rows() are its
  // numbers.
  doetune.contourFigure = function (figure, data, target, move, again) {
    let slice = null;
    const controls = choosers(figure, data, again);
    const surface = doetune.surfaceFigure();
    target.before(controls.node);
    target.after(surface.node);
    return {
      draw: (settings) => {
        const [response, x, y] = controls.chosen();
        slice = doetune.sliceOf(data, response, settings, x, y);
        const [bands, lines] = meanLayers(slice);
        const traces = [bands, ...missedLayer(slice), lines, ...limitLayers(slice),
                        ...excludedLayers(slice),
                        runLayer(slice), ...marks(slice)];
        const entries = traces.filter((trace) => trace.showlegend).length;
        Plotly.react(target, traces, layout(slice, target.clientWidth, entries),
                     doetune.plotConfig());
        surface.show(slice);
        return { title: conclusion(slice), caption: caption(slice) };
      },
      rows: () => gridRows(slice),
    };
  };
})((window.doetune = window.doetune || {}));
