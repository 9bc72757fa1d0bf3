/** The groups of a dump side by side: what each sample earned, and the advantage that it was given for it. */
import { formatNumber } from "./format.ts";
import { type Html, html, NOTHING } from "./html.ts";
import type { SequenceSummary } from "./token_summary.ts";
import { columnsOf, dataTable } from "./tables.ts";

/** A group. */
export interface GroupDigest {
  /** Unique in the dump. */
  readonly key: string;
  readonly name: string;
  readonly step: number | undefined;
  /** How many sequences it has in the dump. */
  readonly size: number;
  /** The first of them. */
  readonly members: readonly SequenceSummary[];
}

/** Members of a group that are remembered, and of all groups together: a dump may have millions. */
const MAX_MEMBERS = 64;
const MAX_ALL_MEMBERS = 20_000;

/** Groups on a page, and those that are open from the beginning. */
const GROUPS_SHOWN = 48;
const GROUPS_OPEN = 6;

/** Members of a group on a page. */
const MEMBERS_SHOWN = 16;

interface GrowingGroup {
  readonly name: string;
  readonly step: number | undefined;
  readonly members: SequenceSummary[];
  size: number;
}

/** Collects the groups of a dump. */
export class GroupCollector {
  readonly #groups = new Map<string, GrowingGroup>();
  #members = 0;
  #left = new Set<string>();

  /** How many groups there are, also those that are not remembered. */
  get count(): number {
    return this.#groups.size + this.#left.size;
  }

  /** Takes the next sequence. */
  add(summary: SequenceSummary): void {
    const { groupKey, group: name = "", step } = summary;
    if (groupKey === undefined) return;
    let group = this.#groups.get(groupKey);
    if (!group) {
      if (this.#members >= MAX_ALL_MEMBERS) {
        this.#left.add(groupKey);
        return;
      }
      group = { name, step, members: [], size: 0 };
      this.#groups.set(groupKey, group);
    }
    group.size++;
    if (group.members.length >= MAX_MEMBERS || this.#members >= MAX_ALL_MEMBERS) return;
    group.members.push(summary);
    this.#members++;
  }

  /** The groups: those that something points to first, then those whose rewards differ, in the order of the dump. */
  finish(): GroupDigest[] {
    const all = Array.from(this.#groups, ([key, group]): GroupDigest => ({ key, ...group }));
    const severity = ({ members }: GroupDigest) =>
      members.reduce((most, member) => Math.max(most, member.severity), 0);
    const differs = ({ members }: GroupDigest) =>
      Number(new Set(members.map(({ reward }) => reward)).size > 1);
    return all.toSorted((a, b) => severity(b) - severity(a) || differs(b) - differs(a));
  }
}

/** Mean of what is a number; undefined of nothing. */
function meanOf(values: readonly (number | undefined)[]): number | undefined {
  const finite = values.filter((value) => value !== undefined && Number.isFinite(value));
  if (finite.length === 0) return undefined;
  return finite.reduce((sum: number, value = 0) => sum + value, 0) / finite.length;
}

/** A mean of values that cancel is rounding noise beside them. */
function cancelled(mean: number | undefined, values: readonly (number | undefined)[]) {
  const largest = values.reduce((most: number, value = 0) => Math.max(most, Math.abs(value)), 0);
  return mean !== undefined && Math.abs(mean) < 1e-6 * largest ? 0 : mean;
}

function sampleName({ sample, key }: SequenceSummary): string {
  return sample ?? `sequence ${key}`;
}

function advantageText({ advantage }: SequenceSummary): string {
  if (advantage === undefined) return "–";
  const { mean, low, high } = advantage;
  return low === high
    ? formatNumber(mean)
    : `${formatNumber(low)} to ${formatNumber(high)} (mean ${formatNumber(mean)})`;
}

/** Whether sequences of the group can be shown. */
export interface GroupLinks {
  /** The page's id. */
  readonly id: string;
  /** Keys of sequences that are kept. */
  readonly kept: ReadonlySet<string>;
}

function memberName(member: SequenceSummary, { id, kept }: GroupLinks): Html | string {
  const name = sampleName(member);
  return kept.has(member.key) ? html`<a href="#${id}-sequence-${member.key}">${name}</a>` : name;
}

function groupCard({ name, step, size, members }: GroupDigest, links: GroupLinks): Html {
  const rewards = members.map(({ reward }) => reward);
  const advantages = members.map(({ advantage }) => advantage?.mean);
  const shown = members.slice(0, MEMBERS_SHOWN);
  const rest = size - shown.length;
  const title = `Group ${name}${step === undefined ? "" : `, step ${step}`}`;
  const known = [
    `${formatNumber(size)} ${size === 1 ? "sequence" : "sequences"}`,
    `mean reward ${formatNumber(meanOf(rewards))}`,
    `mean advantage ${formatNumber(cancelled(meanOf(advantages), advantages))}`,
  ];
  return html`
    <section class="token-group" aria-label="${title}">
      <h4>${title}</h4>
      <p class="note">${known.join(" · ")}</p>
      ${dataTable({
        title: `${title}: its sequences`,
        hasCaption: false,
        columns: [
          ...columnsOf("text", "sample"),
          ...columnsOf("number", "reward", "advantage", "tokens"),
          ...columnsOf("text", "ended by"),
        ],
        rows: shown.map((member) => [
          memberName(member, links),
          formatNumber(member.reward),
          advantageText(member),
          formatNumber(member.tokenCount),
          member.stop ?? "–",
        ]),
      })}${rest > 0 ? html`<p class="note">and ${formatNumber(rest)} more</p>` : NOTHING}
    </section>
  `;
}

/**
 * Groups side by side.
 *
 * @param groups In the order in which they are shown.
 * @param links Which sequences can be linked to.
 * @param options.count How many groups the dump has.
 * @returns Nothing where it has none.
 */
export function groupsPart(
  groups: readonly GroupDigest[],
  links: GroupLinks,
  { count }: { readonly count: number },
): Html {
  if (groups.length === 0) return NOTHING;
  const cards = groups.slice(0, GROUPS_SHOWN).map((group) => groupCard(group, links));
  const [open, folded] = [cards.slice(0, GROUPS_OPEN), cards.slice(GROUPS_OPEN)];
  const left = count - cards.length;
  return html`
    <p
      class="note">Groups that a finding points to come first, then those whose rewards differ.${left >
          0
        ? ` ${formatNumber(left)} of ${formatNumber(count)} are left out.`
        : ""}</p>
    <div class="token-groups">${open}</div>
    ${folded.length === 0 ? NOTHING : html`
      <details>
        <summary>${folded.length} further groups</summary>
        <div class="token-groups">${folded}</div>
      </details>
    `}
  `;
}
