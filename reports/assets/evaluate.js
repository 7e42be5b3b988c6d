// What is predicted of a response, as surfaces/surface.h has it: coding, mean, intervals, goals.
"use strict";
(function (doetune) {
  const scaled = { linear: (x) => x, log2: Math.log2, log10: Math.log10 };
  const unscaled = { linear: (s) => s, log2: (s) => 2 ** s, log10: (s) => 10 ** s };

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

  function goalMet(goal, y) {
    return (goal.low === null || y >= goal.low) && (goal.high === null || y <= goal.high);
  }

  // How far inside its limits the mean lies, in units of the goal's scale; negative: missed.
  function goalMargin(goal, y) {
    const below = goal.low === null ? Infinity : y - goal.low;
    const above = goal.high === null ? Infinity : goal.high - y;
    return Math.min(below, above) / goal.scale;
  }

  // The probability that the next run lies within the goal.
  function probabilityWithin(transform, goal, p) {
    const [low, high] = transform.range(goal.low ?? -Infinity, goal.high ?? Infinity);
    if (low > high) return 0;
    const error = Math.hypot(p.error, p.sigma);
    if (error === 0) return p.z >= low && p.z <= high ? 1 : 0;
    const cdf = (end) => doetune.studentCdf((end - p.z) / error, p.nextDf);
    return Math.max(0, cdf(high) - cdf(low));
  }

  // z +- half, in the response's own unit; `inverse` turns the ends around.
  function interval(transform, z, half) {
    const ends = [z - half, z + half].map(transform.back);
    return ends[0] <= ends[1] ? ends : [ends[1], ends[0]];
  }

  // t(df) of 95 % intervals; nearly always df is the same.
  function rememberedQuantile() {
    let known = null;
    let t = 0;
    return (df) => {
      if (df !== known) [known, t] = [df, doetune.studentQuantile(0.975, df)];
      return t;
    };
  }

  // What predicts on the scale of the fit: { mean(point), predict(point) }, the latter with the
  // standard error of the mean, sigma of a run, and degrees of freedom of both.
  const kinds = { polynomial: doetune.polynomial, "gaussian-process": doetune.gaussianProcess,
                  parametric: doetune.parametric };

  // A response's surface at coded points:
  //   mean(point)         in its own unit, to be drawn: of a Gaussian process its smooth part
  //   probability(point)  that the next run meets the goal
  //   predict(point)      both, and 95 % intervals of the mean and of the next run
  // Null where the page cannot evaluate it.
  doetune.surface = function (factors, response) {
    const unknown = response.surface === "parametric" && !doetune.hasParametricModel(response.parametric_model);
    if (!kinds[response.surface] || unknown) return null;
    const fit = kinds[response.surface](factors, response);
    const transform = doetune.transformNamed(response.transform);
    const quantile = rememberedQuantile();
    const nextQuantile = rememberedQuantile();
    const probabilityOf = (p) =>
      (response.goal && p.df ? probabilityWithin(transform, response.goal, p) : null);
    function predict(point) {
      const p = fit.predict(point);
      const mean = transform.back(p.z);
      const next = Math.hypot(p.error, p.sigma);
      return {
        mean,
        confidence_interval: p.df ? interval(transform, p.z, quantile(p.df) * p.error) : null,
        prediction_interval: p.df ? interval(transform, p.z, nextQuantile(p.nextDf) * next) : null,
        goal_met: response.goal ? goalMet(response.goal, mean) : null,
        goal_met_probability: probabilityOf(p),
      };
    }
    return { mean: (point) => transform.back(fit.mean(point)), predict, slow: fit.slow === true,
             probability: (point) => probabilityOf(fit.predict(point)) };
  };

  Object.assign(doetune, { coded, natural, goalMargin });
})((window.doetune = window.doetune || {}));
