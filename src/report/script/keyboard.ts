/** The keyboard in the page: transcripts and the matrix are one stop of the tab key each, and arrow keys move within them. */
/// <reference lib="dom" />
/// <reference lib="dom.iterable" />

const STEPS: Readonly<Record<string, number>> = { ArrowRight: 1, ArrowLeft: -1 };

/** Lets the arrow keys move the focus within each group. */
export function moveFocusByArrows(): void {
  for (const group of document.querySelectorAll<HTMLElement>(".roving, .matrix")) {
    const items = [...group.querySelectorAll<HTMLElement>("[tabindex]")];
    for (const item of items.slice(1)) item.tabIndex = -1;
    group.addEventListener("keydown", (event) => {
      const current = items.findIndex((item) => item === document.activeElement);
      const next = items[current + (STEPS[event.key] ?? NaN)];
      if (current < 0 || !next) return;
      event.preventDefault();
      items[current].tabIndex = -1;
      next.tabIndex = 0;
      next.focus();
    });
  }
}
