// Small charts as SVG, light enough to be drawn again at every move of a slider.
"use strict";
(function (doetune) {
  const space = "http://www.w3.org/2000/svg";

  // An SVG element; text is never read as markup.
  function svg(tag, attributes = {}, ...children) {
    const node = document.createElementNS(space, tag);
    for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
    node.append(...children);
    return node;
  }

  // About `count` round numbers inside [low, high].
  function roundLevels(low, high, count) {
    const rough = (high - low) / count;
    const ten = 10 ** Math.floor(Math.log10(rough));
    const step = ten * [1, 2, 2.5, 5, 10].find((m) => m * ten >= rough * 0.999);
    const levels = [];
    for (let i = Math.ceil(low / step - 1e-9); i * step <= high + 1e-9 * step; ++i) {
      levels.push(i * step);
    }
    return levels;
  }

  const letter = 6.3; // width in pixels of a letter of a label
  const wide = (labels) => letter * Math.max(0, ...labels.map((label) => label.length));
  const shortened = (label, most = 14) =>
    (label.length > most ? label.slice(0, most - 1) + "…" : label);

  // The axis of a factor over coded places: { title, low, high, ticks: [[place, label]] }.
  function factorAxis(factor) {
    const title = doetune.format.nameWithUnit(factor);
    if (factor.kind === "categorical") {
      return { title, low: -0.5, high: factor.level_names.length - 0.5,
               ticks: factor.level_names.map((name, i) => [i, name]) };
    }
    const labels = doetune.format.tickLabels(factor.ticks);
    return { title, low: -1, high: 1,
             ticks: factor.ticks.map((x, i) => [doetune.coded(factor, x), labels[i]]) };
  }

  function linearAxis(title, low, high) {
    const levels = roundLevels(low, high, 5);
    const labels = doetune.format.tickLabels(levels);
    return { title, low, high, ticks: levels.map((x, i) => [x, labels[i]]) };
  }

  // Whether labels of an axis `length` pixels long would touch.
  function crowded(axis, length) {
    const gap = (length * (axis.ticks[1] ? axis.ticks[1][0] - axis.ticks[0][0] : 2)) /
                (axis.high - axis.low);
    return wide(axis.ticks.map(([, label]) => label)) + 6 > gap;
  }

  // Where things stand in a chart of this size: `x(place)` and `y(value)` in pixels; `below` is kept
  // free under the axis' title.
  function frameOf(axes, width, height, below = 0) {
    const left = 26 + wide(axes.y.ticks.map(([, label]) => label));
    // The last label is centred on its mark, perhaps at the end of the axis.
    const [last, label] = axes.x.ticks[axes.x.ticks.length - 1] || [0, ""];
    const share = (last - axes.x.low) / (axes.x.high - axes.x.low);
    const right = Math.max(8, (letter * label.length) / 2 - (1 - share) * width * 0.8 + 3);
    const tilted = crowded(axes.x, width - left - right);
    const labels = axes.x.ticks.map(([, label]) => shortened(label));
    const bottom = 40 + below + (tilted ? Math.min(50, wide(labels) * 0.6) : 0);
    const top = 6;
    const scale = (axis, from, to) => (at) =>
      from + ((to - from) * (at - axis.low)) / (axis.high - axis.low);
    return { left, right: width - right, top, bottom: height - bottom, tilted, width, height, below,
             x: scale(axes.x, left, width - right), y: scale(axes.y, height - bottom, top) };
  }

  function tickText(frame, at, label) {
    const y = frame.bottom + 15;
    const text = frame.tilted
      ? svg("text", { "text-anchor": "end", "font-size": 11,
                      transform: `translate(${at + 4} ${y - 3}) rotate(-35)` }, shortened(label))
      : svg("text", { x: at, y, "text-anchor": "middle", "font-size": 11 }, label);
    text.append(svg("title", {}, label));
    return text;
  }

  // Box, grid, labels and titles of a chart.
  function axesOf(axes, frame) {
    const group = svg("g", { fill: "currentColor", "font-size": 11 });
    const grid = (d) => svg("path", { d, stroke: "currentColor", "stroke-opacity": 0.15 });
    for (const [at, label] of axes.x.ticks) {
      const x = frame.x(at);
      group.append(grid(`M${x} ${frame.top}V${frame.bottom}`), tickText(frame, x, label));
    }
    for (const [at, label] of axes.y.ticks) {
      const y = frame.y(at);
      group.append(grid(`M${frame.left} ${y}H${frame.right}`),
                   svg("text", { x: frame.left - 5, y, dy: "0.35em", "text-anchor": "end" }, label));
    }
    group.append(
      svg("rect", { x: frame.left, y: frame.top, width: frame.right - frame.left,
                    height: frame.bottom - frame.top, fill: "none", stroke: "currentColor",
                    "stroke-opacity": 0.5 }),
      svg("text", { x: (frame.left + frame.right) / 2, y: frame.height - 5 - frame.below,
                    "text-anchor": "middle", "font-size": 11.5 },
          shortened(axes.x.title, Math.floor((frame.width - 10) / letter))),
      svg("text", { transform: `translate(11 ${(frame.top + frame.bottom) / 2}) rotate(-90)`,
                    "text-anchor": "middle", "font-size": 11.5 },
          shortened(axes.y.title, Math.floor((frame.height - 10) / letter))));
    return group;
  }

  // "M1 2L3 4" of places and values; a gap where a value is not finite.
  function pathOf(frame, places, values) {
    let d = "";
    let pen = "M";
    for (let i = 0; i < places.length; ++i) {
      if (!Number.isFinite(values[i])) { pen = "M"; continue; }
      d += pen + frame.x(places[i]).toFixed(1) + " " + frame.y(values[i]).toFixed(1);
      pen = "L";
    }
    return d;
  }

  // The band between two curves.
  function bandOf(frame, places, low, high) {
    const there = pathOf(frame, places, low);
    const back = pathOf(frame, places.slice().reverse(), high.slice().reverse());
    return there && back ? there + back.replace("M", "L") + "Z" : "";
  }

  doetune.drawing = { svg, shortened, wide, roundLevels, factorAxis, linearAxis, frameOf, axesOf,
                      pathOf, bandOf };
})((window.doetune = window.doetune || {}));
