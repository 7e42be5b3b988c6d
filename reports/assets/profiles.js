// Profiles: each response along each factor through the sliders' settings.
"use strict";
(function (doetune) {
  const steps = 40;
  const rowHeight = 230;
  const narrowest = 200; // pixels a plot needs

  // Plotly numbers axes x, x2, x3.
  const suffix = (f) => (f === 0 ? "" : f + 1);

  // Coded places along factor f: its levels, or evenly over its range.
  function places(factor) {
    return factor.kind === "categorical"
      ? factor.level_names.map((_, i) => i)
      : Array.from({ length: steps + 1 }, (_, i) => -1 + (2 * i) / steps);
  }

  function curve(data, response, point, f) {
    const along = places(data.factors[f]);
    const predictions = along.map((c) => {
      const moved = point.slice();
      moved[f] = c;
      return doetune.predictOne(data.factors, response, moved);
    });
    return { along, predictions };
  }

  function axisValues(factor, along) {
    return factor.kind === "categorical" ? along.map((i) => factor.level_names[i])
                                         : along.map((c) => doetune.natural(factor, c));
  }

  // Where factor f's plot stands when `columns` fit beside one another.
  const place = (f, columns) => ({ column: f % columns, row: Math.floor(f / columns) });

  // A curve within the band of its interval; the levels of a category as points with error bars.
  function curveTraces(factor, x, predictions, axes, colours) {
    const mean = predictions.map((p) => p.mean);
    const end = (i) => predictions.map((p) => (p.confidence_interval || [p.mean, p.mean])[i]);
    if (factor.kind === "categorical") {
      return [{ ...axes, x, y: mean, mode: "markers", hoverinfo: "x+y",
                marker: { color: colours.series, size: 7 },
                error_y: { type: "data", symmetric: false, color: colours.series,
                           array: end(1).map((high, i) => high - mean[i]),
                           arrayminus: end(0).map((low, i) => mean[i] - low) } }];
    }
    return [
      { ...axes, x, y: end(0), mode: "lines", line: { width: 0 } },
      { ...axes, x, y: end(1), mode: "lines", line: { width: 0 }, fill: "tonexty",
        fillcolor: colours.band },
      { ...axes, x, y: mean, mode: "lines", hoverinfo: "x+y",
        line: { color: colours.series, width: 2 } },
    ];
  }

  // A factor's curve, and a dot where its slider stands.
  function traces(data, response, settings, columns) {
    const point = data.factors.map((factor, f) => doetune.coded(factor, settings[f]));
    const here = doetune.predictOne(data.factors, response, point);
    const colours = doetune.colours();
    return data.factors.flatMap((factor, f) => {
      const { along, predictions } = curve(data, response, point, f);
      const axes = { xaxis: "x" + suffix(f), yaxis: "y" + suffix(place(f, columns).row),
                     hoverinfo: "skip", showlegend: false };
      return [...curveTraces(factor, axisValues(factor, along), predictions, axes, colours),
              { ...axes, x: axisValues(factor, [point[f]]), y: [here.mean], mode: "markers",
                hoverinfo: "x+y", marker: { color: colours.optimum, size: 10 } }];
    });
  }

  // The limits of the goal as lines across every row of plots.
  function limits(response, rows, colours) {
    if (!response.goal || !response.goal.is_limit) return [];
    const ends = [response.goal.low, response.goal.high].filter((y) => y !== null);
    return ends.flatMap((y) => Array.from({ length: rows }, (_, row) => ({
      type: "line", xref: "paper", x0: 0, x1: 1, yref: "y" + suffix(row), y0: y, y1: y,
      line: { color: colours.ink, width: 1, dash: "dot" },
    })));
  }

  // The range over which the response moves anywhere near the settings; fixed while a slider moves
  // within it, so that the eye can follow.
  function range(data, response, settings) {
    const point = data.factors.map((factor, f) => doetune.coded(factor, settings[f]));
    const means = data.factors.flatMap((_, f) =>
      curve(data, response, point, f).predictions.map((p) => p.mean)).filter(Number.isFinite);
    const low = Math.min(response.observed_low, ...means);
    const high = Math.max(response.observed_high, ...means);
    const room = 0.05 * (high - low || Math.abs(high) || 1);
    return [low - room, high + room];
  }

  function layout(data, response, settings, columns) {
    const rows = Math.ceil(data.factors.length / columns);
    const gap = rows > 1 ? 56 / (rows * rowHeight) : 0; // room for the titles below each row
    const result = { ...doetune.baseLayout(), height: rows * rowHeight,
                     margin: { l: 62, r: 8, t: 8, b: 46 },
                     shapes: limits(response, rows, doetune.colours()) };
    for (let row = 0; row < rows; ++row) {
      result["yaxis" + suffix(row)] = {
        ...doetune.baseAxis(), range: range(data, response, settings),
        domain: [(rows - 1 - row) / rows + (row < rows - 1 ? gap : 0), (rows - row) / rows],
        title: { text: doetune.axisTitle(response), standoff: 4 } };
    }
    data.factors.forEach((factor, f) => {
      const { column, row } = place(f, columns);
      result["xaxis" + suffix(f)] = {
        ...doetune.baseAxis(), anchor: "y" + suffix(row), ...doetune.factorAxis(factor),
        domain: [(column + (column ? 0.1 : 0)) / columns, (column + 1) / columns] };
    });
    return result;
  }

  // Registers a figure; returns the function that draws it at settings and says what is drawn.
  doetune.profileFigure = function (figure, data) {
    const response = data.responses.find((r) => r.name === figure.dataset.response);
    const limited = response.goal && response.goal.is_limit;
    return (target, settings) => {
      const fitting = Math.max(1, Math.floor(target.clientWidth / narrowest));
      const columns = Math.min(fitting, data.factors.length);
      Plotly.react(target, traces(data, response, settings, columns),
                   layout(data, response, settings, columns), doetune.plotConfig());
      return "Predicted mean of " + response.name + " along each factor through the sliders' " +
        "settings (dot), with its 95 % interval." +
        (limited ? " Dotted: the limits of its goal." : "");
    };
  };
})((window.doetune = window.doetune || {}));
