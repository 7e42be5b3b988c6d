// The fitted surfaces, evaluated as surfaces/ does: coding, model row, mean, intervals.
"use strict";
(function (doetune) {
  const scaled = { linear: (x) => x, log2: Math.log2, log10: Math.log10 };
  const unscaled = { linear: (s) => s, log2: (s) => 2 ** s, log10: (s) => 10 ** s };
  const back = {
    none: (z) => z,
    log: Math.exp,
    sqrt: (z) => (z < 0 ? 0 : z * z),
    inverse: (z) => (z <= 0 ? Infinity : 1 / z),
  };
  const forward = { log: Math.log, inverse: (y) => 1 / y };

  // Natural units to coded [-1, 1]; the level's index for a categorical factor.
  function coded(factor, natural) {
    if (factor.kind === "categorical") return natural;
    const s = scaled[factor.scale];
    return (2 * (s(natural) - s(factor.low))) / (s(factor.high) - s(factor.low)) - 1;
  }

  function natural(factor, c) {
    if (factor.kind === "categorical") return c;
    const s = scaled[factor.scale];
    const low = s(factor.low);
    return unscaled[factor.scale](low + ((c + 1) / 2) * (s(factor.high) - low));
  }

  // Sum-to-zero contrast j of a level.
  function contrast(j, level, levels) {
    return level === j ? 1 : level === levels - 1 ? -1 : 0;
  }

  function modelRow(factors, columns, point) {
    return columns.map((column) => {
      let product = 1;
      factors.forEach((factor, f) => {
        if (column.contrasts[f] >= 0) {
          product *= contrast(column.contrasts[f], point[f], factor.level_names.length);
        } else {
          for (let i = 0; i < column.powers[f]; ++i) product *= point[f];
        }
      });
      return product;
    });
  }

  const dot = (a, b) => a.reduce((sum, value, i) => sum + value * b[i], 0);

  function interval(response, z, half) {
    const ends = [back[response.transform](z - half), back[response.transform](z + half)];
    return ends[0] <= ends[1] ? ends : [ends[1], ends[0]];
  }

  // The mean alone, at coded settings: what contours need.
  function mean(factors, response, point) {
    return back[response.transform](dot(modelRow(factors, response.columns, point), response.beta));
  }

  function goalMet(goal, y) {
    return (goal.low === null || y >= goal.low) && (goal.high === null || y <= goal.high);
  }

  // How far inside its limits the mean lies, in units of the goal's scale; negative: missed.
  function goalMargin(goal, y) {
    const below = goal.low === null ? Infinity : y - goal.low;
    const above = goal.high === null ? Infinity : goal.high - y;
    return Math.min(below, above) / goal.scale;
  }

  // One bound of a goal on the scale of the fit.
  function scaledBound(transform, y) {
    if (transform === "none") return y;
    if (y === Infinity) return transform === "inverse" ? 0 : y;
    if (transform === "sqrt") return y < 0 ? -Infinity : Math.sqrt(y);
    if (y > 0) return forward[transform](y);
    return transform === "log" ? -Infinity : Infinity;
  }

  // The probability that a response lies within the goal, with mean z and error on that scale.
  function probabilityWithin(response, goal, z, error) {
    const [low, high] = [goal.low ?? -Infinity, goal.high ?? Infinity]
      .map((y) => scaledBound(response.transform, y)).sort((a, b) => a - b);
    if (error === 0) return z >= low && z <= high ? 1 : 0;
    const cdf = (end) => doetune.studentCdf((end - z) / error, response.df);
    return cdf(high) - cdf(low);
  }

  // Everything that is predicted of one response at coded settings.
  function predict(factors, response, point) {
    const row = modelRow(factors, response.columns, point);
    const z = dot(row, response.beta);
    const result = { mean: back[response.transform](z), confidence_interval: null,
                     prediction_interval: null, goal_met: null, goal_met_probability: null };
    if (response.goal) result.goal_met = goalMet(response.goal, result.mean);
    if (response.t === null) return result;
    const variance = dot(row, response.covariance.map((line) => dot(line, row)));
    const error = response.sigma * Math.sqrt(Math.max(0, variance));
    const next = Math.hypot(error, response.sigma);
    result.confidence_interval = interval(response, z, response.t * error);
    result.prediction_interval = interval(response, z, response.t * next);
    if (response.goal) {
      result.goal_met_probability = probabilityWithin(response, response.goal, z, next);
    }
    return result;
  }

  Object.assign(doetune, { coded, natural, mean, goalMargin, predictOne: predict });
})((window.doetune = window.doetune || {}));
