/** The document around the sections: head with its content security policy, table of contents, data, script. */
import { chartData, chartsOf } from "./chart.ts";
import { type Html, html, jsonBlock, NOTHING } from "./html.ts";
import { anchor } from "./tables.ts";
import chartsStyle from "./charts.css" with { type: "text" };
import compareStyle from "./compare.css" with { type: "text" };
import pagesStyle from "./pages.css" with { type: "text" };
import frameStyle from "./style.css" with { type: "text" };
import type { PageData, PageScripts } from "./page_data.ts";
import { tokenPayloadsOf } from "./token_payload.ts";
import tokenStyle from "./tokens.css" with { type: "text" };

/** One page of the document. */
export interface Section {
  /** Unique in the document. */
  readonly id: string;
  readonly title: string;
  readonly body: Html;
  /** Headings within it that the table of contents names; their elements have these ids. */
  readonly parts?: readonly { readonly id: string; readonly title: string }[];
}

/** Rules of single pages come first, so that those for narrow windows and paper have the last word. */
export const STYLE_SHEET = chartsStyle + pagesStyle + compareStyle + tokenStyle + frameStyle;

/** Stands in the head of every report, so that no other file is taken for one. */
export const GENERATOR = "agentrl";

/** The same of every page that trains (src/live/page.ts); here, since reports link to those beside them. */
export const LIVE_GENERATOR = "agentrl live";

/** A report is to be mailed and opened anywhere: 2 MB. */
export const MAX_BYTES = 2_000_000;

/** Points a curve may keep, tried in turn until the document is small enough. */
const POINT_LIMITS = [800, 400, 200, 100, 50, 24];

/** Base64 of the SHA-256 of what is in an element, as a content security policy names it. */
export async function cspHash(text: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return `'sha256-${btoa(String.fromCharCode(...new Uint8Array(digest)))}'`;
}

/** Our own text inside a script or style element. @throws {RangeError} When it would end the element. */
export function ownText(text: string): Html {
  if (/<\/(script|style)|<!--/i.test(text)) {
    throw new RangeError(
      "Cannot put a script or style into the report: its text would end the element",
    );
  }
  return { markup: text, attachments: [] };
}

function contents(sections: readonly Section[]): Html {
  return html`
    <nav aria-label="Contents">
      <details open>
        <summary>Contents</summary>
        <ol>${sections.map(({ id, title, parts = [] }) =>
          html`<li><a href="#${id}">${title}</a>${
            parts.length === 0
              ? NOTHING
              : html`<ol>${
                parts.map((part) => html`<li><a href="#${part.id}">${part.title}</a></li>`)
              }</ol>`
          }</li>`
        )}</ol>
      </details>
    </nav>
  `;
}

function requireUnique(names: readonly string[]): void {
  const twice = names.find((name, i) => names.indexOf(name) !== i);
  if (twice !== undefined) {
    throw new RangeError(`Cannot build the report: two of its parts have the id "${twice}"`);
  }
}

/**
 * Builds the document.
 *
 * @param options.title The heading.
 * @param options.subtitle One line below it.
 * @param options.tab What the window's tab says (default: the heading).
 * @param options.sections In reading order.
 * @param options.data Further values for the page's script.
 * @param options.scripts The scripts.
 * @returns HTML that loads nothing: scripts and style are inside, and the policy allows no others.
 * @throws {RangeError} When two parts have one id, or the document stays above {@linkcode MAX_BYTES}.
 */
export async function buildDocument(options: {
  readonly title: string;
  readonly subtitle: string;
  readonly tab?: string;
  readonly sections: readonly Section[];
  readonly data: Omit<PageData, "charts" | "tokens">;
  readonly scripts: PageScripts;
}): Promise<string> {
  const { title, subtitle, tab = title, sections, data, scripts } = options;
  const charts = sections.flatMap(({ body }) => chartsOf(body));
  const tokens = sections.flatMap(({ body }) => tokenPayloadsOf(body));
  requireUnique([
    ...sections.flatMap(({ id, parts = [] }) => [id, ...parts.map((part) => part.id)]),
    ...charts.map(({ id }) => id),
  ]);
  const policy = [
    "default-src 'none'",
    `script-src ${await cspHash(scripts.chartJs)} ${await cspHash(scripts.page)}`,
    `style-src ${await cspHash(STYLE_SHEET)}`,
    "base-uri 'none'",
    "form-action 'none'",
  ].join("; ");
  const body = sections.map((section) =>
    html`
      <section id="${section.id}" aria-labelledby="${section.id}-heading">
      <h2 id="${section.id}-heading">${section.title}${anchor(section.id)}</h2>
      ${section.body}
      </section>
    `
  );
  const dataOf = (maxPoints: number): PageData => ({
    ...data,
    charts: charts.map((chart) => chartData(chart, maxPoints)),
    tokens,
  });
  const page = (maxPoints: number) =>
    html`
      <!DOCTYPE html>
      <html lang="en">
        <head>
          <meta charset="utf-8">
          <meta name="generator" content="${GENERATOR}">
          <meta http-equiv="Content-Security-Policy" content="${policy}">
          <meta name="viewport" content="width=device-width, initial-scale=1">
          <meta name="color-scheme" content="light dark">
          <title>${tab}</title>
          <style>${ownText(STYLE_SHEET)}</style>
        </head>
        <body>
      <a class="skip" href="#${sections[0]?.id ?? ""}">Skip to the content</a>
      <header><h1>${title}</h1><p>${subtitle}</p></header>
      ${contents(sections)}
      <main>
      <noscript><p class="note">Without JavaScript the charts are tables, and everything else is here as well.</p></noscript>
      ${body}</main>
      ${jsonBlock("report-data", dataOf(maxPoints))}
      <script>${ownText(scripts.chartJs)}</script>
      <script>${ownText(scripts.page)}</script>
        </body>
      </html>
    `.markup;
  for (const maxPoints of POINT_LIMITS) {
    const text = page(maxPoints);
    if (new TextEncoder().encode(text).length <= MAX_BYTES) return text;
  }
  throw new RangeError(
    `Cannot build the report: ${charts.length} charts do not fit into ${
      MAX_BYTES / 1e6
    } MB; name fewer runs`,
  );
}
