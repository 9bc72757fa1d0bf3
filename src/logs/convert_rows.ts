/** A log as JSONL: one object per row, its step first, then every key; the JSONL reader gives the same log back. */
import { UserError } from "../core/errors.ts";
import { sentence, setting } from "../core/mention.ts";
import type { RunLog } from "./run_log.ts";
import { STEP_KEYS, TWO_AXES } from "./step_key.ts";

/** The values of each row, without a table of rows × columns, which a log with many sparse keys would blow up. */
interface RowValues {
  /** Where the values of each row begin in the others. */
  readonly starts: Uint32Array;
  readonly columns: Uint32Array;
  readonly values: Uint32Array;
}

function valuesByRow({ rows, columns }: RunLog): RowValues {
  const starts = new Uint32Array(rows.count + 1);
  for (const column of columns.values()) {
    for (const row of column.rows) starts[row + 1]++;
  }
  for (let row = 0; row < rows.count; row++) starts[row + 1] += starts[row];
  const next = starts.slice();
  const total = starts[rows.count];
  const byRow = { starts, columns: new Uint32Array(total), values: new Uint32Array(total) };
  let index = 0;
  for (const column of columns.values()) {
    column.rows.forEach((row, value) => {
      byRow.columns[next[row]] = index;
      byRow.values[next[row]++] = value;
    });
    index++;
  }
  return byRow;
}

/** Rows in the order in which a reader must see them: file order of the stretches, by step within each. */
function orderOf({ rows: { count, steps, stretches, axes } }: RunLog): Uint32Array {
  // An axis takes up where the rows of the others end: only the order within an axis matters.
  return Uint32Array.from({ length: count }, (_, row) => row).sort((a, b) =>
    axes[a] - axes[b] || stretches[a] - stretches[b] || steps[a] - steps[b]
  );
}

/** A value as JSON that loses nothing: what JSON has no number for is a text, "not available" is null, −0 keeps its sign. */
function jsonOf(value: number, isNull: boolean): string {
  if (isNull) return "null";
  if (!Number.isFinite(value)) return `"${value}"`;
  return Object.is(value, -0) ? "-0" : String(value);
}

/** True where a column repeats the step of each of its rows. */
function repeatsStep({ rows, columns }: RunLog, key: string): boolean {
  const column = columns.get(key);
  return column !== undefined &&
    column.values.every((value, i) => value === rows.steps[column.rows[i]]);
}

/** The keys under which a log's steps are written, by axis; undefined where rows are only counted. */
interface StepKeys {
  readonly ofAxis: readonly (string | undefined)[];
  /** Columns that say the step once more; as a step key they would be taken for it. */
  readonly leftOut: ReadonlySet<string>;
}

/** @throws {UserError} When another column would be taken for the step. */
function stepKeysOf(log: RunLog): StepKeys {
  const { axes, columns, source } = log;
  if (axes.length > 1) {
    const ofAxis = axes.map((axis) =>
      axis === "rollout" || axis === "step" ? TWO_AXES[axis].stepKeys[0] : undefined
    );
    if (ofAxis.includes(undefined)) {
      throw new UserError(
        `Cannot convert ${source.path}: its steps are counted in ${
          axes.join(" and ")
        }, which no form of JSONL has`,
      );
    }
    return { ofAxis, leftOut: new Set() };
  }
  if (axes[0] === "row") return { ofAxis: [undefined], leftOut: new Set() };
  const named = STEP_KEYS.filter((key) => columns.has(key));
  const leftOut = new Set(named.filter((key) => repeatsStep(log, key)));
  const rivals = named.filter((key) => !leftOut.has(key));
  // The first of two step keys is taken, so the key must stand before every rival.
  const firstRival = Math.min(...rivals.map((key) => STEP_KEYS.indexOf(key)), STEP_KEYS.length);
  const key = firstRival > STEP_KEYS.indexOf("step") ? "step" : STEP_KEYS[firstRival - 1];
  if (key === undefined) {
    throw new UserError(
      sentence`Cannot convert ${source.path}: its key ${
        rivals[0]
      } is not its step but would be taken for it; rename it with ${
        setting("map", `${rivals[0]}=NAME`)
      }`,
    );
  }
  return { ofAxis: [key], leftOut };
}

/** Characters after which a piece of text is handed on. */
const PIECE_LENGTH = 2 ** 16;

/**
 * Writes a log as JSONL.
 *
 * @param log The log.
 * @returns Pieces of text. Rows of a restart follow those that they overrule, as in the file.
 * @throws {UserError} When the log has columns or axes that JSONL would mix up.
 */
export function* jsonlOf(log: RunLog): Generator<string> {
  const { ofAxis, leftOut } = stepKeysOf(log);
  const columns = [...log.columns.values()];
  const names = columns.map(({ key }) => `${JSON.stringify(key)}:`);
  const { starts, columns: columnOf, values: valueOf } = valuesByRow(log);
  let piece = "";
  for (const row of orderOf(log)) {
    const stepKey = ofAxis[log.rows.axes[row]];
    const cells = stepKey === undefined
      ? []
      : [`${JSON.stringify(stepKey)}:${log.rows.steps[row]}`];
    for (let i = starts[row]; i < starts[row + 1]; i++) {
      const { key, values, nulls } = columns[columnOf[i]];
      // Of a key that a row has twice the later value stands.
      const isRepeated = i + 1 < starts[row + 1] && columnOf[i + 1] === columnOf[i];
      if (isRepeated || leftOut.has(key)) continue;
      cells.push(names[columnOf[i]] + jsonOf(values[valueOf[i]], nulls.has(valueOf[i])));
    }
    piece += `{${cells.join()}}\n`;
    if (piece.length >= PIECE_LENGTH) {
      yield piece;
      piece = "";
    }
  }
  yield piece;
}
