/** Recognises what lies at each path of a report: runs of ours and of others, the catalogue, experiments, the matrix, timings. */
import { UserError } from "../../core/errors.ts";
import { requireSchema } from "../../core/schema.ts";
import { matrixSchema } from "../../diagnose/check_schema.ts";
import { inWords } from "../../core/mention.ts";
import { type FindingWords, PLAIN_WORDS, sayFinding } from "../../diagnose/finding.ts";
import { isRefereeDocument, REFEREE_DOCUMENT } from "../../diagnose/referee/report_schema.ts";
import { isOwnRun, MAX_JUDGED_BYTES } from "../../files/own_run.ts";
import { contentOf, type PathContent } from "../../files/token_source.ts";
import { exists, infoOf, isFolder, namesIn } from "../../files/paths.ts";
import { runPaths } from "../../run/run_directory.ts";
import { fillFrom, openRegularFile, readText } from "../../files/read_file.ts";
import { readLabRecord } from "../../lab/lab.ts";
import { readSettings } from "../../run/run_settings.ts";
import { triageRun } from "../../run/triage_run.ts";
import { faultsOfLab } from "../faults_data.ts";
import type { LogData } from "../log_data.ts";
import { matrixOfLab } from "../matrix_page.ts";
import type { RunData } from "../run_data.ts";
import type { TokenData } from "../token_data.ts";
import { EMPTY_CONTENT, type ReportContent } from "../report_content.ts";
import { benchSchema } from "../speed_page.ts";
import { isSweepFolder } from "../../sweep/sweep_paths.ts";
import { readComparison } from "./comparison.ts";
import { isFaultsFolder, readFaults } from "./faults.ts";
import { readRun } from "./run.ts";

/** How a report reads what is judged. */
export interface ContentReading {
  /** Reads and judges another trainer's log; left out: such a log is refused. */
  readonly readLog?: (path: string, options: Pick<PathContent, "opened">) => Promise<LogData>;
  /** Reads and judges a token dump; left out: such a dump is refused, and no tokens are shown of runs of ours. */
  readonly readDump?: (path: string, words?: readonly string[]) => Promise<TokenData>;
  /** How next steps and settings are said, for example as commands (default: plainly). */
  readonly words?: FindingWords;
}

/** Steps whose episodes a report shows, over all of its runs: about 40 KB each of the 2 MB that there are. */
const EPISODE_STEPS = 16;

/** The words of the environment of a run of ours; undefined in the gym that ships. */
function wordsOf(run: string): readonly string[] | undefined {
  const { config } = runPaths(run);
  return exists(config) ? readSettings(config).environment?.words : undefined;
}

/** A run of ours with what triage says of it. One that triage refuses is shown all the same. */
async function readJudgedRun(
  path: string,
  reading: ContentReading & { readonly episodeSteps: number },
): Promise<RunData> {
  const { words = PLAIN_WORDS, readDump, episodeSteps } = reading;
  const hasDump = readDump && isFolder(path) && (await contentOf(path)).dump;
  const episodesBytes = infoOf(runPaths(path).episodes)?.size ?? 0;
  const tokens = !hasDump
    ? undefined
    : episodesBytes > MAX_JUDGED_BYTES
    ? { leftOutBytes: episodesBytes }
    : await readDump(path, wordsOf(path));
  const run = { ...readRun(path, { episodeSteps }), ...(tokens && { tokens }) };
  try {
    const { report, findings } = triageRun(path);
    return {
      ...run,
      triage: { report, findings: findings.map((finding) => sayFinding(finding, words)) },
    };
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    return { ...run, triage: { problem: inWords(error.sentence, words.mention) } };
  }
}

/** JSON documents of ours are small; a larger file is somebody's log. */
const MAX_DOCUMENT_BYTES = 32 * 2 ** 20;

/** Bytes in which a document that names its format has done so. */
const FORMAT_BYTES = 256;

/** True of a file that begins as a document that names its format, whatever its own name is. */
function namesItsFormat(path: string): boolean {
  if (infoOf(path)?.isFile !== true) return false;
  const { file } = openRegularFile(path, { maxBytes: Infinity });
  try {
    const start = fillFrom(file, new Uint8Array(FORMAT_BYTES));
    return /^\s*\{\s*"format":\s*"agentrl_\w+"/.test(new TextDecoder().decode(start));
  } finally {
    file.close();
  }
}

/** The value in a file of one JSON document; undefined where it holds anything else. */
function documentIn(path: string): unknown {
  if (!path.endsWith(".json") && !namesItsFormat(path)) return undefined;
  if ((infoOf(path)?.size ?? Infinity) > MAX_DOCUMENT_BYTES) return undefined;
  try {
    return JSON.parse(readText(path, { maxBytes: MAX_DOCUMENT_BYTES }));
  } catch (error) {
    if (error instanceof SyntaxError) return undefined; // It may be a log all the same, with NaN in it.
    throw error;
  }
}

/** Adds a document of one of our commands; undefined where a file holds none. */
function addDocument(content: ReportContent, path: string): ReportContent | undefined {
  const value = documentIn(path);
  if (value === undefined) return undefined;
  const record = readLabRecord(path);
  if (record) {
    const matrix = record.experiment === "matrix" ? matrixOfLab(record.data) : undefined;
    const faults = record.experiment === "catalogue" ? faultsOfLab(record.data, path) : undefined;
    return {
      ...content,
      lab: [...content.lab, record],
      matrix: matrix ?? content.matrix,
      faults: content.faults ?? faults,
    };
  }
  if (isRefereeDocument(value)) {
    const document = requireSchema(value, REFEREE_DOCUMENT, { source: path });
    const name = path.split("/").at(-1) ?? path;
    return { ...content, referees: [...content.referees, { name, document }] };
  }
  const matrix = matrixSchema.safeParse(value);
  if (matrix.success) return { ...content, matrix: matrix.data };
  const bench = benchSchema.safeParse(value);
  if (bench.success) return { ...content, bench: [...content.bench, bench.data] };
  return undefined;
}

/** Adds a catalogue, or a folder with experiments and what else a lab leaves there, such as `faults` and a matrix. */
function addFolder(content: ReportContent, path: string): ReportContent | undefined {
  if (isFaultsFolder(path)) return { ...content, faults: readFaults(path) };
  const inside = namesIn(path).map((name) => `${path}/${name}`);
  // Other files and folders, such as an earlier report, are skipped.
  const filled = inside.reduce((sum, name) => {
    if (isFolder(name)) return isFaultsFolder(name) ? { ...sum, faults: readFaults(name) } : sum;
    return addDocument(sum, name) ?? sum;
  }, content);
  return filled === content ? undefined : filled;
}

async function add(
  content: ReportContent,
  path: string,
  reading: ContentReading & { readonly episodeSteps: number },
): Promise<ReportContent> {
  if (isSweepFolder(path)) {
    return { ...content, comparisons: [...content.comparisons, await readComparison([path])] };
  }
  if (isOwnRun(path)) {
    return { ...content, runs: [...content.runs, await readJudgedRun(path, reading)] };
  }
  const filled = isFolder(path) ? addFolder(content, path) : addDocument(content, path);
  if (filled) return filled;
  const { readLog, readDump } = reading;
  const found = await contentOf(path);
  const hasDump = readDump && found.dump;
  // Whoever reads a log says why there is none.
  const logs = readLog && (found.log || !hasDump) ? [await readLog(path, found)] : [];
  const tokens = hasDump ? [await readDump(path)] : [];
  if (logs.length + tokens.length > 0) {
    return {
      ...content,
      logs: [...content.logs, ...logs],
      tokens: [...content.tokens, ...tokens],
    };
  }
  throw new UserError(
    `Cannot report ${path}: it holds nothing that a report shows: folders of runs, of the ` +
      "catalogue or of experiments, or the JSON of the matrix of checks, of timings or of a referee",
  );
}

/**
 * Reads what a report is to show.
 *
 * @param paths Folders of runs, of `faults` and of `lab`; JSON of `check --matrix` and `bench`; logs of other trainers.
 * @param reading How other trainers' logs are read, and how next steps are said.
 * @returns All of it, in the order of the paths.
 * @throws {UserError} When a path cannot be read or is none of these.
 */
export async function readContent(
  paths: readonly string[],
  reading: ContentReading = {},
): Promise<ReportContent> {
  let content = EMPTY_CONTENT;
  const episodeSteps = Math.max(3, Math.floor(EPISODE_STEPS / paths.length));
  for (const path of paths) content = await add(content, path, { ...reading, episodeSteps });
  return content;
}
