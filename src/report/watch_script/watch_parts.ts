/** Parts of a page that is being watched: their markup gives way to newer one, and what a reader has opened stays open. */
/// <reference lib="dom" />
/// <reference lib="dom.iterable" />

/** What a folded part is called, so that it is found again in newer markup: its text without its numbers. */
function nameOf(details: HTMLDetailsElement): string {
  const text = details.querySelector("summary")?.textContent ?? "";
  return `${details.className} ${text.replace(/[\d,.]+/g, "")}`;
}

/** What the tab key reaches. */
const FOCUSABLE = "a[href], summary, [tabindex], input, select, button";

/** Puts newer markup, which the server has escaped, into an element. */
export function fillPart(part: HTMLElement, markup: string): void {
  const template = document.createElement("template");
  template.innerHTML = markup;
  // A figure that was there stays as it is, with what was chosen of it.
  for (const figure of template.content.querySelectorAll("[data-keep]")) {
    const known = document.getElementById(figure.id);
    if (known) figure.replaceWith(known);
  }
  const open = new Map(
    [...part.querySelectorAll("details")].map((details) => [nameOf(details), details.open]),
  );
  for (const details of template.content.querySelectorAll("details")) {
    details.open = open.get(nameOf(details)) ?? details.open;
  }
  // The keyboard stays where it was, as far as its place is there again.
  const place = [...part.querySelectorAll(FOCUSABLE)].findIndex((one) =>
    one === document.activeElement
  );
  part.replaceChildren(template.content);
  if (place >= 0) {
    part.querySelectorAll<HTMLElement>(FOCUSABLE)[place]?.focus({ preventScroll: true });
  }
}
