/** Run folders and sweeps that are made up: a config.json and a few rows of metrics, with the result that a test asks for. */
import { randomSequence } from "../../src/core/rng.ts";
import { resolveConfig } from "../../src/rl/config.ts";
import { writeSettings } from "../../src/run/run_settings.ts";
import { type CellSettings, type PlannedCell, writeSweep } from "../../src/sweep/sweep_folder.ts";
import { sweepPaths } from "../../src/sweep/sweep_paths.ts";
import { metricsRow } from "../report/fixture.ts";

/** What a run is to be. */
export interface SyntheticRun {
  readonly flags: Record<string, unknown>;
  /** The last held-out pass rate. */
  readonly score: number;
  /** Rows that are written (default: as many as the configuration has steps). */
  readonly rows?: number;
  readonly adapter?: string;
}

/** Steps of a synthetic run unless its flags say otherwise; it is evaluated every fourth step and in the last one. */
const STEPS = 13;

/** Writes a run whose pass rate rises to its score. */
export function writeSyntheticRun(
  path: string,
  { flags, score, rows, adapter = "synthetic" }: SyntheticRun,
): void {
  Deno.mkdirSync(path, { recursive: true });
  const config = resolveConfig({ flags: { steps: STEPS, ...flags } });
  writeSettings(`${path}/config.json`, {
    config,
    base: { kind: "rl", seed: 0 },
    bug: null,
    baseHash: "0".repeat(64),
    starts: [],
    adapter,
  });
  const draws = randomSequence({ seed: config.seed, stream: 9 });
  const lines = Array.from({ length: rows ?? config.steps }, (_, step) => {
    const share = (step + 1) / config.steps;
    const evaluation = step % 4 === 0 ? { eval_pass: score * share } : {};
    const noise = 0.02 * draws.normal();
    return metricsRow(step, {
      eval_pass: undefined,
      eval_pass_low: undefined,
      eval_pass_high: undefined,
      reward: score * share + noise,
      pass_rate: score * share + noise,
      entropy: 1 - share / 2 + noise,
      ...evaluation,
    });
  });
  Deno.writeTextFileSync(
    `${path}/metrics.jsonl`,
    lines.map((row) => `${JSON.stringify(row)}\n`).join(""),
  );
}

/** A sweep that is made up. */
export interface SyntheticSweep {
  readonly axes: Readonly<Record<string, readonly (string | number)[]>>;
  readonly seeds: number;
  /** Settings that all cells share. */
  readonly settings?: CellSettings;
  readonly scoreOf: (values: CellSettings, seed: number) => number;
  /** Rows of a cell's run; 0: it has not begun. */
  readonly rowsOf?: (values: CellSettings, seed: number) => number | undefined;
}

/** Every combination of the axes' values. */
function combinations(axes: SyntheticSweep["axes"]): CellSettings[] {
  return Object.entries(axes).reduce<CellSettings[]>(
    (all, [name, values]) =>
      all.flatMap((one) => values.map((value) => ({ ...one, [name]: value }))),
    [{}],
  );
}

/** Writes a sweep's folder. */
export function writeSyntheticSweep(
  path: string,
  { axes, seeds, settings = {}, scoreOf, rowsOf = () => undefined }: SyntheticSweep,
): void {
  Deno.mkdirSync(path, { recursive: true });
  const cells = combinations(axes).flatMap((values) =>
    Array.from({ length: seeds }, (_, seed) => ({ values, seed }))
  ).map(({ values, seed }, i): PlannedCell => ({
    id: i.toString(16).padStart(16, "0"),
    seed,
    condition: null,
    values,
  }));
  writeSweep(path, {
    name: "synthetic",
    command: "train",
    file: "synthetic.yaml",
    settings,
    axes: Object.keys(axes),
    conditions: {},
    cells,
  });
  for (const { id, seed, values } of cells) {
    const rows = rowsOf(values, seed);
    if (rows === 0) continue;
    writeSyntheticRun(`${sweepPaths(path).runs}/${id}`, {
      flags: { ...settings, ...values, seed },
      score: scoreOf(values, seed),
      ...(rows !== undefined && { rows }),
    });
  }
}
