// The sliders, and the table of what is predicted at their settings.
"use strict";
(function (doetune) {
  const format = doetune.format;

  // An element with attributes and text; text is never read as markup.
  function element(tag, attributes = {}, ...children) {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
    node.append(...children);
    return node;
  }

  function nearestStop(factor, coded) {
    const distance = (stop) => Math.abs(doetune.coded(factor, stop) - coded);
    let best = 0;
    factor.usable.forEach((stop, i) => {
      if (distance(stop) < distance(factor.usable[best])) best = i;
    });
    return best;
  }

  // The usable setting nearest a coded place.
  doetune.usable = (factor, coded) => factor.usable[nearestStop(factor, coded)];

  doetune.element = element;

  // How many stops a key moves on.
  const keys = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 };

  // One slider; its stops are the settings that can be used. Levels and linear settings stand evenly,
  // log-scaled ones at their place on that scale, where a key moves from stop to stop all the same.
  function slider(factor, changed) {
    const id = "slider-" + factor.name;
    const last = factor.usable.length - 1;
    const even = !["integer", "continuous"].includes(factor.kind) || factor.scale === "linear";
    const placeOf = (stop) =>
      (even ? stop : (last * (doetune.coded(factor, factor.usable[stop]) + 1)) / 2);
    const stopAt = (place) => (even ? place : nearestStop(factor, (2 * place) / last - 1));
    const input = element("input", { type: "range", id, min: 0, max: last, step: even ? 1 : "any",
                                     "data-factor": factor.name });
    const output = element("output", { for: id });
    const row = element("div", { class: "slider" },
                        element("label", { for: id }, factor.name), output, input);
    let stop = 0;
    const take = (taken) => {
      stop = taken;
      const text = format.withUnit(format.setting(factor, factor.usable[stop]), factor.unit);
      output.textContent = text;
      input.setAttribute("aria-valuetext", text);
    };
    const set = (taken) => { take(taken); input.value = placeOf(taken); };
    input.addEventListener("input", () => { take(stopAt(Number(input.value))); changed(); });
    input.addEventListener("change", () => { input.value = placeOf(stop); });
    input.addEventListener("keydown", (event) => {
      const next = stop + keys[event.key];
      if (Number.isNaN(next)) return;
      event.preventDefault();
      set(Math.min(Math.max(next, 0), last));
      changed();
      input.dispatchEvent(new Event("change", { bubbles: true }));
    });
    return {
      row,
      value: () => factor.usable[stop],
      set: (natural) => set(nearestStop(factor, doetune.coded(factor, natural))),
    };
  }

  function goalText(response, prediction) {
    if (!response.goal) return "no goal";
    if (!response.goal.is_limit) return response.goal.text;
    const probability = prediction.goal_met_probability;
    return (prediction.goal_met ? "✓ met on average: " : "✗ not met on average: ") + response.goal.text +
           (probability === null ? "" : ", next run " + format.chance(probability));
  }

  // A card a response, with a function that fills it.
  function card(response) {
    const mean = element("strong", { class: "mean" });
    const ci = element("span", { class: "ci" });
    const pi = element("span", { class: "pi" });
    const goal = element("span", { class: "goal" });
    const expected = element("span", { class: "expected" });
    const node = element("div", { class: "prediction", "data-response": response.name },
                         element("span", { class: "name" }, response.name), mean,
                         element("span", {}, "mean, 95 %: ", ci),
                         element("span", {}, "next run, 95 %: ", pi), goal, expected);
    const fill = (prediction, chosen) => {
      const half = format.halfWidth(prediction.confidence_interval);
      mean.textContent = format.withUnit(format.numberTo(prediction.mean, half), response.unit);
      mean.title = prediction.mean;
      mean.dataset.value = prediction.mean;
      ci.textContent = format.interval(prediction.confidence_interval);
      pi.textContent = format.interval(prediction.prediction_interval);
      goal.textContent = goalText(response, prediction);
      expected.textContent = chosen
        ? "expected at the optimum: " +
          format.numberTo(chosen.mean, format.halfWidth(chosen.confidence_interval)) +
          ", mean, 95 %: " + format.interval(chosen.confidence_interval)
        : "";
      node.classList.toggle("missed", prediction.goal_met === false);
    };
    return { node, fill };
  }

  // What the answer expects of each response, where the sliders are at the optimum.
  function expectedAt({ optimum }, settings) {
    const isOptimum = optimum && settings.every((value, f) => value === optimum.settings[f]);
    return isOptimum ? optimum.expected : {};
  }

  // What the profiles show besides their curves.
  function options(factors) {
    const explore = document.querySelector(".explore");
    const hidden = new Set((doetune.address.get(".hide") || "").split(","));
    const box = (name, label) => {
      const input = element("input", { type: "checkbox", "data-shows": name });
      const show = () => explore.classList.toggle("no-" + name, !input.checked);
      input.checked = !hidden.has(name);
      show();
      input.addEventListener("change", () => {
        show();
        if (input.checked) hidden.delete(name); else hidden.add(name);
        doetune.address.set({ ".hide": [...hidden].filter((text) => text !== "").join(",") });
      });
      return element("label", {}, input, " " + label);
    };
    return element("div", { class: "options" }, box("next-run", "next run"), box("runs", "runs"),
                   factors.length > 1 ? box("partner", "interactions") : "");
  }

  // Settings in the address: a=1&b=2.
  function fromAddress(factors) {
    return factors.map((factor) => {
      const text = doetune.address.get(factor.name);
      if (text === null) return null;
      if (factor.kind !== "categorical") return Number.isFinite(Number(text)) ? Number(text) : null;
      return factor.level_names.includes(text) ? factor.level_names.indexOf(text) : null;
    });
  }

  function toAddress(factors, settings) {
    doetune.address.set(Object.fromEntries(
      factors.map((factor, f) => [factor.name, format.setting(factor, settings[f])])));
  }

  // Builds the panel. `changed(settings)` is called after every move, the numbers already shown.
  doetune.buildSettings = function (panel, data, changed) {
    const responses = data.responses.filter((response) => response.model);
    const cards = responses.map(card);
    const sliders = data.factors.map((factor) => slider(factor, update));
    const settings = () => sliders.map((s) => s.value());
    const excluded = element("p", { class: "excluded", role: "status" });

    function update() {
      const predictions = doetune.predict(settings());
      const expected = expectedAt(data, settings());
      responses.forEach((response, r) =>
        cards[r].fill(predictions[response.name], expected[response.name]));
      const by = doetune.excludedBy(data, settings());
      excluded.textContent = by.length ? "✗ These settings are excluded: " + by.join("; ") : "";
      changed(settings());
    }
    function setAll(values) {
      values.forEach((value, f) => { if (value !== null) sliders[f].set(value); });
      update();
    }
    function reset() {
      setAll(data.reference.settings);
      toAddress(data.factors, settings());
    }

    const button = element("button", { type: "button", id: "reset" },
                           "Reset to " + data.reference.name);
    button.addEventListener("click", reset);
    panel.addEventListener("change", () => toAddress(data.factors, settings()));
    panel.replaceChildren(element("h3", {}, "Settings"), ...sliders.map((s) => s.row), excluded, button,
                          options(data.factors), element("h3", {}, "Predictions"),
                          element("p", { class: "quiet" }, "By the surfaces; settings that are chosen " +
                                  "because they look best look better than they are."),
                          ...cards.map((c) => c.node));
    data.reference.settings.forEach((value, f) => sliders[f].set(value));
    setAll(fromAddress(data.factors));

    // A move from outside the panel: of one factor while it lasts, of none when it ends.
    function move(f, natural) {
      if (f === null) return toAddress(data.factors, settings());
      if (natural === sliders[f].value()) return;
      sliders[f].set(natural);
      update();
    }
    return { move };
  };
})((window.doetune = window.doetune || {}));
