// Contours: a response over two factors, the others at the sliders' settings.
"use strict";
(function (doetune) {
  const nodes = 41;
  const nearSlice = 0.35;

  const codedNodes = Array.from({ length: nodes }, (_, i) => -1 + (2 * i) / (nodes - 1));

  // value(point) over the grid, row by row from the bottom.
  function over(point, x, y, value) {
    return codedNodes.map((cy) => codedNodes.map((cx) => {
      point[x] = cx;
      point[y] = cy;
      return value(point);
    }));
  }

  // Below the mask the filled bands, above it lines and labels.
  function meanLayers(data, response, point, x, y, axes) {
    const span = response.observed_high - response.observed_low || 1;
    const clamp = (z) => Math.min(Math.max(z, response.observed_low - 5 * span),
                                  response.observed_high + 5 * span);
    const z = over(point.slice(), x, y, (p) => clamp(doetune.mean(data.factors, response, p)));
    const shared = { ...axes, type: "contour", z, ncontours: 10, showscale: false };
    return [{ ...shared, colorscale: doetune.viridis(), line: { width: 0 },
              hovertemplate: "%{x}, %{y}: %{z:.4g} " + doetune.plainText(response.unit) +
                             "<extra></extra>" },
            { ...shared, hoverinfo: "skip", line: { color: "#fff", width: 1 },
              contours: { coloring: "none", showlabels: true,
                          labelfont: { size: 11, color: "#111" } } }];
  }

  // Grey where the mean misses a limit: a filled contour with one level, of the amount by which it
  // is missed. Plotly paints all of the plot in the colour below the level, then what lies above.
  function missedLayer(data, point, x, y, axes) {
    const limited = data.responses.filter((r) => r.fitted && r.goal && r.goal.is_limit);
    if (limited.length === 0) return [];
    const missed = (p) => Math.max(-1, ...limited.map((r) =>
      -doetune.goalMargin(r.goal, doetune.mean(data.factors, r, p))));
    const grey = "rgba(128,128,128,0.72)";
    const clear = "rgba(128,128,128,0)";
    return [{ ...axes, type: "contour", z: over(point.slice(), x, y, (p) => Math.min(1, missed(p))),
              autocontour: false, contours: { start: 0, end: 0, size: 1, coloring: "fill" },
              colorscale: [[0, clear], [0.5, clear], [0.5, grey], [1, grey]],
              line: { color: "#111", width: 2 }, showscale: false, hoverinfo: "skip" }];
  }

  function runLayers(data, response, point, x, y) {
    const distance = (run) => Math.max(0, ...run.coded.map((c, f) =>
      f === x || f === y ? 0 : Math.abs(c - point[f])));
    const measured = data.runs.filter((run) => run.responses && response.name in run.responses);
    const layer = (runs, size, opacity) => ({
      type: "scatter", mode: "markers", showlegend: false, cliponaxis: false,
      x: runs.map((run) => run.settings[x]), y: runs.map((run) => run.settings[y]),
      marker: { size, opacity, color: "#fff", line: { color: "#111", width: 1.3 } },
      text: runs.map((run) => "run " + run.run + ": " + doetune.plainText(doetune.format.withUnit(
        doetune.format.short(run.responses[response.name]), response.unit))),
      hovertemplate: "%{text}<extra></extra>" });
    return [layer(measured.filter((run) => distance(run) > nearSlice), 6, 0.5),
            layer(measured.filter((run) => distance(run) <= nearSlice), 10, 1)];
  }

  function mark(name, x, y, symbol, size, colour) {
    return { type: "scatter", mode: "markers", showlegend: false, cliponaxis: false, x: [x], y: [y],
             marker: { symbol, size, color: colour, line: { color: "#fff", width: 1.5 } },
             hovertemplate: name + "<extra></extra>" };
  }

  function traces(data, response, settings, x, y) {
    const point = data.factors.map((factor, f) => doetune.coded(factor, settings[f]));
    const values = (f) => codedNodes.map((c) => doetune.natural(data.factors[f], c));
    const axes = { x: values(x), y: values(y) };
    const marks = [mark("sliders", settings[x], settings[y], "cross-thin-open", 14, "#111")];
    if (data.optimum) {
      marks.push(mark("optimum", data.optimum.settings[x], data.optimum.settings[y], "star", 18,
                      doetune.colours().optimum));
    }
    const [bands, lines] = meanLayers(data, response, point, x, y, axes);
    return [bands, ...missedLayer(data, point, x, y, axes), lines,
            ...runLayers(data, response, point, x, y), ...marks];
  }

  function layout(data, x, y) {
    return { ...doetune.baseLayout(), height: 380, margin: { l: 62, r: 12, t: 8, b: 46 },
             xaxis: { ...doetune.baseAxis(), ...doetune.factorAxis(data.factors[x]) },
             yaxis: { ...doetune.baseAxis(), ...doetune.factorAxis(data.factors[y]) } };
  }

  function caption(data, response, settings, x, y) {
    const held = data.factors.map((factor, f) => f === x || f === y ? "" : factor.name + " = " +
      doetune.format.withUnit(doetune.format.setting(factor, settings[f]), factor.unit))
      .filter((text) => text !== "").join(", ");
    const limited = data.responses.some((r) => r.fitted && r.goal && r.goal.is_limit);
    return "Predicted mean of " + doetune.format.nameWithUnit(response) +
      (held && ", with " + held) + ". Circles: measured runs, small where they lie off this " +
      "slice." + (data.optimum ? " Star: the optimum." : "") + " Cross: the sliders." +
      (limited ? " Grey: a goal is missed." : "") +
      (data.constrained ? " The study's constraints are not drawn here; the SVG file has them." : "");
  }

  // Registers a figure; returns the function that draws it at settings and says what is drawn.
  doetune.contourFigure = function (figure, data) {
    const response = data.responses.find((r) => r.name === figure.dataset.response);
    const index = (name) => data.factors.findIndex((factor) => factor.name === name);
    const x = index(figure.dataset.x);
    const y = index(figure.dataset.y);
    return (target, settings) => {
      Plotly.react(target, traces(data, response, settings, x, y), layout(data, x, y),
                   doetune.plotConfig());
      return caption(data, response, settings, x, y);
    };
  };
})((window.doetune = window.doetune || {}));
