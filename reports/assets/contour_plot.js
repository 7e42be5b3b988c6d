// The drawing of a slice (contours.js) as SVG: bands, lines, limits, what is excluded, runs, marks,
// a scale of colours and a legend.
"use strict";
(function (doetune) {
  const { svg, shortened, factorAxis, frameOf, axesOf, roundLevels, wide } = doetune.drawing;
  const { isoLines, ringsAbove, pathOf, viridis } = doetune.contourLines;
  const bands = 9;
  const mostRuns = 150;
  const widest = 780; // pixels
  const [scaleGap, scaleWidth, scaleTitle] = [14, 16, 24];
  const row = 20; // of the legend
  const excludedColour = "#d9dde2"; // as in the static figures
  const pale = "#dfe9e4"; // behind the samples of the legend: like the plot, in the dark too
  const limitColours = ["#111111", "#cc3311", "#aa3377", "#7a4100"];

  // Levels of the bands and the ends of the colours. What varies by less than a double resolves has
  // no levels.
  function scaleOf({ range: [low, high] }) {
    const varies = high - low > 1e-9 * Math.max(Math.abs(low), Math.abs(high));
    const levels = varies ? roundLevels(low, high, bands) : [];
    const colour = (z) => viridis(varies ? (z - low) / (high - low) : 0.5);
    // Between levels[i - 1] and levels[i].
    const band = (i) => colour(((levels[i - 1] ?? low) + (levels[i] ?? high)) / 2);
    return { low, high, levels, band, labels: doetune.format.tickLabels(varies ? levels : [low]) };
  }

  // Everything above a level is painted, and the next band over it, without a seam.
  function bandsOf(scale, frame, grid) {
    const group = svg("g", { class: "bands" }, svg("rect", {
      x: frame.left, y: frame.top, width: frame.right - frame.left,
      height: frame.bottom - frame.top, fill: scale.band(0) }));
    scale.levels.forEach((level, i) => {
      group.append(svg("path", { d: pathOf(ringsAbove(...grid, level)), fill: scale.band(i + 1),
                                 "fill-rule": "evenodd", "data-above": level }));
    });
    return group;
  }

  // Where along a line its label stands: at, and tilted along, a place that is free; else null.
  function placeOfLabel(line, level, free) {
    const lengths = [0];
    for (let i = 1; i < line.length; ++i) {
      const [[x0, y0], [x1, y1]] = [line[i - 1], line[i]];
      lengths.push(lengths[i - 1] + Math.hypot(x1 - x0, y1 - y0));
    }
    const whole = lengths[lengths.length - 1];
    if (whole < 45) return null;
    const at = (share) => line[lengths.findIndex((length) => length >= share * whole)];
    // Labels of neighbouring lines are offset, so that they do not line up.
    const wanted = 0.35 + 0.3 * ((Math.abs(level) * 0.618) % 1);
    const share = [0, 0.15, -0.15, 0.27, -0.27].map((aside) => wanted + aside)
      .find((one) => free(at(one)));
    if (share === undefined) return null;
    const [a, b] = [at(share - 0.04), at(share + 0.04)];
    const degrees = (Math.atan2(b[1] - a[1], b[0] - a[0]) * 180) / Math.PI;
    return [at(share), degrees > 90 ? degrees - 180 : degrees < -90 ? degrees + 180 : degrees];
  }

  const halo = { fill: "#111", stroke: "#fff", "stroke-width": 3, "stroke-linejoin": "round",
                 "paint-order": "stroke" };

  // White lines, and their labels apart from each other and from `taken` points.
  function linesOf(scale, grid, taken, covered) {
    const lines = svg("g", { class: "levels", fill: "none", stroke: "#fff",
                             "stroke-opacity": 0.75 });
    const labels = svg("g", { class: "labels", "font-size": 10.5 });
    const occupied = taken.slice();
    const free = ([x, y]) => !covered(x, y) &&
      occupied.every(([a, b]) => Math.hypot(a - x, b - y) > 28);
    scale.levels.forEach((level, i) => {
      for (const line of isoLines(...grid, level)) {
        lines.append(svg("path", { d: pathOf([line]), "data-level": level }));
        const place = placeOfLabel(line, level, free);
        if (place === null) continue;
        const [[x, y], degrees] = place;
        occupied.push([x, y]);
        labels.append(svg("text", {
          transform: `translate(${x.toFixed(1)} ${y.toFixed(1)}) rotate(${degrees.toFixed(1)})`,
          dy: "0.35em", "text-anchor": "middle", ...halo }, scale.labels[i]));
      }
    });
    return [lines, labels];
  }

  // The hatching of the static figures.
  const hatching = () => svg("defs", {}, svg("pattern", {
    id: "contour-hatch", width: 12, height: 12, patternUnits: "userSpaceOnUse",
    patternTransform: "rotate(45)" },
    svg("rect", { width: 12, height: 12, fill: "#888", "fill-opacity": 0.7 }),
    svg("rect", { width: 1, height: 12, fill: "#333", "fill-opacity": 0.6 })));

  const below = (z) => z.map((line) => line.map((value) => -value));

  // The part of the grid where z <= 0; null where that is nowhere.
  function part(name, z, [xs, ys], fill) {
    if (z === null || z.every((line) => line.every((value) => value > 0))) return null;
    return svg("path", { class: name, d: pathOf(ringsAbove(xs, ys, below(z), 0)), fill,
                         "fill-rule": "evenodd" });
  }

  // The limit of a response: solid where its mean just meets it, dashed where the next run does with
  // the probability asked for. Lines that do not cross the plot are left out.
  function limitsOf(slice, [xs, ys]) {
    return slice.limits.flatMap(({ response, asked, margin, gap }, i) => {
      const stroke = limitColours[i % limitColours.length];
      const name = response.name + " " + response.goal.text;
      const kinds = [["mean", margin, "none"], [asked + " of next runs", gap, "7 4"]];
      return kinds.map(([of, z, dashes]) => ({
        name: name + ": " + of,
        d: z === null ? "" : pathOf(isoLines(xs, ys, z, 0)),
        look: { fill: "none", stroke, "stroke-width": 2.2, "stroke-dasharray": dashes },
      })).filter(({ d }) => d !== "");
    });
  }

  const star = (x, y, size) => Array.from({ length: 10 }, (_, i) => {
    const radius = i % 2 === 0 ? size : size * 0.42;
    const angle = Math.PI * (i / 5 - 0.5);
    return [x + radius * Math.cos(angle), y + radius * Math.sin(angle)]
      .map((at) => at.toFixed(1)).join();
  }).join(" ");

  // Dark lines with a light edge, to be seen on any ground.
  const outlined = (d, width, opacity = 1) => svg("g", { opacity },
    svg("path", { d, stroke: "#fff", "stroke-width": width + 2 }),
    svg("path", { d, stroke: "#111", "stroke-width": width }));

  // The shapes of marks around a place in pixels.
  const shapes = {
    optimum: (x, y) => svg("polygon", { points: star(x, y, 11), fill: "#d55e00", stroke: "#fff",
                                        "stroke-width": 1.5 }),
    baseline: (x, y) => svg("path", { d: `M${x} ${y - 8}l8 8l-8 8l-8-8Z`, fill: "#0072b2",
                                      stroke: "#fff", "stroke-width": 1.5 }),
    sliders: (x, y, arm = 7) =>
      outlined(`M${x - arm} ${y}h${2 * arm}M${x} ${y - arm}v${2 * arm}`, 2.5),
    run: (x, y, near = 1) => svg("circle", {
      cx: x.toFixed(1), cy: y.toFixed(1), r: 2.5 + 2.5 * near, fill: "#fff", stroke: "#111",
      "stroke-width": 1.3, opacity: 0.25 + 0.75 * near }),
    infeasible: (x, y, near = 1) => {
      const r = 2.5 + 2.5 * near;
      return outlined(`M${(x - r).toFixed(1)} ${(y - r).toFixed(1)}l${2 * r} ${2 * r}` +
                      `m0 ${-2 * r}l${-2 * r} ${2 * r}`, 2, 0.25 + 0.75 * near);
    },
  };

  const titled = (node, text) => {
    node.append(svg("title", {}, text));
    return node;
  };

  function outcomeOf(run, response) {
    if (!run.infeasible) {
      return doetune.format.withUnit(doetune.format.short(run.responses[response.name]), response.unit);
    }
    return run.status === "infeasible" ? "infeasible" : "failed";
  }

  // Runs with the response as circles, infeasible ones as crosses; the nearest to the slice on top.
  function runsOf({ data, response, point, x, y }, frame) {
    const group = svg("g", { class: "runs-of-slice" });
    const shown = data.runs
      .filter((run) => run.infeasible || response.name in run.responses)
      .map((run) => [run, doetune.distance(data, run, point, [x, y])])
      .sort((a, b) => a[1] - b[1]).slice(0, mostRuns).reverse();
    for (const [run, distance] of shown) {
      const mark = shapes[run.infeasible ? "infeasible" : "run"](
        frame.x(run.coded[x]), frame.y(run.coded[y]), doetune.nearness(distance));
      group.append(titled(mark, `run ${run.run}: ${outcomeOf(run, response)}`));
    }
    return { group, crossed: shown.some(([run]) => run.infeasible) };
  }

  // Baseline, optimum and, where they differ from it, the sliders: [[name, x, y]] in pixels. The arms
  // of the sliders' cross are seen behind a star at the same place.
  function marksOf({ data, settings, x, y }, frame) {
    const baseline = data.factors.map((factor) => factor.baseline);
    const optimum = data.optimum && data.optimum.settings;
    const at = (name, of) => {
      const coded = doetune.codedPoint(data, of);
      return [name, frame.x(coded[x]), frame.y(coded[y])];
    };
    const all = [];
    if (!optimum || optimum.some((s, f) => s !== settings[f])) {
      all.push([...at("sliders", settings), 16]);
    }
    if (!baseline.includes(null)) all.push(at("baseline", baseline));
    if (optimum) all.push(at("optimum", optimum));
    return all;
  }

  // The bands beside the plot, with the numbers of their borders.
  function colourScale(scale, frame, title) {
    const left = frame.right + scaleGap;
    const y = (z) => frame.bottom - ((frame.bottom - frame.top) * (z - scale.low)) /
                                    (scale.high - scale.low);
    const group = svg("g", { class: "colour-scale", "font-size": 11, fill: "currentColor" });
    const bounds = scale.levels.length > 0 ? [scale.low, ...scale.levels, scale.high] : [];
    const ends = bounds.length > 0 ? bounds.map(y) : [frame.bottom, frame.top];
    for (let i = 0; i + 1 < ends.length; ++i) {
      group.append(svg("rect", { x: left, y: ends[i + 1], width: scaleWidth,
                                 height: ends[i] - ends[i + 1], fill: scale.band(i) }));
    }
    scale.labels.forEach((label, i) => group.append(svg("text", {
      x: left + scaleWidth + 5, y: scale.levels.length > 0 ? y(scale.levels[i])
                                                           : (frame.top + frame.bottom) / 2,
      dy: "0.35em" }, label)));
    const right = left + scaleWidth + 5 + wide(scale.labels) + scaleTitle - 8;
    group.append(
      svg("rect", { x: left, y: frame.top, width: scaleWidth, height: frame.bottom - frame.top,
                    fill: "none", stroke: "currentColor", "stroke-opacity": 0.5 }),
      svg("text", { transform: `translate(${right} ${(frame.top + frame.bottom) / 2}) rotate(-90)`,
                    "text-anchor": "middle", "font-size": 11.5 }, shortened(title, 50)));
    return group;
  }

  const ruler = document.createElement("canvas").getContext("2d");
  ruler.font = "12px system-ui, sans-serif";
  // Hinted letters are somewhat wider in SVG.
  const widthOf = (text) => 1.1 * ruler.measureText(text).width;

  // Samples and names in rows as wide as the drawing: [node, height].
  function legendOf(entries, width, top) {
    const [patch, gap] = [30, 18];
    const group = svg("g", { class: "legend", "font-size": 12, fill: "currentColor" });
    let [x, y] = [6, top];
    for (const [name, sample] of entries) {
      const text = shortened(name, Math.floor((width - patch - 12) / 7));
      const room = patch + 6 + widthOf(text) + gap;
      if (x > 6 && x + room - gap > width) [x, y] = [6, y + row];
      group.append(svg("rect", { x, y, width: patch, height: 15, rx: 3, fill: pale }),
                   sample(x + patch / 2, y + 7.5),
                   svg("text", { x: x + patch + 6, y: y + 7.5, dy: "0.35em" }, text));
      x += room;
    }
    return [group, entries.length > 0 ? y + row - top : 0];
  }

  const patchOf = (fill) => (x, y) => svg("rect", { x: x - 15, y: y - 7.5, width: 30, height: 15,
                                                    rx: 3, fill });
  const lineOf = (look) => (x, y) => svg("path", { d: `M${x - 13} ${y}h26`, ...look });

  // What the pointer is over: "batch 12, rate 30: 5.1 ms".
  function readout(slice, frame, drawing) {
    const text = svg("text", { class: "readout", x: frame.left + 6, y: frame.top + 15,
                               "font-size": 11.5, ...halo });
    const { data, response, x, y, point } = slice;
    drawing.addEventListener("pointermove", (event) => {
      const box = drawing.getBoundingClientRect();
      const share = (at, from, to) => (2 * (at - from)) / (to - from) - 1;
      const here = point.slice();
      here[x] = share(event.clientX - box.left, frame.left, frame.right);
      here[y] = share(event.clientY - box.top, frame.bottom, frame.top);
      const inside = Math.abs(here[x]) <= 1 && Math.abs(here[y]) <= 1;
      const name = (f) => data.factors[f].name + " " +
        doetune.format.short(doetune.natural(data.factors[f], here[f]));
      text.textContent = inside ? name(x) + ", " + name(y) + ": " + doetune.format.withUnit(
        doetune.format.short(response.model.mean(here)), response.unit) : "";
    });
    drawing.addEventListener("pointerleave", () => { text.textContent = ""; });
    return text;
  }

  // The drawing of a slice, at most so wide.
  doetune.contourPlot = function (slice, available) {
    const { data, response, x, y } = slice;
    const width = Math.min(available, widest);
    const height = Math.round(Math.min(460, Math.max(300, 0.66 * width)));
    const scale = scaleOf(slice);
    const axes = { x: factorAxis(data.factors[x]), y: factorAxis(data.factors[y]) };
    const beside = scaleGap + scaleWidth + 5 + wide(scale.labels) + scaleTitle;
    const frame = frameOf(axes, width - beside, height);
    const grid = [slice.places.map(frame.x), slice.places.map(frame.y), slice.mean];
    const marks = marksOf(slice, frame);
    const missed = part("missed", slice.margin, grid, "url(#contour-hatch)");
    const excluded = part("excluded-part", slice.allowed, grid, excludedColour);
    if (excluded) excluded.setAttribute("stroke", excludedColour); // no rim of the bands below
    const limits = limitsOf(slice, grid);
    const { group: runs, crossed } = runsOf(slice, frame);

    const last = slice.places.length - 1;
    const node = (at, from, to) => Math.round((last * (at - from)) / (to - from));
    const covered = (px, py) => slice.allowed !== null &&
      !(slice.allowed[node(py, frame.bottom, frame.top)][node(px, frame.left, frame.right)] > 0);
    const [lines, labels] = linesOf(scale, grid, marks.map(([, ...at]) => at), covered);

    const [legend, below] = legendOf([
      ...marks.map(([name]) => [name, shapes[name]]),
      ...(crossed ? [["infeasible run", shapes.infeasible]] : []),
      ...(missed ? [["a limit is violated", patchOf("url(#contour-hatch)")]] : []),
      ...(excluded ? [["excluded", patchOf(excludedColour)]] : []),
      ...limits.map(({ name, look }) => [name, lineOf(look)]),
    ], width, height + 6);
    const name = `Contours of ${response.name} over ` +
      `${data.factors[x].name} and ${data.factors[y].name}`;
    const drawing = svg("svg", { xmlns: "http://www.w3.org/2000/svg", color: "#222", role: "img",
                                 "font-family": "system-ui, sans-serif", "aria-label": name,
                                 viewBox: `0 0 ${width} ${height + 6 + below}`, width,
                                 height: height + 6 + below }, hatching(), axesOf(axes, frame));
    drawing.append(bandsOf(scale, frame, grid), lines, ...(missed ? [missed] : []),
                   ...limits.map(({ d, look }) => svg("path", { class: "limit", d, ...look })),
                   labels, ...(excluded ? [excluded] : []), runs,
                   ...marks.map(([mark, ...at]) => titled(shapes[mark](...at), mark)),
                   colourScale(scale, frame, doetune.format.nameWithUnit(response)), legend,
                   readout(slice, frame, drawing));
    return drawing;
  };
})((window.doetune = window.doetune || {}));
