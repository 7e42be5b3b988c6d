// Parametric models of one factor, those of surfaces/models/parametric_models.cpp: value and
// gradient by the parameters.
"use strict";
(function (doetune) {
  const models = {
    amdahl: (x, [c, p]) => {
      const d = 1 - p + p / x;
      return { y: c / d, slopes: [1 / d, (c * (1 - 1 / x)) / (d * d)] };
    },
    "amdahl-time": (x, [t, p]) => {
      const d = 1 - p + p / x;
      return { y: t * d, slopes: [d, t * (1 / x - 1)] };
    },
    "universal-scalability": (x, [c, a, b]) => {
      const d = 1 + a * (x - 1) + b * x * (x - 1);
      const fall = (-c * x * (x - 1)) / (d * d);
      return { y: (c * x) / d, slopes: [x / d, fall, fall * x] };
    },
    saturation: (x, [m, h]) =>
      ({ y: (m * x) / (h + x), slopes: [x / (h + x), (-m * x) / (h + x) ** 2] }),
    "exponential-approach": (x, [m, r]) =>
      ({ y: -m * Math.expm1(-r * x), slopes: [-Math.expm1(-r * x), m * x * Math.exp(-r * x)] }),
    "fixed-plus-linear": (x, [f, s]) => ({ y: f + s * x, slopes: [1, x] }),
  };

  doetune.hasParametricModel = (name) => name in models;

  doetune.parametric = function (factors, response) {
    const transform = doetune.transformNamed(response.transform);
    const level = (point) => (response.by === null ? 0 : point[response.by]);
    const at = (point) => models[response.parametric_model](
      doetune.natural(factors[response.factor], point[response.factor]),
      response.parameters[level(point)]);
    return {
      mean: (point) => transform.forwardOrEnd(at(point).y),
      predict: (point) => {
        const { y, slopes } = at(point);
        const gradient = slopes.map((slope) => slope * transform.slope(y));
        const variance = doetune.quadraticForm(response.covariance[level(point)], gradient);
        const known = transform.has(y) && response.sigma !== null;
        const df = known ? response.df : 0;
        const sigma = response.sigma || 0;
        return { z: transform.forwardOrEnd(y), error: sigma * Math.sqrt(Math.max(0, variance)),
                 sigma, df, nextDf: df };
      },
    };
  };
})((window.doetune = window.doetune || {}));
