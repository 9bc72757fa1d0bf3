/** Recognises what lies at each path of a report: runs, the catalogue, experiments, the matrix, timings. */
import { UserError } from "../../core/errors.ts";
import { readJson } from "../../files/json.ts";
import { exists, isFolder, namesIn } from "../../files/paths.ts";
import { readLabRecord } from "../../lab/lab.ts";
import { runPaths } from "../../run/run_directory.ts";
import { faultsOfLab } from "../faults_data.ts";
import { matrixOfLab, matrixSchema } from "../matrix_page.ts";
import { EMPTY_CONTENT, type ReportContent } from "../report_content.ts";
import { benchSchema } from "../speed_page.ts";
import { isFaultsFolder, readFaults } from "./faults.ts";
import { readRun } from "./run.ts";

/** Adds a file; undefined where it is none of what a report shows. */
function addFile(content: ReportContent, path: string): ReportContent | undefined {
  if (path.endsWith(".jsonl")) return { ...content, runs: [...content.runs, readRun(path)] };
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
  const value = readJson(path);
  const matrix = matrixSchema.safeParse(value);
  if (matrix.success) return { ...content, matrix: matrix.data };
  const bench = benchSchema.safeParse(value);
  if (bench.success) return { ...content, bench: [...content.bench, bench.data] };
  return undefined;
}

/** Adds a run, a catalogue, or a folder with experiments and what else a lab leaves there, such as `faults` and a matrix. */
function addFolder(content: ReportContent, path: string): ReportContent | undefined {
  if (exists(runPaths(path).metrics)) return { ...content, runs: [...content.runs, readRun(path)] };
  if (isFaultsFolder(path)) return { ...content, faults: readFaults(path) };
  const inside = namesIn(path).map((name) => `${path}/${name}`);
  // Other files and folders, such as an earlier report, are passed over.
  const known = inside.filter((name) =>
    name.endsWith(".json") || (isFolder(name) && isFaultsFolder(name))
  );
  const filled = known.reduce((sum, name) => add(sum, name) ?? sum, content);
  return filled === content ? undefined : filled;
}

function add(content: ReportContent, path: string): ReportContent | undefined {
  return isFolder(path) ? addFolder(content, path) : addFile(content, path);
}

/**
 * Reads what a report is to show.
 *
 * @param paths Folders of runs, of `faults` and of `lab`; JSONL files of metrics; JSON of `check --matrix` and `bench`.
 * @returns All of it, in the order of the paths.
 * @throws {UserError} When a path cannot be read or is none of these.
 */
export function readContent(paths: readonly string[]): ReportContent {
  return paths.reduce((content, path) => {
    const filled = add(content, path);
    if (filled) return filled;
    throw new UserError(
      `Cannot report ${path}: it holds none of what this reads, which are folders of runs, of \`faults\` and of \`lab\`, ` +
        "JSONL of metrics, and what `check --matrix --json` and `bench NAME --json` print",
    );
  }, EMPTY_CONTENT);
}
