// Sorting and narrowing of tables. Pages work without it: it adds no content, only order.
"use strict";

(() => {
  const said = document.getElementById("said");
  const say = (text) => { if (said) said.textContent = text; };
  const keyOf = (row, column) => {
    const key = row.cells[column].dataset.key;
    return key === undefined ? null : key;
  };
  const compare = (a, b, numeric) =>
    numeric ? Number(a) - Number(b) : a.localeCompare(b, "en", { numeric: true });

  function sort(table, column, order) {
    const heads = table.tHead.rows[0].cells;
    const numeric = heads[column].classList.contains("number");
    const body = table.tBodies[0];
    const sign = order === "ascending" ? 1 : -1;
    const rows = Array.from(body.rows, (row, place) => ({ row, place, key: keyOf(row, column) }));
    // What has no value comes last in both orders; equal rows stay in the order they were in.
    rows.sort((a, b) => {
      if (a.key === null || b.key === null) return (a.key === null) - (b.key === null) || a.place - b.place;
      return sign * compare(a.key, b.key, numeric) || a.place - b.place;
    });
    body.append(...rows.map((one) => one.row));
    for (const head of heads) head.removeAttribute("aria-sort");
    heads[column].setAttribute("aria-sort", order);
    say(`Sorted by ${heads[column].textContent.trim()}, ${order}`);
  }

  function makeSortable(table) {
    Array.from(table.tHead.rows[0].cells).forEach((head, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.className = "sort";
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => {
        const first = head.dataset.first || "ascending";
        const other = first === "ascending" ? "descending" : "ascending";
        sort(table, column, head.getAttribute("aria-sort") === first ? other : first);
      });
    });
  }

  function makeNarrowing(input) {
    const table = document.getElementById(input.dataset.narrows);
    if (!table) return;
    input.closest("[hidden]")?.removeAttribute("hidden");
    const narrow = () => {
      const wanted = input.value.trim().toLowerCase();
      let left = 0;
      for (const row of table.tBodies[0].rows) {
        row.hidden = wanted !== "" && !row.textContent.toLowerCase().includes(wanted);
        left += row.hidden ? 0 : 1;
      }
      say(`${left} of ${table.tBodies[0].rows.length} rows shown`);
    };
    input.addEventListener("input", narrow);
    // A browser that comes back to the page keeps what was typed.
    if (input.value) narrow();
  }

  document.querySelectorAll("table[data-sortable]").forEach(makeSortable);
  document.querySelectorAll("input[data-narrows]").forEach(makeNarrowing);
})();
