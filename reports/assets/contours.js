// Contours: a response over two factors, the others at the sliders' settings, and where the limits
// of all responses hold.
"use strict";
(function (doetune) {
  const nodes = 41;
  const fewNodes = 17; // of surfaces that take long

  // The probability with which the next run is to meet a limit.
  const wanted = (response) => response.goal.confidence || 0.9;

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

  const least = (limits, part) => limits[0][part].map((row, j) => row.map((_, i) =>
    Math.min(...limits.map((limit) => limit[part][j][i]))));

  // Whether the conditions exclude a part of the slice.
  const excludes = ({ allowed }) => allowed !== null && allowed.flat().some((m) => !(m > 0));

  // The values of a grid where it is allowed.
  const counted = (grid, allowed) => grid.flatMap((row, j) =>
    (allowed === null ? row : row.filter((_, i) => allowed[j][i] > 0)));

  // The least and the greatest of a grid where it is allowed, or of all of it where nothing is.
  function rangeOf(grid, allowed) {
    const kept = counted(grid, allowed);
    const values = kept.length > 0 ? kept : grid.flat();
    return [Math.min(...values), Math.max(...values)];
  }

  // All that is drawn of a response over factors x and y; grids are rows from the bottom, their nodes
  // at the coded `places` and at xs and ys in natural units. `margin` is by how much the means meet
  // every limit, negative where one is violated; `gap` is the next run's chance less the one asked
  // for, as logits.
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
    const mean = over((p) => clamp(response.model.mean(p)));
    const limits = limited.map((r) => {
      const chance = over((p) => r.model.probability(p));
      return {
        response: r, chance, asked: doetune.format.percent(wanted(r)),
        margin: over((p) => Math.min(1, Math.max(-1, doetune.goalMargin(r.goal, r.model.mean(p))))),
        gap: chance[0][0] === null ? null
          : chance.map((row) => row.map((p) => logit(p) - logit(wanted(r)))),
      };
    });
    const allowed = data.conditions.length > 0 ? allowedOver(data, settings, x, y, xs, ys) : null;
    return { data, response, settings, point, x, y, places, xs, ys, mean, limits, allowed,
             range: rangeOf(mean, allowed),
             margin: limits.length > 0 ? least(limits, "margin") : null };
  };

  // "a = 1, b = 2 Hz": where the other factors stand.
  function heldText({ data, settings, x, y }) {
    const others = data.factors.map((_, f) => f).filter((f) => f !== x && f !== y);
    if (others.length > 12) return "the other factors at the sliders' settings";
    return others.map((f) => data.factors[f].name + " = " + doetune.format.withUnit(
      doetune.format.setting(data.factors[f], settings[f]), data.factors[f].unit)).join(", ");
  }

  // "90 %", or "90 % and 95 %": the probabilities with which limits are to be met.
  const askedOf = (slice) => [...new Set(slice.limits.map(({ asked }) => asked))].join(" and ");

  function caption(slice) {
    const { data, response } = slice;
    const held = heldText(slice);
    return "Predicted mean of " + doetune.format.nameWithUnit(response) +
      (held && ", with " + held) + ". Circles: measured runs, smaller and fainter the farther " +
      "from this slice." +
      (slice.limits.length > 0 ? " Hatched: the mean of a response violates a limit. Solid lines: " +
        "the mean just meets the limit. Dashed lines: the next run meets it with the probability " +
        "asked for, " + askedOf(slice) + "." : "") +
      (excludes(slice) ? " Grey: settings that are excluded (" +
        data.conditions.map(({ text }) => text).join("; ") + ")." : "") +
      (data.unread > 0 ? " Some of the study's constraints are not drawn here; the SVG files have " +
                         "them." : "");
  }

  // "ranges from 0.06 to 0.87 TFLOP/s": the least and the greatest mean, to the digits they are
  // known to, or "is 0.87 TFLOP/s" where both read alike.
  function rangeText({ data, response, settings, x, y, xs, ys, mean, range }) {
    const all = mean.flat();
    const text = (z) => {
      const place = all.indexOf(z);
      const at = settings.map((s, f) => (f === x ? xs[place % xs.length]
                                         : f === y ? ys[Math.floor(place / xs.length)] : s));
      const { confidence_interval: known } = response.model.predict(doetune.codedPoint(data, at));
      return doetune.format.numberTo(z, doetune.format.halfWidth(known));
    };
    const [low, high] = range.map(text);
    return (low === high ? "is " : "ranges from " + low + " to ") +
      doetune.format.withUnit(high, response.unit);
  }

  // What the slice says of the limits, in a sentence.
  function conclusion(slice) {
    const of = excludes(slice) ? "the allowed part" : "this slice";
    if (slice.limits.length === 0) {
      return "Over " + of + ", " + slice.response.name + " " + rangeText(slice) + ".";
    }
    const share = (part, level) => {
      const all = counted(least(slice.limits, part), slice.allowed);
      return all.filter((v) => v >= level).length / all.length;
    };
    const met = share("margin", 0);
    if (Number.isNaN(met)) return "The study's constraints exclude all of this slice.";
    const words = (s) => (s === 1 ? "All" : s === 0 ? "None" : doetune.format.percent(s));
    const text = words(met) + " of " + of + " meets every limit on average";
    if (met === 0 || slice.limits.some(({ gap }) => gap === null)) return text + ".";
    const sure = share("gap", 0);
    const next = " in the next run with " + askedOf(slice) + " probability.";
    return text + ", " + (sure === met ? "and" : words(sure).toLowerCase()) + next;
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
        target.replaceChildren(doetune.contourPlot(slice, target.clientWidth));
        surface.show(slice);
        return { title: conclusion(slice), caption: caption(slice) };
      },
      rows: () => gridRows(slice),
    };
  };
})((window.doetune = window.doetune || {}));
