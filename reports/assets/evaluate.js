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
    logit: (z) => 1 / (1 + Math.exp(-z)),
  };
  const forward = {
    log: Math.log,
    sqrt: Math.sqrt,
    inverse: (y) => 1 / y,
    logit: (y) => Math.log(y) - Math.log1p(-y),
  };

  // "power(0.3)": (y^0.3 - 1) / 0.3.
  const lambdaOf = (transform) => Number(transform.slice("power(".length, -1));

  function backTransformed(transform, z) {
    if (back[transform]) return back[transform](z);
    const lambda = lambdaOf(transform);
    if (lambda * z <= -1) return lambda > 0 ? 0 : Infinity;
    return Math.exp(Math.log1p(lambda * z) / lambda);
  }

  function transformed(transform, y) {
    if (forward[transform]) return forward[transform](y);
    return Math.expm1(lambdaOf(transform) * Math.log(y)) / lambdaOf(transform);
  }

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
    const ends = [z - half, z + half].map((end) => backTransformed(response.transform, end));
    return ends[0] <= ends[1] ? ends : [ends[1], ends[0]];
  }

  // The mean alone, at coded settings: what contours need.
  function mean(factors, response, point) {
    const z = dot(modelRow(factors, response.columns, point), response.beta);
    return backTransformed(response.transform, z);
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

  // Where z must lie for the response to lie in [low, high]; first above second: nowhere.
  function scaledRange(transform, low, high) {
    if (transform === "none") return [low, high];
    const top = transform === "logit" ? 1 : Infinity;
    if (high < 0 || low > top) return [Infinity, -Infinity];
    const falls = transform === "inverse" ? -1 : 1;
    const atLow = low <= 0 ? -falls * Infinity : transformed(transform, low);
    const atHigh = high >= top ? falls * Infinity : transformed(transform, high);
    return falls < 0 ? [atHigh, atLow] : [atLow, atHigh];
  }

  // The probability that a response lies within the goal, with mean z and error on that scale.
  function probabilityWithin(response, goal, z, error) {
    const [low, high] =
      scaledRange(response.transform, goal.low ?? -Infinity, goal.high ?? Infinity);
    if (low > high) return 0;
    if (error === 0) return z >= low && z <= high ? 1 : 0;
    const cdf = (end) => doetune.studentCdf((end - z) / error, response.df);
    return cdf(high) - cdf(low);
  }

  // Everything that is predicted of one response at coded settings.
  function predict(factors, response, point) {
    const row = modelRow(factors, response.columns, point);
    const z = dot(row, response.beta);
    const result = { mean: backTransformed(response.transform, z), confidence_interval: null,
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
