/** A sequence as coloured text in the page: a heading, its turns, and its tokens, which the keyboard moves through. */
/// <reference lib="dom" />
/// <reference lib="dom.iterable" />
import type { PackedSequence, TokenPayload } from "../token_payload.ts";
import { lookOf, type Quantity } from "./token_quantities.ts";
import { type ShownToken, tokensOf, turnsOf } from "./token_sequence.ts";

/** A sequence in the page. */
export interface ShownSequence {
  readonly element: HTMLElement;
  /** The token of an element of its text. */
  readonly tokenOf: (element: Element) => ShownToken | undefined;
  /** Colours its tokens. */
  readonly colour: (quantity: Quantity) => void;
  /** Gives the keyboard to its token of an index; to the one to look at first without one. */
  readonly focus: (index?: number) => void;
}

function elementOf<K extends keyof HTMLElementTagNameMap>(
  name: K,
  className: string,
  ...children: (Node | string)[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(name);
  element.className = className;
  element.append(...children);
  return element;
}

/** A number in a heading. */
function brief(value: number): string {
  return String(Number(value.toPrecision(3))).replace("-", "−");
}

/** What a sequence earned and how it ended, under its title. */
function summaryText(sequence: PackedSequence, groupName: string | undefined): string {
  const { environment, reward, advantage, length, worstGap, meanGap, stop, begin, count } =
    sequence;
  const range = count < length && count > 0 ? `, of which ${begin} to ${begin + count - 1}` : "";
  return [
    ...(groupName === undefined ? [] : [`group ${groupName}`]),
    ...(environment === undefined ? [] : [environment]),
    ...(reward === undefined ? [] : [`reward ${brief(reward)}`]),
    ...(advantage === undefined ? [] : [`advantage ${brief(advantage)}`]),
    ...(length === 0 ? [] : [`${length} tokens${range}`]),
    ...(worstGap === undefined || meanGap === undefined
      ? []
      : [`gap ${brief(meanGap)} on average, ${brief(worstGap)} at most`]),
    ...(stop === undefined ? [] : [`ended by ${stop}`]),
  ].join(" · ");
}

/** What a token reads like: line feeds and tabs are marked, and what has no text is its number. */
function wordOf({ id }: ShownToken, words: TokenPayload["words"]): string {
  const word = words[id];
  if (word === undefined) return `${id} `;
  return word === "" ? "∅" : word.replaceAll("\t", "⇥\t").replaceAll("\n", "↵\n");
}

/** Texts of a dump without ids. */
function plainText(name: string, text: string | undefined): HTMLElement[] {
  if (text === undefined) return [];
  const body = elementOf("div", "token-plain");
  body.textContent = text;
  return [elementOf("p", "note", name), body];
}

/** Shows a sequence. @param options.groupName Where it has a group. */
export function showSequence(
  sequence: PackedSequence,
  options: {
    readonly payload: TokenPayload;
    readonly groupName: string | undefined;
  },
): ShownSequence {
  const { payload: { id, words, largestAdvantage }, groupName } = options;
  const tokens = tokensOf(sequence);
  const spans = new Map<Element, ShownToken>();
  const spanOf = (token: ShownToken) => {
    const word = wordOf(token, words);
    // The frame of a token must not reach into the next line.
    const end = word.search(/\n+$/);
    const [shown, breaks] = end < 0 ? [word, ""] : [word.slice(0, end), word.slice(end)];
    const span = elementOf("span", "", shown);
    span.tabIndex = -1;
    spans.set(span, token);
    return [span, breaks];
  };
  const turns = turnsOf(tokens).map((turn) => {
    const [{ role }] = turn;
    const label = role === undefined ? [] : [elementOf("b", "token-role", role)];
    return elementOf("div", "token-turn", ...label, ...turn.flatMap(spanOf));
  });
  const heading = elementOf("h4", "", sequence.title);
  const text = elementOf("div", "token-text", ...turns);
  text.setAttribute("role", "group");
  text.setAttribute("aria-label", `Tokens of ${sequence.title}`);
  const names = [...new Set(sequence.findings.map(([, name]) => name))];
  const element = elementOf(
    "article",
    "token-sequence",
    heading,
    elementOf("p", "note", summaryText(sequence, groupName)),
    ...(names.length === 0
      ? []
      : [elementOf("p", "token-said", `said of it: ${names.join(", ")}`)]),
    ...(tokens.length === 0 ? [] : [text]),
    ...plainText("prompt", sequence.prompt),
    ...plainText("answer", sequence.answer),
  );
  element.id = `${id}-sequence-${sequence.key}`;
  const all = [...spans.keys()] as HTMLElement[];
  // One stop of the tab key: the token to look at first.
  const first = all.at(Math.max(0, sequence.focus - sequence.begin)) ?? all.at(0);
  if (first) first.tabIndex = 0;
  return {
    element,
    tokenOf: (one) => spans.get(one),
    colour: (quantity) => {
      for (const [span, token] of spans) {
        const look = token.isNonFinite ? "broken" : lookOf(quantity, token, largestAdvantage);
        span.className = `t ${look}${token.findings.length > 0 ? " pointed" : ""}`;
      }
    },
    focus: (index) => {
      const span = index === undefined ? first : all[index - sequence.begin];
      (span ?? first ?? element).focus();
    },
  };
}

/** The token above or below another one: the nearest in the next line of the text. */
function verticalNeighbour(all: readonly HTMLElement[], current: number, step: 1 | -1): number {
  const from = all[current].getBoundingClientRect();
  let best = -1;
  let [lineTop, bestDistance] = [NaN, Infinity];
  for (let i = current + step; i >= 0 && i < all.length; i += step) {
    const { top, left, height } = all[i].getBoundingClientRect();
    if (Math.abs(top - from.top) < height / 2) continue;
    if (Number.isNaN(lineTop)) lineTop = top;
    if (Math.abs(top - lineTop) >= height / 2) break;
    const distance = Math.abs(left - from.left);
    if (distance < bestDistance) [best, bestDistance] = [i, distance];
  }
  return best;
}

/** Where a key leads from a token; −1: nowhere. */
function targetOf(key: string, all: readonly HTMLElement[], current: number): number {
  switch (key) {
    case "ArrowRight":
      return current + 1 < all.length ? current + 1 : -1;
    case "ArrowLeft":
      return current - 1;
    case "ArrowDown":
      return verticalNeighbour(all, current, 1);
    case "ArrowUp":
      return verticalNeighbour(all, current, -1);
    case "Home":
      return 0;
    case "End":
      return all.length - 1;
    default:
      return -1;
  }
}

/** Lets keys move the focus through the tokens of whatever sequence has it. */
export function moveThroughTokens(list: HTMLElement): void {
  list.addEventListener("keydown", (event) => {
    const { target, key, ctrlKey, metaKey, altKey } = event;
    if (!(target instanceof HTMLElement) || ctrlKey || metaKey || altKey) return;
    const text = target.closest(".token-text");
    if (!text) return;
    const all = [...text.querySelectorAll<HTMLElement>(".t")];
    const next = all[targetOf(key, all, all.indexOf(target))];
    if (!next) return;
    event.preventDefault();
    target.tabIndex = -1;
    next.tabIndex = 0;
    next.focus();
  });
}
