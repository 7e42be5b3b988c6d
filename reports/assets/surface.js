// The surface over the two factors of the contours, in three dimensions; drawn when it is opened.
"use strict";
(function (doetune) {
  function traces(slice) {
    const { data, response, xs, ys, mean, x, y, settings, point } = slice;
    const shown = [{ type: "surface", x: xs, y: ys, z: mean, colorscale: doetune.viridis(),
                     showscale: false, contours: { z: { show: true, color: "#fff", width: 1 } },
                     hovertemplate: "%{x}, %{y}: %{z:.4g}<extra></extra>" }];
    shown.push({ type: "scatter3d", mode: "markers", x: [settings[x]], y: [settings[y]],
                 z: [response.model.mean(point)], marker: { size: 5, color: "#d55e00" },
                 hovertemplate: "sliders: %{z:.4g}<extra></extra>" });
    const near = data.runs.filter((run) => response.name in run.responses &&
                                  doetune.distance(data, run, point, [x, y]) < 0.35);
    shown.push({ type: "scatter3d", mode: "markers", x: near.map((run) => run.settings[x]),
                 y: near.map((run) => run.settings[y]),
                 z: near.map((run) => run.responses[response.name]),
                 marker: { size: 3.5, color: "#111", line: { color: "#fff", width: 1 } },
                 text: near.map((run) => "run " + run.run),
                 hovertemplate: "%{text}: %{z:.4g}<extra></extra>" });
    return shown;
  }

  function layout({ data, response, x, y }) {
    const axis = (title, more) => ({ gridcolor: doetune.colours().faint, ...more,
                                     title: { text: title.text || title, font: { size: 11 } } });
    const factor = (f) => {
      const full = doetune.factorAxis(data.factors[f]);
      return axis(full.title, { type: full.type, range: full.range, tickmode: full.tickmode,
                                tickvals: full.tickvals, ticktext: full.ticktext });
    };
    return { ...doetune.baseLayout(), dragmode: "turntable", height: 460,
             margin: { l: 0, r: 0, t: 0, b: 0 },
             scene: { xaxis: factor(x), yaxis: factor(y), zaxis: axis(doetune.axisTitle(response)),
                      aspectratio: { x: 1.25, y: 1.25, z: 0.75 },
                      camera: { eye: { x: 1.15, y: -1.45, z: 0.75 }, center: { x: 0, y: 0, z: -0.12 } } } };
  }

  // { node, show(slice) }: shows the slice last given once it is open.
  doetune.surfaceFigure = function () {
    const target = doetune.element("div", { class: "surface" });
    const node = doetune.element("details", { class: "live" },
                                 doetune.element("summary", {}, "In three dimensions"), target,
                                 doetune.element("p", { class: "quiet" },
                                   "The same mean as a surface; drag to rotate it. Dots: " +
                                   "the sliders, and the runs near this slice."));
    let slice = null;
    const draw = () => {
      if (node.open && slice) {
        Plotly.react(target, traces(slice), layout(slice), doetune.plotConfig());
      }
    };
    node.addEventListener("toggle", draw);
    return { node, show: (given) => { slice = given; draw(); } };
  };
})((window.doetune = window.doetune || {}));
