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
    return {
      data, response, settings, point, x, y, xs: natural(x), ys: natural(y),
      mean: over((p) => clamp(response.model.mean(p))),
      limits: limited.map((r) => ({
        response: r,
        margin: over((p) => Math.min(1, Math.max(-1, doetune.goalMargin(r.goal, r.model.mean(p))))),
        chance: over((p) => r.model.probability(p)),
      })),
    };
  };

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

  // The limit of a response: solid where its mean meets it, dashed where the next run does with
  // 95 % probability.
  function limitLayers(slice) {
    const line = (z, name, look) => ({
      x: slice.xs, y: slice.ys, type: "contour", z, autocontour: false, showscale: false,
      contours: { start: 0, end: 0, size: 1, coloring: "none" }, line: { width: 2.2, ...look },
      hoverinfo: "skip", name: doetune.plainText(name), showlegend: true });
    return slice.limits.flatMap(({ response, margin, chance }, i) => {
      const color = lineColours[i % lineColours.length];
      const goal = response.name + " " + response.goal.text;
      const layers = [line(margin, goal + ": mean", { color })];
      if (chance[0][0] !== null) {
        const gap = chance.map((row) => row.map((p) => logit(p) - logit(wanted)));
        const somewhere = gap.flat().some((g) => g >= 0);
        layers.push(line(gap, "95 % of next runs" + (somewhere ? "" : ": nowhere"),
                         { color, dash: "dash" }));
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
    const sliders = mark(slice, "sliders", settings, "cross-thin-open", 15, "#111");
    sliders.marker.line.width = 2.5;
    return [...all, sliders];
  }

  // `entries` of the legend stand below the plot, in as many columns as fit.
  function layout(slice, width, entries) {
    const { data, x, y } = slice;
    const legend = 20 * Math.ceil(entries / Math.max(1, Math.floor(width / 260)));
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
    const limited = slice.limits.length > 0;
    return "Predicted mean of " + doetune.format.nameWithUnit(response) +
      (held && ", with " + held) + ". Circles: measured runs, the smaller and fainter the farther " +
      "from this slice." +
      (limited ? " Grey: the mean of a response misses a limit. Solid lines: the mean just meets " +
                 "the limit. Dashed lines: the next run meets the limit with 95 % probability." : "") +
      (data.constrained ? " The study's constraints are not drawn here; the SVG files have them." : "");
  }

  // What the slice says of the limits, in a sentence.
  function conclusion(slice) {
    if (slice.limits.length === 0) {
      const all = slice.mean.flat();
      const short = doetune.format.short;
      return "Over this slice, " + slice.response.name + " lies between " +
        short(Math.min(...all)) + " and " +
        doetune.format.withUnit(short(Math.max(...all)), slice.response.unit) + ".";
    }
    const share = (grid, level) => {
      const all = grid.flat();
      return doetune.format.percent(all.filter((v) => v >= level).length / all.length);
    };
    const certain = least(slice, (limit) => limit.chance).flat().some((p) => p >= wanted);
    const text = share(least(slice, (limit) => limit.margin), 0) +
      " of this slice meets every limit on average";
    if (slice.limits.some(({ chance }) => chance[0][0] === null)) return text + ".";
    return text + (certain
      ? "; in " + share(least(slice, (limit) => limit.chance), wanted) +
        " the next run meets each with 95 % probability."
      : "; nowhere does the next run meet each with 95 % probability.");
  }

  function choice(label, names, chosen, changed) {
    const select = doetune.element("select", { "aria-label": label },
      ...names.map((name) => doetune.element("option", { value: name }, name)));
    select.value = chosen;
    select.addEventListener("change", changed);
    return { node: doetune.element("label", {}, label + " ", select), value: () => select.value,
             set: (value) => { select.value = value; } };
  }

  // Choosers of the response and of the two factors; a factor chosen twice changes places.
  function choosers(figure, data, changed) {
    const numeric = data.factors.filter((f) => f.kind !== "categorical").map((f) => f.name);
    const responses = data.responses.filter((r) => r.model).map((r) => r.name);
    let pair = [figure.dataset.x, figure.dataset.y];
    const apart = () => {
      if (x.value() === y.value()) { x.set(pair[1]); y.set(pair[0]); }
      pair = [x.value(), y.value()];
      changed();
    };
    const response = choice("Response", responses, figure.dataset.response, changed);
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
