// The tables of the runs: sorted by a click on a heading, runs without a remark left out on demand.
"use strict";
(function (doetune) {
  // What a cell sorts by: the exact number in its title, a number, or its text.
  function keyOf(cell) {
    const text = (cell.title || cell.textContent).trim();
    return text !== "" && Number.isFinite(Number(text)) ? Number(text) : text;
  }

  // Numbers before texts, and what is missing last in either direction.
  function compare(a, b, sign) {
    const missing = (key) => key === "–" || key === "";
    if (missing(a) || missing(b)) return missing(a) - missing(b);
    if (typeof a !== typeof b) return typeof a === "number" ? -1 : 1;
    return sign * (typeof a === "number" ? a - b : a.localeCompare(b));
  }

  function sort(table, heading, column) {
    const down = heading.getAttribute("aria-sort") === "ascending";
    table.querySelectorAll("th").forEach((th) => th.removeAttribute("aria-sort"));
    heading.setAttribute("aria-sort", down ? "descending" : "ascending");
    const body = table.tBodies[0];
    const keyed = Array.from(body.rows, (row) => [keyOf(row.cells[column]), row]);
    keyed.sort((a, b) => compare(a[0], b[0], down ? -1 : 1));
    body.append(...keyed.map(([, row]) => row));
  }

  doetune.makeSortable = function (table) {
    table.classList.add("sortable");
    table.querySelectorAll("th").forEach((heading, column) => {
      const button = doetune.element("button", { type: "button" }, heading.textContent);
      button.addEventListener("click", () => sort(table, heading, column));
      heading.replaceChildren(button);
    });
  };

  // A box to tick above a table whose last column holds remarks, if any run has one.
  doetune.addRemarkFilter = function (table) {
    const headings = table.querySelectorAll("th");
    if (headings[headings.length - 1].textContent !== "Remark") return;
    const rows = Array.from(table.tBodies[0].rows);
    const plain = rows.filter((row) => row.cells[row.cells.length - 1].textContent === "");
    if (plain.length === 0 || plain.length === rows.length) return;
    const box = doetune.element("input", { type: "checkbox" });
    box.addEventListener("change", () => plain.forEach((row) => { row.hidden = box.checked; }));
    table.parentNode.before(doetune.element("label", { class: "filter" }, box,
      ` Only the ${rows.length - plain.length} runs with a remark`));
  };
})((window.doetune = window.doetune || {}));
