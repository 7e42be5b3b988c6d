// Polynomial surfaces: rows of the model matrix, means, and the errors of means and runs.
"use strict";
(function (doetune) {
  // Sum-to-zero contrast j of a level.
  const contrast = (j, level, levels) => (level === j ? 1 : level === levels - 1 ? -1 : 0);

  // row(point) of a model with these columns; one array, written anew at every call.
  doetune.modelRow = function (factors, columns) {
    const parts = columns.map((column) => {
      const powers = [];
      const contrasts = [];
      factors.forEach((factor, f) => {
        for (let i = 0; i < column.powers[f] && column.contrasts[f] < 0; ++i) powers.push(f);
        if (column.contrasts[f] >= 0) {
          contrasts.push([f, column.contrasts[f], factor.level_names.length]);
        }
      });
      return { powers, contrasts };
    });
    const row = new Float64Array(columns.length);
    return (point) => {
      for (let c = 0; c < parts.length; ++c) {
        let product = 1;
        for (const f of parts[c].powers) product *= point[f];
        for (const [f, j, levels] of parts[c].contrasts) product *= contrast(j, point[f], levels);
        row[c] = product;
      }
      return row;
    };
  };

  doetune.dot = function (a, b) {
    let sum = 0;
    for (let i = 0; i < a.length; ++i) sum += a[i] * b[i];
    return sum;
  };

  // row A row' of a symmetric A, given as its lower triangle row after row.
  doetune.quadraticForm = function (triangle, row) {
    let sum = 0;
    let at = 0;
    for (let i = 0; i < row.length; ++i) {
      let before = 0;
      for (let j = 0; j < i; ++j) before += triangle[at++] * row[j];
      sum += row[i] * (2 * before + triangle[at++] * row[i]);
    }
    return sum;
  };

  // Degrees of freedom of a mean, and of a run in a whole plot of its own (Kenward & Roger, 1997).
  function wholePlotFreedom(plots, row) {
    const v = doetune.quadraticForm(plots.covariance, row);
    const a = plots.derivatives.map((d) => doetune.quadraticForm(d, row));
    const [w11, w12, w22] = plots.of_variances;
    const df = (size, [a1, a2]) =>
      (2 * size * size) / (a1 * a1 * w11 + 2 * a1 * a2 * w12 + a2 * a2 * w22);
    return { df: df(v, a), nextDf: df(v + 1 + plots.ratio, a.map((x) => x + 1)) };
  }

  doetune.polynomial = function (factors, response) {
    const row = doetune.modelRow(factors, response.columns);
    const beta = Float64Array.from(response.beta);
    const covariance = Float64Array.from(response.covariance);
    const sigma = response.sigma || 0;
    const scatter = response.variance && doetune.modelRow(factors, response.variance.columns);
    const here = (point) => (scatter
      ? Math.exp(doetune.dot(scatter(point), response.variance.coefficients) / 2) : 1);
    return {
      mean: (point) => doetune.dot(row(point), beta),
      predict: (point) => {
        const x = row(point);
        const error = sigma * Math.sqrt(Math.max(0, doetune.quadraticForm(covariance, x)));
        const freedom = response.whole_plots ? wholePlotFreedom(response.whole_plots, x)
                                             : { df: response.df, nextDf: response.df };
        return { z: doetune.dot(x, beta), error, sigma: sigma * here(point), ...freedom };
      },
    };
  };
})((window.doetune = window.doetune || {}));
