// Contour lines of a function on a grid, by marching squares, and the colours between them.
"use strict";
(function (doetune) {
  // The corners of a cell run around it: right, up, left.
  const corners = [[0, 0], [1, 0], [1, 1], [0, 1]];

  // Of each edge of the grid that the level crosses, the edge to which its line goes on. Edges are
  // numbers: 2 * node + 0 to the node on the right, + 1 to the node above.
  function links(z, level) {
    const columns = z[0].length;
    const next = new Map();
    for (let j = 0; j + 1 < z.length; ++j) {
      for (let i = 0; i + 1 < columns; ++i) {
        const values = corners.map(([a, b]) => z[j + b][i + a]);
        const above = values.map((value) => value >= level);
        if (above.every((is) => is === above[0])) continue;
        const node = j * columns + i;
        const edges = [2 * node, 2 * (node + 1) + 1, 2 * (node + columns), 2 * node + 1];
        // A saddle is decided by the mean of its corners.
        const turn = (values[0] + values[1] + values[2] + values[3]) / 4 >= level ? 1 : 3;
        for (let from = 0; from < 4; ++from) {
          if (!above[from] || above[(from + 1) % 4]) continue;
          let to = (from + turn) % 4;
          while (above[to] || !above[(to + 1) % 4]) to = (to + turn) % 4;
          next.set(edges[from], edges[to]);
        }
      }
    }
    return next;
  }

  // The lines at which z[j][i], at (xs[i], ys[j]), equals the level: lists of points [x, y]. A closed
  // line ends with its first point.
  function isoLines(xs, ys, z, level) {
    const next = links(z, level);
    const at = (edge) => {
      const [node, up] = [edge >> 1, edge & 1];
      const [i, j] = [node % xs.length, Math.floor(node / xs.length)];
      const [k, l] = up ? [i, j + 1] : [i + 1, j];
      const share = (level - z[j][i]) / (z[l][k] - z[j][i]);
      return [xs[i] + share * (xs[k] - xs[i]), ys[j] + share * (ys[l] - ys[j])];
    };
    const walk = (start) => {
      const line = [at(start)];
      for (let edge = start; next.has(edge);) {
        const to = next.get(edge);
        next.delete(edge);
        line.push(at(to));
        edge = to;
      }
      return line;
    };
    const reached = new Set(next.values());
    const open = [...next.keys()].filter((edge) => !reached.has(edge)).map(walk);
    const closed = [];
    while (next.size > 0) closed.push(walk(next.keys().next().value));
    return [...open, ...closed];
  }

  // Closed lines around where z >= level: those of the grid within a frame of no width that lies
  // below the level.
  function ringsAbove(xs, ys, z, level) {
    const doubled = (places) => [places[0], ...places, places[places.length - 1]];
    const outside = xs.map(() => level - 1);
    const framed = [outside, ...z, outside].map((row) => [level - 1, ...row, level - 1]);
    return isoLines(doubled(xs), doubled(ys), framed, level);
  }

  const pathOf = (lines) => lines.map((line) => "M" + line.map(
    ([x, y]) => x.toFixed(1) + " " + y.toFixed(1)).join("L")).join("");

  // Viridis, as viridis() in reports/figures/svg.h: towards white, so that dark labels stay legible.
  function viridis(share) {
    const anchors = [[68, 1, 84], [72, 40, 120], [62, 73, 137], [49, 104, 142], [38, 130, 142],
                     [31, 158, 137], [53, 183, 121], [109, 205, 89], [180, 222, 44], [253, 231, 37]];
    const place = Math.min(Math.max(share, 0), 1) * (anchors.length - 1);
    const i = Math.min(Math.floor(place), anchors.length - 2);
    const channels = anchors[i].map((from, c) => {
      const pure = from + (place - i) * (anchors[i + 1][c] - from);
      return Math.round(pure + (255 - pure) * 0.35);
    });
    return "#" + channels.map((channel) => channel.toString(16).padStart(2, "0")).join("");
  }

  doetune.contourLines = { isoLines, ringsAbove, pathOf, viridis };
})((window.doetune = window.doetune || {}));
