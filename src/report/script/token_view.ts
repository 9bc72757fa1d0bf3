/** The sequences of a token page: which are shown, in what order and colours, and the values of the token that is pointed to. */
/// <reference lib="dom" />
/// <reference lib="dom.iterable" />
import type { PackedSequence, TokenPayload } from "../token_payload.ts";
import { type Quantity, quantityLegend } from "./token_quantities.ts";
import type { ShownToken } from "./token_sequence.ts";
import { moveThroughTokens, type ShownSequence, showSequence } from "./token_text.ts";
import { valueLines } from "./token_values.ts";

/** Sequences that are shown at first, and with each "more". */
const BATCH = 8;

/** Pixels between a token's values and the edges of the window. */
const MARGIN = 8;

/** What a user has chosen, by the names of the controls; an empty text is everything. */
type Choices = Readonly<Record<string, string>>;

/** By what each order sorts, ascending; sequences without such a value come last. */
const SORT_KEYS: Readonly<Record<string, (sequence: PackedSequence) => number | undefined>> = {
  "mean-gap": ({ meanGap }) => meanGap === undefined ? undefined : -meanGap,
  "reward-up": ({ reward }) => reward,
  "reward-down": ({ reward }) => reward === undefined ? undefined : -reward,
  "advantage-up": ({ advantage }) => advantage,
  "advantage-down": ({ advantage }) => advantage === undefined ? undefined : -advantage,
  length: ({ length }) => -length,
  dump: ({ key }) => Number(key),
};

/** The sequences that a user has chosen, in their order. */
export function chosenSequences(
  all: readonly PackedSequence[],
  choices: Choices,
): PackedSequence[] {
  const { order = "worst", group = "", reward = "", stop = "", step = "", environment = "" } =
    choices;
  const matches = (wanted: string, value: string | number | undefined) =>
    wanted === "" || wanted === value?.toString();
  const chosen = all.filter((sequence) =>
    matches(group, sequence.group) && matches(reward, sequence.reward) &&
    matches(stop, sequence.stop) && matches(step, sequence.step) &&
    matches(environment, sequence.environment)
  );
  const keyOf = SORT_KEYS[order];
  if (!keyOf) return chosen;
  return chosen.sort((a, b) => (keyOf(a) ?? Infinity) - (keyOf(b) ?? Infinity) || 0);
}

/** The box with the values of a token. */
class ValueBox {
  readonly #box: HTMLElement;
  /** The token that it is about; undefined while it is hidden. */
  #span: HTMLElement | undefined;

  constructor(box: HTMLElement) {
    this.#box = box;
  }

  show(span: HTMLElement, token: ShownToken, word: string | undefined): void {
    const box = this.#box;
    const list = document.createElement("dl");
    for (const [name, value] of valueLines(token, word)) {
      const [dt, dd] = [document.createElement("dt"), document.createElement("dd")];
      dt.textContent = name;
      dd.textContent = value;
      list.append(dt, dd);
    }
    box.replaceChildren(list);
    box.hidden = false;
    span.setAttribute("aria-describedby", box.id);
    this.#span = span;
    this.place();
  }

  /** Puts it below its token where there is room, else above it; never outside of the window. */
  place(): void {
    const [box, span] = [this.#box, this.#span];
    if (!span) return;
    const token = span.getClientRects()[0] ?? span.getBoundingClientRect();
    const { width, height } = box.getBoundingClientRect();
    const right = document.documentElement.clientWidth - width - MARGIN;
    const below = token.bottom + MARGIN;
    const top = below + height <= innerHeight
      ? below
      : Math.max(MARGIN, token.top - height - MARGIN);
    box.style.left = `${Math.max(MARGIN, Math.min(token.left, right))}px`;
    box.style.top = `${top}px`;
  }

  hide(): void {
    this.#box.hidden = true;
    this.#span = undefined;
  }
}

/** The view of one dump. */
class TokenView {
  readonly #view: HTMLElement;
  readonly #list: HTMLElement;
  readonly #payload: TokenPayload;
  readonly #box: ValueBox;
  #shown: ShownSequence[] = [];
  #chosen: PackedSequence[] = [];

  constructor(view: HTMLElement, payload: TokenPayload) {
    this.#view = view;
    this.#payload = payload;
    this.#list = this.#find(".token-sequences");
    this.#box = new ValueBox(this.#find(".token-values"));
    for (const control of this.#controls()) {
      control.addEventListener("change", () => {
        if (control.dataset.choice === "colour") this.#colour();
        else this.#start();
      });
    }
    this.#find(".token-more").addEventListener("click", () => {
      const count = this.#shown.length;
      this.#more();
      this.#shown[count]?.focus();
    });
    this.#listen();
    this.#start();
  }

  #find(selector: string): HTMLElement {
    const element = this.#view.querySelector<HTMLElement>(selector);
    if (!element) throw new RangeError(`${this.#view.id} has no ${selector}`);
    return element;
  }

  #controls(): HTMLSelectElement[] {
    return [...this.#view.querySelectorAll<HTMLSelectElement>("[data-choice]")];
  }

  #choices(): Choices {
    return Object.fromEntries(
      this.#controls().map(({ dataset, value }) => [dataset.choice ?? "", value]),
    );
  }

  #listen(): void {
    const list = this.#list;
    moveThroughTokens(list);
    const show = ({ target }: Event) => {
      const found = target instanceof HTMLElement ? this.#tokenOf(target) : undefined;
      if (!found || !(target instanceof HTMLElement)) return;
      this.#box.show(target, found, this.#payload.words[found.id]);
    };
    // A tap gives the focus as well, where a browser lets it; the click says it where it does not.
    for (const event of ["pointerover", "focusin", "click"]) list.addEventListener(event, show);
    for (const event of ["pointerleave", "focusout"]) {
      list.addEventListener(event, () => this.#box.hide());
    }
    for (const event of ["scroll", "resize"]) {
      addEventListener(event, () => this.#box.place(), { passive: true });
    }
    addEventListener("keydown", ({ key }) => {
      if (key === "Escape") this.#box.hide();
    });
  }

  #tokenOf(element: Element): ShownToken | undefined {
    for (const { tokenOf } of this.#shown) {
      const token = tokenOf(element);
      if (token) return token;
    }
    return undefined;
  }

  /** Shows the first sequences of what is chosen now. */
  #start(): void {
    this.#chosen = chosenSequences(this.#payload.sequences, this.#choices());
    this.#shown = [];
    this.#list.replaceChildren();
    this.#more();
  }

  #groupName(index: number | undefined): string | undefined {
    if (index === undefined) return undefined;
    return this.#payload.groups[index];
  }

  #more(): void {
    const next = this.#chosen.slice(this.#shown.length, this.#shown.length + BATCH);
    for (const sequence of next) {
      const shown = showSequence(sequence, {
        payload: this.#payload,
        groupName: this.#groupName(sequence.group),
      });
      this.#shown.push(shown);
      this.#list.append(shown.element);
    }
    const rest = this.#chosen.length - this.#shown.length;
    this.#find(".token-more").hidden = rest === 0;
    this.#find("[role=status]").textContent = this.#chosen.length === 0
      ? "No sequence on this page matches."
      : `${this.#shown.length} of ${this.#chosen.length} sequences are shown.`;
    this.#colour();
  }

  #colour(): void {
    const { colour = "" } = this.#choices();
    const quantity = colour as Quantity | "";
    const entries = quantity === "" ? [] : quantityLegend(quantity, this.#payload.largestAdvantage);
    this.#find(".token-legend").replaceChildren(...entries.map(({ look, text }) => {
      const item = document.createElement("li");
      const sample = document.createElement("span");
      sample.className = `t ${look}`;
      sample.textContent = "token";
      sample.setAttribute("aria-hidden", "true");
      item.append(sample, ` ${text}`);
      return item;
    }));
    if (quantity !== "") { for (const shown of this.#shown) shown.colour(quantity); }
  }

  /** Brings a sequence into sight, whatever is chosen. @returns Whether it is of this view. */
  reveal(key: string, token: number | undefined): boolean {
    const { sequences } = this.#payload;
    const wanted = sequences.find((sequence) => sequence.key === key);
    if (!wanted) return false;
    if (!this.#chosen.includes(wanted)) {
      for (const control of this.#controls()) {
        if (!["colour", "order"].includes(control.dataset.choice ?? "")) control.value = "";
      }
      this.#start();
    }
    while (this.#shown.length <= this.#chosen.indexOf(wanted)) this.#more();
    const shown = this.#shown[this.#chosen.indexOf(wanted)];
    shown.element.scrollIntoView();
    shown.focus(token);
    return true;
  }
}

/** `#tokens-0-sequence-12` → `12`; undefined of other targets. */
function keyIn(hash: string, id: string): string | undefined {
  const prefix = `#${id}-sequence-`;
  return hash.startsWith(prefix) ? hash.slice(prefix.length) : undefined;
}

/** Shows the token pages of the document. */
export function showTokens(payloads: readonly TokenPayload[]): void {
  // Links lead to the tables of sequences where no script shows the sequences themselves.
  for (const table of document.querySelectorAll("details.token-table")) table.removeAttribute("id");
  const views = payloads.flatMap((payload) => {
    const element = document.getElementById(`${payload.id}-view`);
    return element ? [{ id: payload.id, view: new TokenView(element, payload) }] : [];
  });
  const follow = (hash: string, token?: number): boolean =>
    views.some(({ id, view }) => {
      const key = keyIn(hash, id);
      return key !== undefined && view.reveal(key, token);
    });
  addEventListener("hashchange", () => follow(location.hash));
  document.addEventListener("click", (event) => {
    const link = event.target instanceof Element ? event.target.closest("a") : null;
    if (!link?.hash) return;
    const token = link.dataset.token ? Number(link.dataset.token) : undefined;
    if (!follow(link.hash, token)) return;
    event.preventDefault();
    history.pushState(null, "", link.hash);
  });
  follow(location.hash);
}
