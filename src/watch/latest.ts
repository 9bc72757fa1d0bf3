/** The last episodes of a run: of ours from the end of its journal, of another trainer's from its token dump. */
import { UserError } from "../core/errors.ts";
import { findDumps } from "../files/token_folder.ts";
import { infoOf, isFolder } from "../files/paths.ts";
import { lastRows } from "../files/file_tail.ts";
import { readTokens } from "../files/token_source.ts";
import type { EpisodeData } from "../report/run_data.ts";
import type { TextOf } from "../report/files/token_texts.ts";
import type { Sample } from "../report/watch_data.ts";
import type { TokenSequence } from "../tokens/token_batch.ts";

/** The end of episodes.jsonl in which the episodes of a step are looked for: a step is some 40 KB. */
const EPISODE_BYTES = 2 * 2 ** 20;

/** The largest file of a dump that is read for its last samples. */
const DUMP_BYTES = 32 * 2 ** 20;

/** Samples that are shown, and characters of each of their texts. */
const SAMPLES_SHOWN = 4;
const TEXT_LENGTH = 2000;

const isNumbers = (value: unknown): value is number[] =>
  Array.isArray(value) && value.every((item) => typeof item === "number");

function episodeOf(row: Readonly<Record<string, unknown>>): EpisodeData[] {
  const { step, episode, group, tokens, owners, logps, reward, info } = row;
  if (typeof step !== "number" || typeof episode !== "number" || typeof group !== "number") {
    return [];
  }
  if (typeof reward !== "number" || !isNumbers(tokens) || !isNumbers(owners)) return [];
  if (!Array.isArray(logps) || logps.length !== tokens.length || owners.length !== tokens.length) {
    return [];
  }
  return [{
    step,
    episode,
    group,
    tokens,
    owners,
    logps: logps.map((logp) => typeof logp === "number" ? logp : NaN),
    reward,
    info: typeof info === "object" && info !== null ? { ...info } : {},
  }];
}

/** The episodes of the last step of a run of ours; none where the file is missing. @throws {UserError} When it cannot be read. */
export function latestEpisodes(path: string): EpisodeData[] {
  if (infoOf(path) === undefined) return [];
  const episodes = lastRows(path, { maxBytes: EPISODE_BYTES }).flatMap(episodeOf);
  const last = episodes.at(-1)?.step;
  return episodes.filter(({ step }) => step === last);
}

/** The newest file of a folder's dumps; undefined: there is none. */
export function newestDump(path: string): string | undefined {
  if (!isFolder(path)) return undefined;
  const dated = [...findDumps(path).values()].flat()
    .map((file) => ({ file, atMs: infoOf(file)?.mtime?.getTime() ?? 0 }));
  return dated.toSorted((a, b) => a.atMs - b.atMs).at(-1)?.file;
}

/** The tokens of a sequence as text, or as ids where nobody knows their texts. */
function textOfIds(ids: Uint32Array, textOf: TextOf): string {
  const shown = Array.from(ids.subarray(0, TEXT_LENGTH));
  const texts = shown.map(textOf);
  return texts.every((text) => text === undefined)
    ? shown.join(" ")
    : texts.map((text, i) => text ?? `#${shown[i]}`).join("");
}

const cut = (text: string) => text.length > TEXT_LENGTH ? `${text.slice(0, TEXT_LENGTH)} …` : text;

function sampleOf(sequence: TokenSequence, textOf: TextOf): Sample {
  const { file, row, step, reward, ids, prompt, answer } = sequence;
  return {
    place: `${file.split("/").at(-1)}:${row}`,
    ...(step !== undefined && { step }),
    ...(reward !== undefined && { reward }),
    tokenCount: ids.length,
    ...(prompt !== undefined && { prompt: cut(prompt) }),
    answer: cut(answer ?? textOfIds(ids, textOf)),
  };
}

/**
 * The last samples of a dump.
 *
 * @param file A file of it.
 * @returns None where it is larger than is read while a run is watched, is being written, or is no dump.
 */
export async function latestSamples(file: string, textOf: TextOf): Promise<Sample[]> {
  if ((infoOf(file)?.size ?? Infinity) > DUMP_BYTES) return [];
  const last: TokenSequence[] = [];
  try {
    for await (const sequence of (await readTokens(file)).sequences()) {
      last.push(sequence);
      if (last.length > SAMPLES_SHOWN) last.shift();
    }
  } catch (error) {
    // Its last row may be half-written; what stands before it is shown.
    if (!(error instanceof UserError)) throw error;
  }
  return last.map((sequence) => sampleOf(sequence, textOf)).reverse();
}
