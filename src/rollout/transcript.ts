/** Episodes as text for people: the prompt, every call and what the gym answered. */
import { at } from "../core/element.ts";
import type { EpisodeInfo } from "../gym/environment.ts";
import { OWNER } from "../core/owner.ts";
import { wrapText } from "../core/wrap_text.ts";
import { decode } from "../gym/vocabulary.ts";
import type { Trajectory } from "./trajectory.ts";

const LABELS = { [OWNER.prompt]: "prompt", [OWNER.policy]: "agent", [OWNER.tool]: "gym" } as const;

/** The text of token ids in an environment's own words; an id beyond them stands as a number. */
function textOf(ids: Uint32Array, words: readonly string[] | undefined): string {
  if (words === undefined) return decode(ids);
  return Array.from(ids, (id) => words[id] ?? `#${id}`).join(" ");
}

const LABEL_COLUMNS = 10;

/**
 * Writes an episode for people, one line per prompt, call or observation.
 *
 * @param episode The episode.
 * @param title What the episode is called on the first line.
 * @param options.columns Columns of a line (default 80).
 * @param options.words The text of each token id (default BugFix's vocabulary).
 */
export function formatTranscript(
  episode: Trajectory<EpisodeInfo>,
  title: string,
  { columns = 80, words }: {
    readonly columns?: number;
    readonly words?: readonly string[] | undefined;
  } = {},
): string[] {
  const { ids, owners, reward, info } = episode;
  const lines = wrapText(
    `${title}: reward ${reward}, stop ${info.stop}, turns ${info.turns}`,
    { columns, hanging: 2 },
  );
  for (let begin = 0; begin < ids.length;) {
    const owner = at(owners, begin);
    let end = begin + 1;
    while (end < ids.length && owners[end] === owner) end++;
    const label = Object.hasOwn(LABELS, owner) ? LABELS[owner as keyof typeof LABELS] : "pad";
    const text = textOf(ids.subarray(begin, end), words);
    const [first = "", ...rest] = wrapText(text, { columns, indent: LABEL_COLUMNS });
    lines.push(`  ${label}`.padEnd(LABEL_COLUMNS) + first.slice(LABEL_COLUMNS), ...rest);
    begin = end;
  }
  return lines;
}
