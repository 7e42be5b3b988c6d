// Numbers as people read them, by the rules of analysis/format.h.
"use strict";
(function (doetune) {
  function short(x) {
    const size = Math.abs(x);
    if (!Number.isFinite(x)) return x > 0 ? "inf" : x < 0 ? "-inf" : "nan";
    if (size >= 1000 && size < 1e7) return x.toFixed(0);
    if (size !== 0 && (size < 1e-4 || size >= 1e7)) return Number(x.toPrecision(4)).toExponential();
    return String(Number(x.toPrecision(4)));
  }

  // x to two significant digits of its uncertainty.
  function numberTo(x, resolution) {
    if (!(resolution > 0) || !Number.isFinite(resolution) || Math.abs(x) >= 1e7) return short(x);
    const decimals = 1 - Math.floor(Math.log10(resolution));
    return decimals > 6 ? short(x) : x.toFixed(Math.max(decimals, 0)).replace(/^-(0(\.0*)?)$/, "$1");
  }

  // The difference of two values that are known to `resolution`.
  const differenceTo = (x, resolution) =>
    numberTo(x, x === 0 ? resolution : Math.min(resolution, Math.abs(x)));

  // Labels of the ticks of one axis, short and all different: "16.8M", "0.002", "1.5e-7".
  function tickLabels(values) {
    const sizes = [[1e12, "T"], [1e9, "G"], [1e6, "M"]];
    const tick = (x, digits) => {
      const size = Math.abs(x);
      const [scale, letter] = sizes.find(([s]) => size >= s) || [1, ""];
      if (size >= 1e15 || (size !== 0 && size < 1e-4)) {
        return x.toExponential(digits - 1).replace(/\.?0*e/, "e").replace("e+", "e");
      }
      return String(Number((x / scale).toPrecision(letter ? digits : Math.max(digits, 4)))) + letter;
    };
    for (let digits = 3; digits < 15; ++digits) {
      const labels = values.map((x) => tick(x, digits));
      if (new Set(labels).size === values.length) return labels;
    }
    return values.map(String);
  }

  function percent(share) {
    if (share > 0.99 && share < 1) return "> 99\u00a0%";
    if (share < 0.01 && share > 0) return "< 1\u00a0%";
    return (100 * share).toFixed(0) + "\u00a0%";
  }

  // A probability that was estimated, so never a certainty.
  const chance = (p) => (p > 0.99 ? "> 99\u00a0%" : p < 0.01 ? "< 1\u00a0%" : percent(p));

  const halfWidth = (interval) => (interval ? (interval[1] - interval[0]) / 2 : 0);

  function interval(ends) {
    if (!ends) return "not available";
    return numberTo(ends[0], halfWidth(ends)) + " to " + numberTo(ends[1], halfWidth(ends));
  }

  const withUnit = (text, unit) => (unit && unit !== "1" ? text + " " + unit : text);

  // "name [unit]" of a factor or response.
  const nameWithUnit = (of) => withUnit(of.name, of.unit && of.unit !== "1" ? "[" + of.unit + "]" : "");

  // A setting as the user writes it: the exact number or the level's name.
  function setting(factor, natural) {
    return factor.kind === "categorical" ? factor.level_names[natural] : String(natural);
  }

  doetune.format = { short, numberTo, differenceTo, percent, chance, interval, halfWidth, withUnit, nameWithUnit,
                     setting, tickLabels };
})((window.doetune = window.doetune || {}));
