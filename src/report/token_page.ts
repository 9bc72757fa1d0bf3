/** The page of a token dump: what is said about it, two charts, its groups side by side, and every kept sequence as coloured text. */
import type { Section } from "./document.ts";
import { producerTitle } from "../producers/producers.ts";
import { findingGroups, firstPart, type PlaceTarget } from "./findings_part.ts";
import { formatCount } from "./format.ts";
import { type Content, type Html, html, idOf, NOTHING } from "./html.ts";
import { facts, partHeading } from "./tables.ts";
import { gapChartsPart, sideName } from "./token_charts.ts";
import type { TokenData } from "./token_data.ts";
import type { TokenDigest } from "./token_digest.ts";
import { groupsPart } from "./token_groups.ts";
import { tokenPayload, withTokens } from "./token_payload.ts";
import { tokenTables } from "./token_tables.ts";
import {
  gapSides,
  probabilitySide,
  QUANTITIES,
  type Quantity,
  ratioSides,
} from "./script/token_quantities.ts";

function sourceFacts({ source, digest: { totals, kept } }: TokenData): Html {
  const { path, form, producer, files, ignored } = source;
  const { sequences, tokens, trained, groups, steps, sides } = totals;
  const whole = kept.filter(({ summary, tokens }) => tokens.ids.length === summary.tokenCount);
  const left = [
    ...(sequences > kept.length
      ? [`${formatCount(sequences - kept.length)} sequences, the least bad`]
      : []),
    ...(kept.length > whole.length
      ? [`the far tokens of ${formatCount(kept.length - whole.length)} long sequences`]
      : []),
  ];
  return facts([
    ["dump", path],
    ["form", files.length > 1 ? `${form}, ${formatCount(files.length)} files` : form],
    ["written by", producer === undefined ? "not known" : producerTitle(producer)],
    [
      "sequences",
      `${formatCount(sequences)}, ${
        groups === 0 ? "without groups" : `in ${formatCount(groups)} groups`
      }`,
    ],
    [
      "tokens",
      `${formatCount(tokens)}${
        trained === undefined
          ? ", without a loss mask"
          : `, of which ${formatCount(trained)} trained`
      }`,
    ],
    ...(steps
      ? [
        [
          "steps",
          steps[0] === steps[1] ? formatCount(steps[0]) : steps.map(formatCount).join(" to "),
        ] as const,
      ]
      : []),
    ["log-probs of", sides.map(sideName).join(", ") || "nobody"],
    ...(left.length > 0 ? [["left out of this page", left.join("; ")] as const] : []),
    ...(ignored.length > 0
      ? [
        [
          "skipped",
          ignored.map(({ what, count }) => `${what} (${formatCount(count)})`).join(", "),
        ] as const,
      ]
      : []),
  ]);
}

/** The quantities that some token of the dump has. */
function quantitiesIn({ totals }: TokenDigest): Quantity[] {
  const { sides, trained, hasRoles, hasEntropy, hasAdvantages } = totals;
  const has = (side: typeof sides[number]) => sides.includes(side);
  const isThere: Readonly<Record<Quantity, boolean>> = {
    gap: gapSides(has) !== undefined,
    ratio: ratioSides(has) !== undefined,
    probability: sides.length > 0,
    entropy: hasEntropy,
    advantage: hasAdvantages,
    mask: trained !== undefined,
    role: hasRoles,
  };
  return QUANTITIES.filter((quantity) => isThere[quantity]);
}

function quantityName(quantity: Quantity, { totals: { sides } }: TokenDigest): string {
  const has = (side: typeof sides[number]) => sides.includes(side);
  const gap = gapSides(has)?.map(sideName) ?? [];
  const ratio = ratioSides(has)?.map(sideName) ?? [];
  const side = probabilitySide(has);
  const names: Readonly<Record<Quantity, string>> = {
    gap: `gap: log p, ${gap[1]} − ${gap[0]}`,
    ratio: `ratio: p, ${ratio[1]} / ${ratio[0]}`,
    probability: `probability: ${side === undefined ? "" : sideName(side)}`,
    entropy: "entropy",
    advantage: "advantage",
    mask: "loss mask",
    role: "role",
  };
  return names[quantity];
}

/** A choice among several, under a name. */
function choice(
  { id, name, label, options }: {
    readonly id: string;
    readonly name: string;
    readonly label: string;
    readonly options: readonly (readonly [value: string, text: string])[];
  },
): Html {
  if (options.length < 2) return NOTHING;
  const items: Content = options.map(([value, text]) =>
    html`<option value="${value}">${text}</option>`
  );
  return html`
    <div><label for="${id}-${name}">${label}</label>
    <select id="${id}-${name}" data-choice="${name}">${items}</select></div>
  `;
}

const ORDERS = [
  ["worst", "the worst first"],
  ["mean-gap", "mean gap, largest first"],
  ["reward-up", "reward, lowest first"],
  ["reward-down", "reward, highest first"],
  ["advantage-up", "advantage, lowest first"],
  ["advantage-down", "advantage, highest first"],
  ["length", "length, longest first"],
  ["dump", "as in the dump"],
] as const;

/** Values of kept sequences as options of a filter, behind one for all of them; none where there is nothing to choose. */
function filterOptions(values: readonly (string | undefined)[]): (readonly [string, string])[] {
  const known = new Set(values.filter((value) => value !== undefined));
  const sorted = [...known].sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
  return known.size < 2 ? [] : [["", "all"], ...sorted.map((value) => [value, value] as const)];
}

function groupOptions({ kept, groups }: TokenDigest): (readonly [string, string])[] {
  const shown = new Set(kept.map(({ summary }) => summary.groupKey));
  // Numbered as in the data of the page.
  const options = groups.filter(({ key }) => shown.has(key)).map(({ name, step }, i) =>
    [String(i), step === undefined ? name : `${name}, step ${step}`] as const
  );
  return options.length < 2 ? [] : [["", "all"], ...options];
}

function controls({ digest }: TokenData, id: string): Html {
  const summaries = digest.kept.map(({ summary }) => summary);
  const valuesOf = (pick: (summary: typeof summaries[number]) => string | number | undefined) =>
    summaries.map((summary) => pick(summary)?.toString());
  const orders = ORDERS.filter(([name]) =>
    name === "mean-gap"
      ? summaries.some(({ gap }) => gap)
      : name.startsWith("reward")
      ? summaries.some(({ reward }) => reward !== undefined)
      : name.startsWith("advantage")
      ? summaries.some(({ advantage }) => advantage)
      : true
  );
  const quantities = quantitiesIn(digest)
    .map((quantity) => [quantity, quantityName(quantity, digest)] as const);
  const one = (name: string, label: string, options: readonly (readonly [string, string])[]) =>
    choice({ id, name, label, options });
  return html`<div class="token-controls" role="group" aria-label="What is shown of the sequences">
    ${
    quantities.length === 1
      ? html`<input type="hidden" data-choice="colour" value="${quantities[0][0]}">`
      : one("colour", "Colour", quantities)
  }
    ${one("order", "Order", orders)}
    ${one("group", "Group", groupOptions(digest))}
    ${one("reward", "Reward", filterOptions(valuesOf(({ reward }) => reward)))}
    ${one("stop", "Ended by", filterOptions(valuesOf(({ stop }) => stop)))}
    ${one("step", "Step", filterOptions(valuesOf(({ step }) => step)))}
    ${one("environment", "Environment", filterOptions(valuesOf((one) => one.environment)))}
    </div>`;
}

/** The place where the page's script shows sequences. */
function viewer(data: TokenData, id: string): Html {
  const { digest, words } = data;
  if (digest.kept.length === 0) return NOTHING;
  const view = html`
    <div class="token-view" id="${id}-view">
      ${controls(data, id)}
      <ul class="token-legend" aria-label="Legend"></ul>
      <p class="note" role="status"></p>
      <p class="note">Arrow keys move within a sequence; the values of a token show on hover, focus and tap.</p>
      <div class="token-sequences"></div>
      <button type="button" class="token-more">Show more sequences</button>
      <div class="token-values" id="${id}-values" role="tooltip" hidden></div>
    </div>
  `;
  return withTokens(view, tokenPayload(digest, { id, words }));
}

/** A part of a page under a heading of its own. */
export interface TokenPart {
  readonly id: string;
  readonly title: string;
  readonly body: Html;
}

/**
 * The parts of a token page that have something to show.
 *
 * @param id Unique in the document; ids of what is in it begin so.
 */
export function tokenParts(data: TokenData, id: string): TokenPart[] {
  const { digest } = data;
  const kept = new Set(digest.kept.map(({ summary }) => summary.key));
  const count = digest.totals.groups;
  return [
    {
      id: idOf(id, "gaps"),
      title: "Two engines, the same tokens",
      body: gapChartsPart(digest, id),
    },
    {
      id: idOf(id, "groups"),
      title: "Groups: rewards and advantages",
      body: groupsPart(digest.groups, { id, kept }, { count }),
    },
    {
      id: idOf(id, "sequences"),
      title: "Sequences",
      body: html`${viewer(data, id)}${tokenTables(data, id)}`,
    },
  ].filter(({ body }) => body.markup !== "");
}

/** What is said about the tokens, linked to those that show it. */
export function tokenFindings(data: TokenData, id: string): Html {
  return findingGroups(data.findings, new Map(), placeTarget(data, id));
}

/** Where a finding's token shows: in the sequence of its row and sample, where that is kept. */
function placeTarget({ digest: { kept } }: TokenData, id: string): PlaceTarget {
  return (place) =>
    kept.filter(({ findings }) => findings.some(({ at }) => at === place))
      .map(({ summary }) => `${id}-sequence-${summary.key}`)[0];
}

/**
 * The page of a dump.
 *
 * @param data The dump, judged.
 * @param index Its number in the report, which keeps the ids of two dumps of one name apart.
 */
export function tokenPage(data: TokenData, index: number): Section {
  const id = idOf("tokens", index);
  const parts = tokenParts(data, id);
  const body = html`${firstPart(data.findings)}${tokenFindings(data, id)}
${sourceFacts(data)}
${parts.map((part) => html`${partHeading(part.id, part.title)}\n${part.body}`)}`;
  return {
    id,
    title: `Tokens of ${data.name}`,
    body,
    parts: parts.map(({ id, title }) => ({ id, title })),
  };
}
