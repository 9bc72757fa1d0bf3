/** The keyboard in the page: transcripts and the matrix are one stop of the tab key each, and arrow keys move within them. */
/// <reference lib="dom" />
/// <reference lib="dom.iterable" />

/** What an arrow key changes: the place within a row, and the row. */
const ARROWS: Readonly<Record<string, readonly [across: number, down: number]>> = {
  ArrowRight: [1, 0],
  ArrowLeft: [-1, 0],
  ArrowDown: [0, 1],
  ArrowUp: [0, -1],
};

/** What can be focused, by rows: those of a table, or one row of all. */
function focusRows(group: HTMLElement): HTMLElement[][] {
  const itemsOf = (part: Element) => [...part.querySelectorAll<HTMLElement>("[tabindex]")];
  const rows = [...group.querySelectorAll("tr")].map(itemsOf).filter(({ length }) => length > 0);
  return rows.length > 0 ? rows : [itemsOf(group)];
}

/** Lets the arrow keys move the focus within a group; the tab key stops at its first item alone. */
export function moveFocusWithin(group: HTMLElement): void {
  const rows = focusRows(group);
  for (const item of rows.flat().slice(1)) item.tabIndex = -1;
  group.addEventListener("keydown", (event) => {
    const y = rows.findIndex((row) => row.some((item) => item === document.activeElement));
    const row = rows[y];
    const arrow = ARROWS[event.key];
    if (!row || !arrow) return;
    const [across, down] = arrow;
    const x = row.findIndex((item) => item === document.activeElement);
    const next = rows[y + down]?.[x + across];
    if (!next) return;
    event.preventDefault();
    row[x].tabIndex = -1;
    next.tabIndex = 0;
    next.focus();
  });
}

/** Lets the arrow keys move the focus within each group of the document. */
export function moveFocusByArrows(): void {
  document.querySelectorAll<HTMLElement>(".roving, .matrix").forEach(moveFocusWithin);
}
