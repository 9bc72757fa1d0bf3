/** Tables that sort: the names of their columns become buttons, and a click orders the rows, a second one the other way round. */
/// <reference lib="dom" />
/// <reference lib="dom.iterable" />

/** The number that a cell begins with; NaN of a text. */
function leadingNumber(text: string): number {
  return parseFloat(text.trim().replaceAll(",", "").replace("−", "-"));
}

/** Orders two cells: numbers before texts, texts by the alphabet. */
function compareCells(a: string, b: string): number {
  const [one, two] = [leadingNumber(a), leadingNumber(b)];
  if (Number.isNaN(one) || Number.isNaN(two)) {
    return Number(Number.isNaN(one)) - Number(Number.isNaN(two)) ||
      a.localeCompare(b, "en", { numeric: true });
  }
  return one - two;
}

function cellText(row: HTMLTableRowElement, column: number): string {
  return row.cells[column]?.textContent ?? "";
}

/** True of a cell without a value: such rows stay at the end, whichever way the rest is ordered. */
function isEmptyCell(text: string): boolean {
  return text.trim() === "" || text.trim() === "–" || text.trim() === "none";
}

function sortRows(body: HTMLTableSectionElement, column: number, isAscending: boolean): void {
  const rows = [...body.rows];
  rows.sort((a, b) => {
    const [one, two] = [cellText(a, column), cellText(b, column)];
    const empty = Number(isEmptyCell(one)) - Number(isEmptyCell(two));
    return empty || (isAscending ? 1 : -1) * compareCells(one, two);
  });
  body.append(...rows);
}

/** Makes every sortable table of the document one. */
export function sortTables(): void {
  for (const table of document.querySelectorAll<HTMLTableElement>("table.sortable")) {
    const [body] = table.tBodies;
    const heads = [...table.tHead?.rows[0]?.cells ?? []];
    for (const [column, head] of heads.entries()) {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = head.textContent;
      head.replaceChildren(button);
      button.addEventListener("click", () => {
        // Numbers are looked at from the top, names from A.
        const first = head.classList.contains("number") ? "descending" : "ascending";
        const other = first === "ascending" ? "descending" : "ascending";
        const order = head.getAttribute("aria-sort") === first ? other : first;
        for (const one of heads) one.removeAttribute("aria-sort");
        head.setAttribute("aria-sort", order);
        sortRows(body, column, order === "ascending");
      });
    }
  }
}
