// Gaussian processes, as surfaces/models/gaussian_process.h has them. What follows from the points
// and the parameters is worked out here when it is first needed.
"use strict";
(function (doetune) {
  // Correlations of a point with all others: Matern 5/2 over numeric factors, rho over levels, and
  // `nugget` more of a point with itself.
  function correlations(factors, response, nugget) {
    const { points, rates } = response;
    const categorical = factors.map((factor) => factor.kind === "categorical");
    const k = rates.length;
    const flat = Float64Array.from(points.flat());
    const result = new Float64Array(points.length);
    return (point) => {
      for (let j = 0; j < result.length; ++j) {
        let squares = 0;
        let exponent = 0;
        for (let f = 0; f < k; ++f) {
          const gap = flat[j * k + f] - point[f];
          if (!categorical[f]) squares += rates[f] * gap * gap;
          else if (gap !== 0) exponent += rates[f];
        }
        const s = Math.sqrt(squares);
        exponent += s;
        result[j] = (1 + s + squares / 3) * Math.exp(-exponent);
        if (exponent === 0) result[j] += nugget;
      }
      return result;
    };
  }

  // Lower triangular L with L L' = A, both as lower triangles row after row; A is overwritten.
  function cholesky(a, n) {
    for (let i = 0, row = 0; i < n; row += ++i) {
      for (let j = 0, other = 0; j <= i; other += ++j) {
        let sum = a[row + j];
        for (let c = 0; c < j; ++c) sum -= a[row + c] * a[other + c];
        a[row + j] = i === j ? Math.sqrt(sum) : sum / a[other + j];
      }
    }
    return a;
  }

  // The x of L x = b, in place.
  function solveLower(l, b) {
    for (let i = 0, row = 0; i < b.length; row += ++i) {
      let sum = b[i];
      for (let j = 0; j < i; ++j) sum -= l[row + j] * b[j];
      b[i] = sum / l[row + i];
    }
    return b;
  }

  // L of R + g / runs at a point, L^-1 F by columns, and the root of F' (L L')^-1 F.
  function factorised(response, correlationWith, row) {
    const m = response.points.length;
    const triangle = new Float64Array((m * (m + 1)) / 2);
    response.points.forEach((point, i) => {
      triangle.set(correlationWith(point).subarray(0, i + 1), (i * (i + 1)) / 2);
      triangle[(i * (i + 3)) / 2] += response.noise_ratio / response.runs_at[i];
    });
    const root = cholesky(triangle, m);
    const terms = response.points.map((point) => Array.from(row(point)));
    const whitened = response.beta.map((_, q) =>
      solveLower(root, Float64Array.from(terms, (term) => term[q])));
    const gram = whitened.flatMap((a, i) => whitened.slice(0, i + 1).map((b) => doetune.dot(a, b)));
    return { root, whitened, meanRoot: cholesky(Float64Array.from(gram), whitened.length) };
  }

  doetune.gaussianProcess = function (factors, response) {
    const row = doetune.modelRow(factors, response.columns);
    const correlationWith = correlations(factors, response, response.nugget);
    const smoothWith = correlations(factors, response, 0);
    let parts = null;
    const meanBy = (r, point) =>
      doetune.dot(row(point), response.beta) + doetune.dot(r, response.weights);
    // Of the mean, in units of the process' variance.
    function variance(point) {
      parts = parts || factorised(response, correlationWith, row);
      const r = solveLower(parts.root, correlationWith(point).slice());
      const f = row(point);
      const gap = Float64Array.from(parts.whitened, (w, q) => f[q] - doetune.dot(w, r));
      solveLower(parts.meanRoot, gap);
      return 1 + response.nugget - doetune.dot(r, r) + doetune.dot(gap, gap);
    }
    const points = response.points.length;
    return {
      mean: (point) => meanBy(smoothWith(point), point), // what lines and contours show
      slow: points > 150, // a prediction costs the square of the points
      predict: (point) => ({
        z: meanBy(correlationWith(point), point),
        error: response.process_sigma * Math.sqrt(Math.max(0, variance(point))),
        sigma: response.sigma, df: response.df, nextDf: response.df,
      }),
    };
  };
})((window.doetune = window.doetune || {}));
