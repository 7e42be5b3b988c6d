// Transforms of a response, as surfaces/transform.h has them.
"use strict";
(function (doetune) {
  const one = () => 1;
  // back: from the scale of the fit; forward, slope: to it; has: whether there is a value there.
  const named = {
    none: { back: (z) => z, forward: (y) => y, slope: one, has: () => true },
    log: { back: Math.exp, forward: Math.log, slope: (y) => 1 / y, has: (y) => y > 0 },
    sqrt: { back: (z) => (z < 0 ? 0 : z * z), forward: Math.sqrt,
            slope: (y) => 0.5 / Math.sqrt(y), has: (y) => y >= 0 },
    inverse: { back: (z) => (z <= 0 ? Infinity : 1 / z), forward: (y) => 1 / y,
               slope: (y) => -1 / (y * y), has: (y) => y > 0 },
    logit: { back: (z) => 1 / (1 + Math.exp(-z)), forward: (y) => Math.log(y) - Math.log1p(-y),
             slope: (y) => 1 / (y * (1 - y)), has: (y) => y > 0 && y < 1 },
  };

  function power(lambda) {
    return {
      back: (z) => (lambda * z <= -1 ? (lambda > 0 ? 0 : Infinity)
                                     : Math.exp(Math.log1p(lambda * z) / lambda)),
      forward: (y) => Math.expm1(lambda * Math.log(y)) / lambda,
      slope: (y) => y ** (lambda - 1), has: (y) => y > 0,
    };
  }

  // Where z must lie for the response to lie in [low, high]; first above second: nowhere.
  function range(name, transform, low, high) {
    if (name === "none") return [low, high];
    const top = name === "logit" ? 1 : Infinity;
    if (high < 0 || low > top) return [Infinity, -Infinity];
    const falls = name === "inverse" ? -1 : 1;
    const atLow = low <= 0 ? -falls * Infinity : transform.forward(low);
    const atHigh = high >= top ? falls * Infinity : transform.forward(high);
    return falls < 0 ? [atHigh, atLow] : [atLow, atHigh];
  }

  // Of a name such as "log" or "power(0.3)": (y^0.3 - 1) / 0.3.
  doetune.transformNamed = function (name) {
    const transform = named[name] || power(Number(name.slice("power(".length, -1)));
    const top = name === "logit" ? 1 : Infinity;
    return {
      ...transform, range: (low, high) => range(name, transform, low, high),
      // Where there is no value, the end of those there are.
      forwardOrEnd: (y) => transform.forward(transform.has(y) ? y : Math.min(Math.max(y, 0), top)),
    };
  };
})((window.doetune = window.doetune || {}));
