/** A recorded step as a run of tests/run/small_run.ts leaves it, made without a device. */
import { makeTasks } from "../../src/gym/tasks.ts";
import { EVERY_ROW, GYM_ROW } from "../../src/producers/agentrl.ts";
import { journalText } from "../../src/core/json_lines.ts";
import { openRunDirectory, runPaths } from "../../src/run/run_directory.ts";
import { writeSettings } from "../../src/run/run_settings.ts";
import { hashOfRecord, stepFiles } from "../../src/run/step_record.ts";
import { smallSettings } from "../run/small_run.ts";

/** The step that is recorded. */
export const STEP = 1;

/** The row of the record. */
export const ROW = {
  ...Object.fromEntries([...EVERY_ROW, ...GYM_ROW].map((name) => [name, 0.5])),
  step: STEP,
};

/** The settings of the run. */
export const SETTINGS = smallSettings(4, ["recordEvery=1", "episodesEvery=0"]);

/** The episodes of the step: two groups of four. */
export function smallEpisodes() {
  const [{ name: task }] = makeTasks("train");
  return Array.from({ length: 8 }, (_, episode) => ({
    step: STEP,
    episode,
    group: Math.floor(episode / 4),
    tokens: [1, 2, 3] as number[],
    owners: [1, 2, 3] as number[],
    logps: [0, -1, 0] as (number | null)[],
    reward: 0,
    info: {
      ...{ task: task as string, turns: 1, malformed: 0, ops: [] as string[], reads: 0, tests: 0 },
      ...{ submitted: true, hidden_pass: false, public_pass: false, stop: "submit" },
      calls: ["submit"] as string[] | undefined,
    },
  }));
}

/** Writes record and episodes; without `isSealed` as an older version did, without a SHA-256. */
export function writeSmallRecord(
  path: string,
  options: { readonly episodes: readonly object[]; readonly isSealed: boolean },
): void {
  const files = stepFiles(path, STEP);
  const episodes = journalText(options.episodes as Record<string, unknown>[]);
  const record = { reasons: ["every step"], row: ROW };
  Deno.mkdirSync(files.folder, { recursive: true });
  Deno.writeTextFileSync(files.episodes, episodes);
  const sha256 = options.isSealed ? { sha256: hashOfRecord(record, episodes) } : {};
  Deno.writeTextFileSync(files.record, JSON.stringify({ ...record, ...sha256 }));
}

/** A run's folder with its configuration and the record. */
export function makeSmallRun(path: string): void {
  openRunDirectory(path, { resume: false })[Symbol.dispose]();
  writeSettings(runPaths(path).config, SETTINGS);
  writeSmallRecord(path, { episodes: smallEpisodes(), isSealed: true });
}
