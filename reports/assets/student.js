// Student's t distribution.
"use strict";
(function (doetune) {
  // ln Gamma(x), x > 0. Source: Lanczos (1964), g = 7, n = 9.
  function logGamma(x) {
    const c = [0.99999999999980993, 676.5203681218851, -1259.1392167224028, 771.32342877765313,
               -176.61502916214059, 12.507343278686905, -0.13857109526572012,
               9.9843695780195716e-6, 1.5056327351493116e-7];
    if (x < 0.5) return Math.log(Math.PI / Math.sin(Math.PI * x)) - logGamma(1 - x);
    let sum = c[0];
    for (let i = 1; i < 9; ++i) sum += c[i] / (x - 1 + i);
    const t = x + 6.5;
    return 0.5 * Math.log(2 * Math.PI) + (x - 0.5) * Math.log(t) - t + Math.log(sum);
  }

  // The continued fraction of the incomplete beta function (DLMF 8.17.22), by Lentz's method.
  function betaFraction(a, b, x) {
    const tiny = 1e-300;
    const guard = (v) => (Math.abs(v) < tiny ? tiny : v);
    let c = 1;
    let d = 1 / guard(1 - ((a + b) * x) / (a + 1));
    let h = d;
    for (let m = 1; m < 500; ++m) {
      const even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m));
      const odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1));
      let change = 1;
      for (const term of [even, odd]) {
        d = 1 / guard(1 + term * d);
        c = guard(1 + term / c);
        change = c * d;
        h *= change;
      }
      if (Math.abs(change - 1) < 1e-15) break;
    }
    return h;
  }

  // I_x(a, b).
  function incompleteBeta(a, b, x) {
    if (x <= 0) return 0;
    if (x >= 1) return 1;
    const front = Math.exp(logGamma(a + b) - logGamma(a) - logGamma(b) +
                           a * Math.log(x) + b * Math.log1p(-x));
    return x < (a + 1) / (a + b + 2) ? (front * betaFraction(a, b, x)) / a
                                     : 1 - (front * betaFraction(b, a, 1 - x)) / b;
  }

  // P(T <= t) with df degrees of freedom.
  doetune.studentCdf = function (t, df) {
    if (!Number.isFinite(t)) return t > 0 ? 1 : 0;
    const tail = incompleteBeta(df / 2, 0.5, df / (df + t * t)) / 2;
    return t > 0 ? 1 - tail : tail;
  };

  function density(t, df) {
    return Math.exp(logGamma((df + 1) / 2) - logGamma(df / 2) -
                    ((df + 1) / 2) * Math.log1p((t * t) / df)) / Math.sqrt(df * Math.PI);
  }

  // The t with P(T <= t) = p, 0.5 < p < 1: Newton's method inside a bracket.
  doetune.studentQuantile = function (p, df) {
    let low = 0;
    let high = 2;
    while (doetune.studentCdf(high, df) < p) [low, high] = [high, 2 * high];
    let t = (low + high) / 2;
    for (let i = 0; i < 100; ++i) {
      const gap = doetune.studentCdf(t, df) - p;
      if (gap > 0) high = t; else low = t;
      const step = t - gap / density(t, df);
      const next = step > low && step < high ? step : (low + high) / 2;
      if (Math.abs(next - t) <= 1e-15 * t) return next;
      t = next;
    }
    return t;
  };
})((window.doetune = window.doetune || {}));
