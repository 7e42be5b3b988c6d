// Buttons under every figure: the drawing as SVG, its numbers as CSV.
"use strict";
(function (doetune) {
  function save(name, type, content) {
    const url = URL.createObjectURL(new Blob([content], { type }));
    const link = doetune.element("a", { href: url, download: name });
    link.click();
    setTimeout(() => URL.revokeObjectURL(url), 1000);
  }

  // Alone, a drawing has no style sheet: its colours are written out, those for white paper.
  function standalone(svg) {
    const copy = svg.cloneNode(true);
    copy.querySelectorAll(".drag, .readout").forEach((node) => node.remove());
    const text = new XMLSerializer().serializeToString(copy)
      .replace(/var\(--series\)/g, "#0072b2").replace(/var\(--partner\)/g, "#555")
      .replace(/var\(--paper\)/g, "#fff");
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + text;
  }

  const quoted = (cell) =>
    (/[",\n]/.test(cell) ? '"' + String(cell).replace(/"/g, '""') + '"' : String(cell));

  doetune.csv = (rows) => rows.map((row) => row.map(quoted).join(",") + "\n").join("");

  function saveSvg(figure, name) {
    const svg = figure.querySelector(".plot > svg") || figure.querySelector(".drawing svg");
    save(name, "image/svg+xml", standalone(svg));
  }

  // live() gives the numbers of a live drawing, which ready() draws if it was not near yet; a static
  // one carries its own.
  doetune.addDownloads = function (figure, live, ready = () => {}) {
    const button = (label, title, act) => {
      const node = doetune.element("button", { type: "button", title }, label);
      node.addEventListener("click", () => { ready(); act(); });
      return node;
    };
    const carried = figure.querySelector(".drawing metadata");
    const bar = doetune.element("div", { class: "downloads" },
      button("SVG", "The figure as SVG", () => saveSvg(figure, figure.id + ".svg")));
    if (live || carried) {
      bar.append(button("CSV", "The numbers of the figure as CSV", () => {
        const rows = live && live();
        save(figure.id + ".csv", "text/csv", rows ? doetune.csv(rows) : carried.textContent);
      }));
    }
    figure.append(bar);
  };
})((window.doetune = window.doetune || {}));
