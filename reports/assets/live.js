// Shows the state of a running study and its newest report. All text is set as text, never as markup.
"use strict";
(function () {
  const every = 2000; // ms between questions
  const longest = 30000; // ms, where there is no answer
  const rest = 3000; // ms without a key, click or turn of the wheel before the report is replaced
  const holder = document.querySelector("main");
  const part = (id) => document.getElementById(id);
  const kinds = { running: "neutral", finished: "good", interrupted: "open", stopped: "open" };
  let frame = null; // with the report
  let version = ""; // of the report that is shown or being loaded
  let touched = -rest;
  let unanswered = 0;
  let running = true;

  function phase(word, kind) {
    part("phase").textContent = word;
    part("phase").className = "badge " + kind;
  }

  function line(id, texts) {
    part(id).hidden = texts.length === 0;
    const place = part(id).querySelector("dd");
    place.replaceChildren(...texts.map((text) => {
      const item = document.createElement("div");
      item.textContent = text;
      return item;
    }));
  }

  const some = (text) => (text ? [text] : []);
  const few = (texts) => (texts.length > 4 ? [...texts.slice(0, 3), `and ${texts.length - 3} more`] : texts);

  function show(state) {
    running = state.phase === "running";
    phase(state.phase, kinds[state.phase] || "open");
    const runs = `${state.done} of ${state.planned} runs`;
    const counts = [runs];
    if (state.infeasible) counts.push(`${state.infeasible} infeasible`);
    if (state.unsuccessful) counts.push(`${state.unsuccessful} failed`);
    if (running && state.time_left) counts.push(`${state.time_left} left`);
    part("counts").textContent = counts.join(" · ");
    part("progress").max = Math.max(1, state.planned);
    part("progress").value = state.done;
    document.title = `${state.done}/${state.planned} ${state.name} – doetune`;
    line("best", some(state.best && state.best + (state.best_meets_limits ? "" : " (misses a limit)")));
    line("running", few(state.in_progress));
    line("last", running ? some(state.last) : []);
    line("ends", state.ends);
    line("problem", some(state.problem));
    line("file", some(state.file));
  }

  // Where the reader is: the section at the top of the window, and how far into it.
  function place(view) {
    const sections = Array.from(view.document.querySelectorAll("section"));
    const above = sections.filter((section) => section.getBoundingClientRect().top <= 1).pop();
    return above ? { id: above.id, into: -above.getBoundingClientRect().top }
                 : { id: "", into: view.scrollY };
  }

  function go(view, { id, into }) {
    const section = id && view.document.getElementById(id);
    view.scrollTo(0, into + (section ? section.getBoundingClientRect().top + view.scrollY : 0));
  }

  // Loads a report behind the one that is shown, which it then replaces.
  function load(next) {
    version = next;
    const fresh = document.createElement("iframe");
    fresh.title = "Report";
    fresh.className = "waiting";
    fresh.addEventListener("load", () => {
      const view = fresh.contentWindow;
      if (!fresh.contentDocument || !fresh.contentDocument.getElementById("runs")) {
        fresh.remove(); // there was no answer
        version = "";
        return;
      }
      for (const event of ["pointerdown", "pointermove", "keydown", "wheel", "touchmove"]) {
        view.addEventListener(event, (what) => {
          if (event !== "pointermove" || what.buttons) touched = performance.now();
        }, { capture: true, passive: true });
      }
      if (running) view.document.querySelectorAll(".next").forEach((step) => step.remove());
      if (frame) go(view, place(frame.contentWindow));
      fresh.classList.remove("waiting");
      for (const old of Array.from(holder.children)) if (old !== fresh) old.remove();
      frame = fresh;
    }, { once: true });
    fresh.src = `report.html?${encodeURIComponent(next)}` + (frame ? frame.contentWindow.location.hash : "");
    holder.append(fresh);
  }

  async function ask() {
    let state = null;
    try {
      const response = await fetch("state.json");
      if (response.ok) state = await response.json();
    } catch (unreachable) {
      // As with any other answer: asked again.
    }
    unanswered = state ? 0 : unanswered + 1;
    if (state) {
      show(state);
      const rests = performance.now() - touched >= rest;
      if (state.report !== version && (rests || !running)) load(state.report);
    } else if (unanswered > 2) {
      phase("no connection", "open");
      line("problem", ["doetune has ended, or cannot be reached. `doetune report` writes the report."]);
    }
    if (running) setTimeout(ask, Math.min(longest, every * Math.max(1, unanswered)));
  }

  ask();
})();
