/** Episodes as text for people: the prompt, every call and what the gym answered. */
import { at } from "../core/element.ts";
import type { EpisodeInfo } from "../gym/environment.ts";
import { OWNER } from "../core/owner.ts";
import { wrapText } from "../core/wrap_text.ts";
import { decode } from "../gym/vocabulary.ts";
import type { Trajectory } from "./trajectory.ts";

const LABELS = { [OWNER.prompt]: "prompt", [OWNER.policy]: "agent", [OWNER.tool]: "gym" } as const;

const LABEL_COLUMNS = 10;

/**
 * Writes an episode for people, one line a prompt, call or observation.
 *
 * @param episode Tokens of BugFix's vocabulary.
 * @param title What the episode is called on the first line.
 * @param options.columns Columns of a line (default 80).
 */
export function formatTranscript(
  episode: Trajectory<EpisodeInfo>,
  title: string,
  { columns = 80 }: { readonly columns?: number } = {},
): string[] {
  const { ids, owners, reward, info } = episode;
  const lines = [`${title}: reward ${reward}, stop ${info.stop}, turns ${info.turns}`];
  for (let begin = 0; begin < ids.length;) {
    const owner = at(owners, begin);
    let end = begin + 1;
    while (end < ids.length && owners[end] === owner) end++;
    const label = Object.hasOwn(LABELS, owner) ? LABELS[owner as keyof typeof LABELS] : "pad";
    const text = decode(ids.subarray(begin, end));
    const [first = "", ...rest] = wrapText(text, { columns, indent: LABEL_COLUMNS });
    lines.push(`  ${label}`.padEnd(LABEL_COLUMNS) + first.slice(LABEL_COLUMNS), ...rest);
    begin = end;
  }
  return lines;
}
