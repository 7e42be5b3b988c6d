// Profiles: each response along each factor through the sliders' settings. A factor's chart can be
// dragged like its slider.
"use strict";
(function (doetune) {
  const { svg, shortened, pathOf, bandOf, frameOf, axesOf } = doetune.drawing;
  const steps = 40;
  const fewSteps = 12; // of surfaces that take long
  const narrowest = 190; // pixels a chart needs
  const height = 232;
  const line = 14; // below the axis' title: what the thin curves are
  const mostCharts = 12;
  const mostRuns = 60; // in a chart: those nearest the slice
  const excludedColour = "#d9dde2"; // as in the static figures
  const clearInteraction = 0.02; // of the observed range

  // Coded places along a factor: its levels, or evenly over its range.
  function placesOf(factor, n) {
    return factor.kind === "categorical"
      ? factor.level_names.map((_, i) => i)
      : Array.from({ length: n + 1 }, (_, i) => -1 + (2 * i) / n);
  }

  const endsOf = (factor) =>
    (factor.kind === "categorical" ? [0, factor.level_names.length - 1] : [-1, 1]);

  const moved = (point, f, place) => point.map((c, i) => (i === f ? place : c));

  // By how much the effect of f differs between the ends of g.
  function interaction(data, surface, point, f, g) {
    const mean = (a, b) => surface.mean(moved(moved(point, f, a), g, b));
    const [f0, f1] = endsOf(data.factors[f]);
    const [g0, g1] = endsOf(data.factors[g]);
    return Math.abs(mean(f1, g1) - mean(f0, g1) - mean(f1, g0) + mean(f0, g0));
  }

  // The factor that interacts most with f, or null where none does to speak of.
  function partnerOf(data, response, point, f) {
    let best = null;
    let most = clearInteraction * (response.observed_high - response.observed_low);
    data.factors.forEach((_, g) => {
      if (g === f || data.factors.length > 20) return;
      const size = interaction(data, response.model, point, f, g);
      if (size > most) [best, most] = [g, size];
    });
    return best;
  }

  // Runs with the response, the nearest to the slice along f first: [run, distance].
  function nearestRuns(data, response, point, f) {
    return data.runs.filter((run) => response.name in run.responses)
      .map((run) => [run, doetune.distance(data, run, point, [f])])
      .sort((a, b) => a[1] - b[1]).slice(0, mostRuns);
  }

  // Which places along f the study's conditions allow, the other factors as set.
  function allowedAlong(data, settings, f, along) {
    return along.map((c) => doetune.excludedBy(
      data, moved(settings, f, doetune.natural(data.factors[f], c))).length === 0);
  }

  // Bands behind the places that are not allowed, up to the allowed ones beside them.
  function excludedBands(frame, along, allowed, level) {
    const reach = (i, step) => (level ? along[i] + step / 2 : along[i + step] ?? along[i]);
    return along.map((_, i) => (allowed[i] ? "" : `M${frame.x(reach(i, -1))} ${frame.top}` +
      `H${frame.x(reach(i, 1))}V${frame.bottom}H${frame.x(reach(i, -1))}Z`)).join("");
  }

  // One chart: what does not change with the sliders, and the parts that do.
  function chartOf(data, response, f, axes, width, act) {
    const frame = frameOf(axes, width, height, line);
    const clip = `clip-${data.responses.indexOf(response)}-${f}`;
    const path = (attributes) => svg("path", { fill: "none", ...attributes });
    const parts = {
      excluded: path({ class: "excluded-part", fill: excludedColour }),
      next: path({ class: "next-run", fill: "var(--series)", "fill-opacity": 0.1 }),
      band: path({ fill: "var(--series)", "fill-opacity": 0.25 }),
      low: path({ class: "partner", stroke: "var(--partner)", "stroke-dasharray": "2 3" }),
      high: path({ class: "partner", stroke: "var(--partner)", "stroke-dasharray": "7 3" }),
      mean: path({ stroke: "var(--series)", "stroke-width": 2 }),
      runs: svg("g", { class: "runs" }), names: svg("g", { class: "partner" }),
      here: path({ stroke: "#d55e00", "stroke-width": 1.2, "stroke-dasharray": "4 3" }),
      dot: svg("circle", { r: 4.5, fill: "#d55e00" }),
      read: svg("text", { class: "readout", x: frame.left + 5, y: frame.top + 13,
                          "font-size": 11, fill: "currentColor" }),
    };
    const cover = svg("rect", { class: "drag", x: frame.left, y: frame.top, fill: "transparent",
                                width: frame.right - frame.left,
                                height: frame.bottom - frame.top });
    const within = (id, room) => svg("clipPath", { id }, svg("rect", {
      x: frame.left - room, y: frame.top, width: frame.right - frame.left + 2 * room,
      height: frame.bottom - frame.top }));
    const limits = (response.goal && response.goal.is_limit
      ? [response.goal.low, response.goal.high] : []).filter((y) => y !== null)
      .map((y) => path({ d: `M${frame.left} ${frame.y(y)}H${frame.right}`, stroke: "currentColor",
                         "stroke-dasharray": "1 3" }));
    // Marks at the ends of the axis are shown whole.
    const inside = svg("g", { "clip-path": `url(#${clip})` }, parts.excluded, parts.next, parts.band, ...limits,
                       parts.low, parts.high, parts.mean);
    const marks = svg("g", { "clip-path": `url(#${clip}-marks)` }, parts.runs, parts.here, parts.dot);
    const node = svg("g", {}, within(clip, 0), within(clip + "-marks", 5), axesOf(axes, frame),
                     inside, marks, parts.names, parts.read, cover);
    const chart = { node, frame, parts, f, axes };
    act(chart, cover);
    return chart;
  }

  function drawRuns(data, response, point, chart) {
    const { frame, parts, f } = chart;
    parts.runs.replaceChildren(...nearestRuns(data, response, point, f).reverse()
      .map(([run, distance]) => svg("circle", {
        cx: frame.x(run.coded[f]).toFixed(1), cy: frame.y(run.responses[response.name]).toFixed(1),
        r: 3, fill: "none", stroke: "currentColor", "stroke-width": 1.2,
        "stroke-opacity": doetune.nearness(distance).toFixed(2) })));
  }

  // "··· batch 1   - - 64" below the axis: what the thin curves are.
  function partnerNames(frame, texts) {
    const dashes = ["2 3", "7 3"];
    const [sample, letter, gap] = [18, 6, 16];
    const widths = texts.map((text) => sample + 4 + letter * text.length);
    let x = (frame.left + frame.right - widths[0] - gap - widths[1]) / 2;
    x = Math.max(2, Math.min(x, frame.width - widths[0] - gap - widths[1]));
    const y = frame.height - 5;
    return texts.map((text, i) => {
      const start = x + (i === 0 ? 0 : widths[0] + gap);
      return svg("g", {},
        svg("path", { d: `M${start} ${y - 3.5}h${sample}`, stroke: "var(--partner)",
                      "stroke-dasharray": dashes[i] }),
        svg("text", { x: start + sample + 4, y, "font-size": 10, fill: "var(--partner)" }, text));
    });
  }

  function drawPartner(data, response, point, chart, along) {
    const { frame, parts, f } = chart;
    const g = partnerOf(data, response, point, f);
    parts.names.replaceChildren();
    if (g === null) {
      parts.low.setAttribute("d", "");
      parts.high.setAttribute("d", "");
      return;
    }
    const partner = data.factors[g];
    const texts = ["low", "high"].map((end, i) => {
      const place = endsOf(partner)[i];
      const means = along.map((c) => response.model.mean(moved(moved(point, f, c), g, place)));
      parts[end].setAttribute("d", pathOf(frame, along, means));
      return shortened(doetune.format.setting(partner,
        partner.kind === "categorical" ? place : partner[end]), 10);
    });
    texts[0] = shortened(partner.name, 16) + " " + texts[0];
    parts.names.append(...partnerNames(frame, texts));
  }

  // The levels of a category as a bar each in place of a curve.
  function bars(frame, places, low, high, half) {
    return places.map((place, i) => {
      const x = frame.x(place);
      return `M${x - half} ${frame.y(low[i])}H${x + half}V${frame.y(high[i])}H${x - half}Z`;
    }).join("");
  }

  function drawCurve(data, response, settings, point, chart) {
    const { frame, parts, f } = chart;
    const factor = data.factors[f];
    const along = placesOf(factor, response.model.slow ? fewSteps : steps);
    const level = factor.kind === "categorical";
    // Lines pass by what single settings have of their own: a hair beside each.
    const predictions = along.map((c) =>
      response.model.predict(moved(point, f, level ? c : c + 1e-12)));
    const end = (key, i) => predictions.map((p) => (p[key] ? p[key][i] : NaN));
    const mean = predictions.map((p) => p.mean);
    const band = (key, half) => (level
      ? (predictions[0][key] ? bars(frame, along, end(key, 0), end(key, 1), half) : "")
      : bandOf(frame, along, end(key, 0), end(key, 1)));
    parts.next.setAttribute("d", band("prediction_interval", 12));
    parts.band.setAttribute("d", band("confidence_interval", 8));
    parts.mean.setAttribute("d", level ? bars(frame, along, mean, mean, 12)
                                       : pathOf(frame, along, mean));
    chart.allowed = allowedAlong(data, settings, f, along);
    parts.excluded.setAttribute("d", excludedBands(frame, along, chart.allowed, level));
    drawPartner(data, response, point, chart, along);
    chart.rows = along.map((c, i) => [doetune.format.setting(factor, doetune.natural(factor, c)),
                                      predictions[i]]);
  }

  function drawHere(chart, point, mean) {
    const { frame, parts, f } = chart;
    const x = frame.x(point[f]);
    parts.here.setAttribute("d", `M${x} ${frame.top}V${frame.bottom}`);
    parts.dot.setAttribute("cx", x);
    parts.dot.setAttribute("cy", frame.y(mean));
  }

  // What a pointer over a chart reads and moves.
  function pointer(data, response, now, move) {
    return (chart, cover) => {
      const { frame, f } = chart;
      const factor = data.factors[f];
      const place = (event) => {
        const box = cover.getBoundingClientRect();
        const share = (event.clientX - box.left) / box.width;
        return chart.axes.x.low + share * (chart.axes.x.high - chart.axes.x.low);
      };
      const stop = (event) => doetune.usable(factor, place(event));
      cover.addEventListener("pointermove", (event) => {
        const natural = stop(event);
        if (event.buttons & 1) move(f, natural);
        const p = response.model.predict(moved(now(), f, doetune.coded(factor, natural)));
        chart.parts.read.textContent = doetune.format.setting(factor, natural) + ": " +
          doetune.format.numberTo(p.mean, doetune.format.halfWidth(p.confidence_interval));
      });
      cover.addEventListener("pointerleave", () => { chart.parts.read.textContent = ""; });
      cover.addEventListener("pointerdown", (event) => {
        cover.setPointerCapture(event.pointerId);
        move(f, stop(event));
      });
      cover.addEventListener("pointerup", () => move(null));
    };
  }

  // How far the axis must reach: all means along the factors, and the interval of the mean at the
  // sliders' settings.
  function reach(data, response, point) {
    const means = data.factors.flatMap((factor, f) =>
      placesOf(factor, 10).map((c) => response.model.mean(moved(point, f, c))));
    const here = response.model.predict(point).confidence_interval || [];
    const range = response.observed_high - response.observed_low || Infinity;
    const near = here.filter((y) => y > response.observed_low - range && y < response.observed_high + range);
    return [...means, ...near].filter(Number.isFinite);
  }

  const excludesAny = (charts) => charts.some(({ allowed }) => allowed.includes(false));

  // "Through the optimum, y changes most with a: by 12 ms."
  function conclusion(data, response, settings, charts) {
    const ends = ({ rows, allowed }) => {
      const known = rows.filter((_, i) => allowed[i]).map(([, p]) => p)
        .filter((p) => Number.isFinite(p.mean));
      return known.length === 0 ? [] : [known.reduce((a, b) => (b.mean < a.mean ? b : a)),
              known.reduce((a, b) => (b.mean > a.mean ? b : a))];
    };
    const change = (chart) => {
      const [low, high] = ends(chart);
      return low === undefined ? 0 : high.mean - low.mean;
    };
    const changeText = (chart) => doetune.format.differenceTo(change(chart), Math.max(
      ...ends(chart).map((p) => doetune.format.halfWidth(p.confidence_interval))));
    const most = charts.reduce((a, b) => (change(b) > change(a) ? b : a));
    const where = data.reference.settings.every((x, f) => x === settings[f]) ? data.reference.name
                                                                             : "these settings";
    if (!(change(most) > 0)) {
      return `At ${where}, no factor has an effect on ${response.name}` +
        (excludesAny(charts) ? " among allowed settings." : ".");
    }
    return `At ${where}, ${response.name} changes ` +
      `${charts.length > 1 ? "most " : ""}with ${data.factors[most.f].name}: by ` +
      doetune.format.withUnit(changeText(most), response.unit) + ".";
  }

  function caption(data, response, model, charts) {
    const limited = response.goal && response.goal.is_limit;
    return "Predicted mean of " + response.name + " along each factor through the sliders' " +
      "settings (dashed), with its 95 % interval and, paler, that of the next run. Circles: runs, " +
      "fainter the farther from this slice. Thin: the mean at both ends of the factor that " +
      "interacts most, if any, named below the axis." +
      (limited ? " Dotted across: the limits of its goal." : "") +
      (excludesAny(charts) ? " Grey: settings that are excluded (" +
        data.conditions.map(({ text }) => text).join("; ") + "); the title leaves them out." : "") +
      (model.slow ? " Curves drawn through " + (fewSteps + 1) + " points." : "") +
      " Drag in a chart to move its factor.";
  }

  // The factors that change the response most, from the reference, in the order of the study.
  function factorsToDraw(data, response) {
    const all = data.factors.map((_, f) => f);
    if (all.length <= mostCharts) return all;
    const point = doetune.codedPoint(data, data.reference.settings);
    const change = all.map((f) => {
      const means = placesOf(data.factors[f], 4).map((c) => response.model.mean(moved(point, f, c)));
      return Math.max(...means) - Math.min(...means);
    });
    return all.sort((a, b) => change[b] - change[a]).slice(0, mostCharts).sort((a, b) => a - b);
  }

  // The drawing of a figure: draw(settings) redraws it and says what it shows, rows() are its
  // numbers.
  doetune.profileFigure = function (figure, data, target, move) {
    const response = data.responses.find((r) => r.name === figure.dataset.response);
    const drawn = factorsToDraw(data, response);
    let point = [];
    let charts = [];
    let built = "";
    let span = [response.observed_low, response.observed_high];
    const act = pointer(data, response, () => point, move);

    function build(columns, width, axis) {
      const rows = Math.ceil(drawn.length / columns);
      const drawing = svg("svg", { xmlns: "http://www.w3.org/2000/svg", color: "#222", role: "img",
                                   "font-family": "system-ui, sans-serif",
                                   viewBox: `0 0 ${columns * width} ${rows * height}`,
                                   width: columns * width, height: rows * height },
                          svg("title", {}, "Profiles of " + response.name));
      charts = drawn.map((f) => chartOf(
        data, response, f, { x: doetune.drawing.factorAxis(data.factors[f]), y: axis }, width, act));
      charts.forEach((chart, i) => {
        chart.node.setAttribute("transform", `translate(${(i % columns) * width} ` +
                                             `${Math.floor(i / columns) * height})`);
        drawing.append(chart.node);
      });
      target.replaceChildren(drawing);
    }

    // The axis grows where a slider's move takes the means beyond it, so that the eye can follow.
    function grow() {
      const means = reach(data, response, point);
      const [low, high] = [Math.min(span[0], ...means), Math.max(span[1], ...means)];
      if (low < span[0] || high > span[1] || built === "") {
        const room = 0.06 * (high - low || Math.abs(high) || 1);
        span = [low < span[0] || built === "" ? low - room : span[0],
                high > span[1] || built === "" ? high + room : span[1]];
      }
      return span;
    }

    function draw(settings) {
      point = doetune.codedPoint(data, settings);
      const [low, high] = grow();
      const available = target.clientWidth || narrowest;
      const columns = Math.min(Math.max(1, Math.floor(available / narrowest)), drawn.length);
      const key = [columns, available, low, high].join();
      if (key !== built) {
        const width = Math.min(Math.floor(available / columns), 330);
        const title = doetune.format.nameWithUnit(response);
        build(columns, width, doetune.drawing.linearAxis(title, low, high));
      }
      built = key;
      const mean = response.model.mean(point);
      for (const chart of charts) {
        drawCurve(data, response, settings, point, chart);
        drawRuns(data, response, point, chart);
        drawHere(chart, point, mean);
      }
      return { title: conclusion(data, response, settings, charts),
               caption: caption(data, response, response.model, charts) };
    }

    function rows() {
      const header = ["factor", "setting", response.name, "mean_low", "mean_high", "next_run_low",
                      "next_run_high"];
      return [header, ...charts.flatMap((chart) => chart.rows.map(([setting, p]) =>
        [data.factors[chart.f].name, setting, p.mean, ...(p.confidence_interval || ["", ""]),
         ...(p.prediction_interval || ["", ""])]))];
    }
    return { draw, rows };
  };
})((window.doetune = window.doetune || {}));
