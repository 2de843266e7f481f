/* Tables: a click on a header sorts the rows by its column. A field above a long table keeps the rows
   that contain its text, such as a name or a section; a button with a count, the rows of its kind. */

(function tables() {
  const LONG = 8; // rows
  const order = new Intl.Collator(undefined, { numeric: true });

  /** The text or the number by which a cell is sorted. @param {Element | undefined} cell */
  function valueOf(cell) {
    const text = (cell?.textContent ?? "").trim();
    const value = parseFloat(text.replace("\u2212", "-"));
    return { text, value: cell?.classList.contains("number") && text ? value : NaN };
  }

  /** @param {HTMLTableElement} table @param {number} column @param {number} way */
  function sort(table, column, way) {
    const body = table.tBodies[0];
    const rows = [...body.rows].map((row) => ({ row, key: valueOf(row.cells[column]) }));
    rows.sort(({ key: one }, { key: other }) => {
      if (!one.text || !other.text) return Number(!one.text) - Number(!other.text); // empty: last
      return way * (one.value - other.value || order.compare(one.text, other.text));
    });
    body.append(...rows.map(({ row }) => row));
  }

  for (const table of /** @type {NodeListOf<HTMLTableElement>} */ (document.querySelectorAll(".report .scroll > table"))) {
    if (table.tBodies[0].rows.length < 2) continue;
    const heads = [...(table.tHead?.rows[0].cells ?? [])];
    heads.forEach((head, column) => {
      if (head.tagName !== "TH" || head.children.length) return; // a drawing has no order
      const change = document.createElement("button");
      change.type = "button";
      change.className = "sort";
      change.append(...head.childNodes);
      head.append(change);
      change.addEventListener("click", () => {
        const first = head.classList.contains("number") && column ? "descending" : "ascending";
        const other = first === "ascending" ? "descending" : "ascending";
        const next = head.getAttribute("aria-sort") === first ? other : first;
        for (const each of heads) each.removeAttribute("aria-sort");
        head.setAttribute("aria-sort", next);
        sort(table, column, next === "ascending" ? 1 : -1);
      });
    });
    const kinds = /** @type {HTMLElement[]} */ ([...table.closest(".card")?.querySelectorAll("[data-kind]") ?? []]);
    const field = document.createElement("input");
    field.type = "search";
    field.placeholder = "Filter rows";
    field.setAttribute("aria-label", "Show the rows that contain");
    const filter = () => {
      const wanted = field.value.toLowerCase();
      const kind = kinds.find((one) => one.ariaPressed === "true")?.dataset.kind;
      for (const row of table.tBodies[0].rows) {
        const text = (row.textContent ?? "").toLowerCase();
        row.hidden = !text.includes(wanted) || Boolean(kind) && !row.dataset.kinds?.split(" ").includes(kind ?? "");
      }
    };
    field.addEventListener("input", filter);
    for (const chosen of kinds) {
      chosen.addEventListener("click", () => {
        for (const one of kinds) one.ariaPressed = String(one === chosen && one.ariaPressed !== "true");
        filter();
      });
    }
    if (table.tBodies[0].rows.length >= LONG) table.parentElement?.before(field);
  }
})();
