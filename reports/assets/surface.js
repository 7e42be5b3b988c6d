// The surface over the two factors of the contours, seen from aside; drawn when it is opened, and
// turned by dragging and by the arrow keys.
"use strict";
(function (doetune) {
  const { svg, shortened, factorAxis, linearAxis } = doetune.drawing;
  const { viridis } = doetune.contourLines;
  const tall = 0.62; // half the height of the box, whose other edges reach from -1 to 1
  const widest = 620; // pixels
  const height = 450;
  const near = 0.35; // how far from the slice runs are shown
  const step = Math.PI / 24; // an arrow key turns so far

  // From a point (u, v, w) of the box to pixels, turned by `azimuth`, seen from `elevation` above,
  // without perspective; `back` is the sign of u and of v on the far side.
  function viewOf({ azimuth, elevation }, width) {
    const [cosine, sine] = [Math.cos(azimuth), Math.sin(azimuth)];
    const unit = Math.min(130, width / 4.2); // pixels
    return {
      at: (u, v, w) => [
        (width / 2 + unit * (u * cosine - v * sine)).toFixed(1),
        (height / 2 - unit * (w * Math.cos(elevation) +
                              (u * sine + v * cosine) * Math.sin(elevation))).toFixed(1)],
      back: [sine < 0 ? -1 : 1, cosine < 0 ? -1 : 1],
      // The vertical edge that is farthest to the left.
      left: [cosine < 0 ? 1 : -1, sine < 0 ? -1 : 1],
    };
  }

  // The faces, the far ones first. Over a grid no sorting is needed: rows and columns are passed from
  // the far side.
  function facesOf({ places, mean, allowed, range: [low, high] }, view, heightOf) {
    const every = places.length > 21 ? 2 : 1;
    const forward = Array.from({ length: (places.length - 1) / every }, (_, i) => i * every);
    const ordered = (back) => (back < 0 ? forward : forward.slice().reverse());
    const faces = svg("g", { class: "faces", stroke: "#fff", "stroke-width": 0.6,
                             "stroke-linejoin": "round" });
    for (const j of ordered(view.back[1])) {
      for (const i of ordered(view.back[0])) {
        const nodes = [[i, j], [i + every, j], [i + every, j + every], [i, j + every]];
        const level = nodes.reduce((sum, [a, b]) => sum + mean[b][a], 0) / 4;
        const open = allowed === null || nodes.every(([a, b]) => allowed[b][a] > 0);
        const corner = ([a, b]) => view.at(places[a], places[b], heightOf(mean[b][a])).join();
        faces.append(svg("polygon", {
          points: nodes.map(corner).join(" "),
          fill: open ? viridis(high > low ? (level - low) / (high - low) : 0.5) : "#d9dde2" }));
      }
    }
    return faces;
  }

  // The floor, the two far walls with their grid, and the numbers and titles of the axes.
  function boxOf(axes, view, heightOf) {
    const group = svg("g", { fill: "currentColor", "font-size": 11 });
    const [bu, bv] = view.back;
    const line = (...points) => group.append(svg("path", {
      d: "M" + points.map((point) => view.at(...point).join(" ")).join("L"), fill: "none",
      stroke: "currentColor", "stroke-opacity": 0.25 }));
    const text = (point, label, more = {}) => {
      const [x, y] = view.at(...point);
      group.append(svg("text", { x, y, dy: "0.35em", "text-anchor": "middle", ...more }, label));
    };
    const title = (axis) => shortened(axis.title, 24);
    for (const [u, label] of axes.x.ticks) {
      line([u, -bv, -tall], [u, bv, -tall], [u, bv, tall]);
      text([u, -1.13 * bv, -tall], shortened(label, 8));
    }
    for (const [v, label] of axes.y.ticks) {
      line([-bu, v, -tall], [bu, v, -tall], [bu, v, tall]);
      text([-1.13 * bu, v, -tall], shortened(label, 8));
    }
    for (const [z, label] of axes.z.ticks) {
      const w = heightOf(z);
      line([-bu, bv, w], [bu, bv, w], [bu, -bv, w]);
      text([1.03 * view.left[0], 1.03 * view.left[1], w], label, { "text-anchor": "end" });
    }
    line([-bu, -bv, -tall], [bu, -bv, -tall], [bu, bv, -tall], [-bu, bv, -tall], [-bu, -bv, -tall]);
    // Beside the numbers, away from the box.
    const aside = (point) => ({ "font-size": 11.5, "text-anchor":
      Number(view.at(...point)[0]) < Number(view.at(0, 0, 0)[0]) ? "end" : "start" });
    const [under, beside] = [[0, -1.32 * bv, -tall], [-1.32 * bu, 0, -tall]];
    text(under, title(axes.x), aside(under));
    text(beside, title(axes.y), aside(beside));
    text([1.03 * view.left[0], 1.03 * view.left[1], tall * 1.25], title(axes.z),
         { "font-size": 11.5 });
    return group;
  }

  // Dots at what was measured near the slice, each on a stem from the surface, and the sliders.
  function dotsOf({ data, response, point, x, y }, runs, view, heightOf) {
    const group = svg("g", {});
    const dot = (coded, value, name, look) => {
      const foot = view.at(coded[x], coded[y], heightOf(response.model.mean(
        point.map((c, f) => (f === x || f === y ? coded[f] : c)))));
      const [cx, cy] = view.at(coded[x], coded[y], heightOf(value));
      group.append(svg("path", { d: `M${foot.join(" ")}L${cx} ${cy}`, stroke: "currentColor" }),
                   svg("circle", { cx, cy, stroke: "#fff", ...look }, svg("title", {}, name)));
    };
    for (const run of runs) {
      const value = run.responses[response.name];
      dot(run.coded, value, "run " + run.run + ": " + doetune.format.withUnit(
        doetune.format.short(value), response.unit), { r: 3.5, fill: "#111" });
    }
    dot(point, response.model.mean(point), "sliders", { r: 5, fill: "#d55e00" });
    return group;
  }

  function drawingOf(slice, turned, available) {
    const { data, response, point, x, y, mean } = slice;
    const width = Math.min(widest, available);
    const runs = data.runs.filter((run) => response.name in run.responses &&
                                  doetune.distance(data, run, point, [x, y]) < near);
    const values = [...mean.flat(), ...runs.map((run) => run.responses[response.name])];
    const [low, high] = [Math.min(...values), Math.max(...values)];
    const room = high > low ? 0 : Math.abs(high) || 1;
    const axes = { x: factorAxis(data.factors[x]), y: factorAxis(data.factors[y]),
                   z: linearAxis(doetune.format.nameWithUnit(response), low - room, high + room) };
    const heightOf = (z) => tall * ((2 * (z - axes.z.low)) / (axes.z.high - axes.z.low) - 1);
    const view = viewOf(turned, width);
    const name = `Surface of ${response.name} over ` +
      `${data.factors[x].name} and ${data.factors[y].name}`;
    return svg("svg", { color: "var(--ink)", role: "img", "font-family": "system-ui, sans-serif",
                        "aria-label": name, viewBox: `0 0 ${width} ${height}`, width, height },
               boxOf(axes, view, heightOf), facesOf(slice, view, heightOf),
               dotsOf(slice, runs, view, heightOf));
  }

  const keys = { ArrowLeft: [-step, 0], ArrowRight: [step, 0], ArrowUp: [0, step],
                 ArrowDown: [0, -step] };

  // { node, show(slice) }: shows the slice last given once it is open.
  doetune.surfaceFigure = function () {
    const target = doetune.element("div", { class: "surface", tabindex: 0, role: "group",
                                            "aria-label": "Surface, turned by the arrow keys" });
    const node = doetune.element("details", { class: "live" },
                                 doetune.element("summary", {}, "In three dimensions"), target,
                                 doetune.element("p", { class: "quiet" },
                                   "The same mean as a surface; drag, or press the arrow keys, to " +
                                   "turn it. Dots: the sliders, and the runs near this slice."));
    const turned = { azimuth: 0.6, elevation: 0.6 };
    let slice = null;
    const draw = () => {
      if (!node.open || !slice) return;
      target.replaceChildren(drawingOf(slice, turned, target.clientWidth));
    };
    const turn = (azimuth, elevation) => {
      turned.azimuth += azimuth;
      turned.elevation = Math.min(1.5, Math.max(0.1, turned.elevation + elevation));
      draw();
    };
    node.addEventListener("toggle", draw);
    target.addEventListener("pointerdown", (event) => target.setPointerCapture(event.pointerId));
    target.addEventListener("pointermove", (event) => {
      if (event.buttons & 1) turn(event.movementX / 100, event.movementY / 100);
    });
    target.addEventListener("keydown", (event) => {
      if (!keys[event.key]) return;
      event.preventDefault();
      turn(...keys[event.key]);
    });
    return { node, show: (given) => { slice = given; draw(); } };
  };
})((window.doetune = window.doetune || {}));
