/** Episodes as text for people: the prompt, every call and what the gym answered. */
import { at } from "../core/element.ts";
import type { EpisodeInfo } from "../gym/environment.ts";
import { OWNER } from "../core/owner.ts";
import { decode } from "../gym/vocabulary.ts";
import type { Trajectory } from "./trajectory.ts";

/** Columns of a line: the width that every terminal has. */
const COLUMNS = 80;

const LABELS = { [OWNER.prompt]: "prompt", [OWNER.policy]: "agent", [OWNER.tool]: "gym" } as const;

const LABEL_COLUMNS = 10;

/** `text` behind a label, wrapped at words. */
function wrapped(label: string, text: string): string[] {
  const lines: string[] = [];
  let line = `  ${label}`.padEnd(LABEL_COLUMNS);
  for (const word of text.split(" ")) {
    if (line.length + word.length > COLUMNS) {
      lines.push(line.trimEnd());
      line = " ".repeat(LABEL_COLUMNS);
    }
    line += `${word} `;
  }
  return [...lines, line.trimEnd()];
}

/**
 * Writes an episode for people, one line a prompt, call or observation.
 *
 * @param episode Tokens of BugFix's vocabulary.
 * @param title What the episode is called on the first line.
 * @returns Lines of at most 80 columns.
 */
export function formatTranscript(episode: Trajectory<EpisodeInfo>, title: string): string[] {
  const { ids, owners, reward, info } = episode;
  const lines = [`${title}: reward ${reward}, stop ${info.stop}, turns ${info.turns}`];
  for (let begin = 0; begin < ids.length;) {
    const owner = at(owners, begin);
    let end = begin + 1;
    while (end < ids.length && owners[end] === owner) end++;
    const label = Object.hasOwn(LABELS, owner) ? LABELS[owner as keyof typeof LABELS] : "pad";
    lines.push(...wrapped(label, decode(ids.subarray(begin, end))));
    begin = end;
  }
  return lines;
}
