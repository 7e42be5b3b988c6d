// The part of the factor box in which runs are allowed and likely to complete: the study's
// constraints, read in muParser's grammar, its forbidden combinations, and the feasibility surface.
"use strict";
(function (doetune) {
  const token =
    /\s*(?:(\d+\.?\d*(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?)|([A-Za-z_]\w*)|(<=|>=|==|!=|&&|\|\||[-+*/^<>(),?:]))/y;
  const nearly = 1e-12; // stands for a margin of 0 on the right side

  // The margin of a comparison: how far apart its sides are, negative where it does not hold.
  const signed = (holds, l, r) => Math.max(Math.abs(l - r), nearly) * (holds ? 1 : -1);
  const truth = (x) => Number(x !== 0 && !Number.isNaN(x));
  const sum = (...x) => x.reduce((a, b) => a + b, 0);

  // How strongly an operator binds, and what it gives.
  const operators = {
    "||": [1, (l, r) => truth(truth(l) + truth(r))], "&&": [2, (l, r) => truth(l) * truth(r)],
    "<=": [4, (l, r) => Number(l <= r)], ">=": [4, (l, r) => Number(l >= r)],
    "<": [4, (l, r) => Number(l < r)], ">": [4, (l, r) => Number(l > r)],
    "==": [4, (l, r) => Number(l === r)], "!=": [4, (l, r) => Number(l !== r)],
    "+": [5, (l, r) => l + r], "-": [5, (l, r) => l - r],
    "*": [6, (l, r) => l * r], "/": [6, (l, r) => l / r], "^": [7, Math.pow],
  };
  const functions = {
    ln: Math.log, log: Math.log, sign: Math.sign, rint: (x) => Math.floor(x + 0.5),
    min: Math.min, max: Math.max, sum, avg: (...x) => sum(...x) / x.length,
    ...Object.fromEntries(["sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh",
                           "tanh", "asinh", "acosh", "atanh", "log2", "log10", "exp", "sqrt", "abs"]
      .map((name) => [name, Math[name]])),
  };
  const constants = { _pi: Math.PI, _e: Math.E };

  function tokensOf(text) {
    const tokens = [];
    token.lastIndex = 0;
    while (text.slice(token.lastIndex).trim() !== "") {
      const found = token.exec(text);
      if (found === null) throw new SyntaxError(text);
      tokens.push(found.slice(1));
    }
    return tokens;
  }

  // A part of an expression: its value at settings, and its margin as a condition.
  const part = (value, margin = (x) => (truth(value(x)) ? 1 : -1)) => ({ value, margin });

  function joined(symbol, l, r) {
    const [level, of] = operators[symbol];
    const value = (x) => of(l.value(x), r.value(x));
    if (symbol === "&&") return part(value, (x) => Math.min(l.margin(x), r.margin(x)));
    if (symbol === "||") return part(value, (x) => Math.max(l.margin(x), r.margin(x)));
    return level === 4 ? part(value, (x) => signed(value(x) === 1, l.value(x), r.value(x)))
                       : part(value);
  }

  // Precedence climbing; `names` are the factors in the order of the settings.
  function parse(text, names) {
    const tokens = tokensOf(text);
    const symbol = () => (tokens.length ? tokens[0][2] : undefined);
    const expect = (wanted) => {
      if (symbol() !== wanted) throw new SyntaxError(text);
      tokens.shift();
    };
    function list() {
      const parts = [choice()];
      while (symbol() === ",") { tokens.shift(); parts.push(choice()); }
      expect(")");
      return parts;
    }
    function named(name) {
      const index = names.indexOf(name);
      if (index >= 0) return part((x) => x[index]);
      if (Object.hasOwn(constants, name)) return part(() => constants[name]);
      if (!Object.hasOwn(functions, name)) throw new SyntaxError(text);
      expect("(");
      const given = list();
      return part((x) => functions[name](...given.map((one) => one.value(x))));
    }
    function operand() {
      if (!tokens.length) throw new SyntaxError(text);
      const [number, name, sign] = tokens.shift();
      if (number !== undefined) return part(() => Number(number));
      if (name !== undefined) return named(name);
      if (sign === "(") {
        const inner = choice();
        expect(")");
        return inner;
      }
      if (sign !== "-" && sign !== "+") throw new SyntaxError(text);
      const of = binary(operators["^"][0]); // a sign binds less than a power
      return part(sign === "-" ? (x) => -of.value(x) : of.value);
    }
    function binary(least) {
      let left = operand();
      while (operators[symbol()] && operators[symbol()][0] >= least) {
        const [, , sign] = tokens.shift();
        const level = operators[sign][0];
        left = joined(sign, left, binary(sign === "^" ? level : level + 1));
      }
      return left;
    }
    function choice() {
      const condition = binary(1);
      if (symbol() !== "?") return condition;
      tokens.shift();
      const yes = choice();
      expect(":");
      const no = choice();
      const chosen = (x) => (truth(condition.value(x)) ? yes : no);
      return part((x) => chosen(x).value(x), (x) => chosen(x).margin(x));
    }
    const whole = choice();
    if (tokens.length) throw new SyntaxError(text);
    return whole;
  }

  const holds = { "=": (x, v) => x === v, "<": (x, v) => x < v, "<=": (x, v) => x <= v,
                  ">": (x, v) => x > v, ">=": (x, v) => x >= v };

  // Forbidden is where all conditions hold: the margin is that of the one that holds least. An
  // equality has no slope; where it holds, the other conditions draw the line.
  const forbidden = (conditions) => (x) => Math.max(...conditions.map(
    ({ factor, comparison, value }) => (comparison === "="
      ? (x[factor] === value ? -Infinity : Infinity)
      : -signed(holds[comparison](x[factor], value), x[factor], value))));

  function conditionText(data, { factor, comparison, value }) {
    return data.factors[factor].name + " " + comparison + " " +
      doetune.format.setting(data.factors[factor], value);
  }

  // The probability that a run completes: the mean over draws of the coefficients; runs that completed
  // there, or where it is known to be harder, raise its odds.
  doetune.completion = function (data) {
    const row = doetune.modelRow(data.factors, data.feasibility.columns);
    const { draws, ran, easier } = data.feasibility;
    const same = 1e-9;
    const isNoHarder = (point, coded) => coded.every((value, f) => (
      Math.abs(point[f] - value) < same || (point[f] - value) * (easier[f] || 0) > 0));
    return (x) => {
      const point = doetune.codedPoint(data, x);
      const at = row(point);
      let sum = 0;
      for (const draw of draws) sum += 1 / (1 + Math.exp(-doetune.dot(draw, at)));
      const mean = sum / draws.length;
      let ratio = 1;
      for (const { coded, odds } of ran) if (isNoHarder(point, coded)) ratio *= odds;
      return mean * ratio / (1 + (ratio - 1) * mean);
    };
  };

  function feasible(data) {
    const probability = doetune.completion(data);
    const { minimum } = data.feasibility;
    return { text: "a run completes with a probability below " + (100 * minimum).toFixed(0) + " %",
             margin: (x) => {
               const p = probability(x);
               return signed(p >= minimum, p, minimum);
             } };
  }

  // The conditions of a study: a list of { text, margin(settings) }, the margin negative where
  // settings in natural units are excluded. Those that cannot be read here are left out, `unread`.
  doetune.regionOf = function (data) {
    const names = data.factors.map((factor) => factor.name);
    const conditions = data.region.forbidden.map((combination) => ({
      text: "forbidden: " + combination.map((one) => conditionText(data, one)).join(" and "),
      margin: forbidden(combination) }));
    let unread = 0;
    for (const text of data.region.constraints) {
      try {
        conditions.push({ text, margin: parse(text, names).margin });
      } catch (error) {
        if (!(error instanceof SyntaxError)) throw error;
        ++unread;
      }
    }
    if (data.feasibility) conditions.push(feasible(data));
    return { conditions, unread };
  };

  // The conditions that exclude settings.
  doetune.excludedBy = (data, settings) =>
    data.conditions.filter(({ margin }) => !(margin(settings) > 0)).map(({ text }) => text);
})((window.doetune = window.doetune || {}));
