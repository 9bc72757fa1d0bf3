/** Numbers by name, collected row by row into columns: a million rows cost eight bytes a number, and not an object each. */

import { at } from "./element.ts";
/** The values of one name, and the steps that have it. */
export interface Column {
  readonly steps: readonly number[];
  readonly values: readonly number[];
}

interface GrowingColumn {
  /** Undefined while every row has had the name: the steps are then those of the rows. */
  steps: number[] | undefined;
  readonly values: number[];
}

/** Collects rows; the columns share the steps of the rows where no row lacks their name. */
export class ColumnCollector {
  readonly #steps: number[] = [];
  readonly #columns = new Map<string, GrowingColumn>();

  /** Rows so far. */
  get rowCount(): number {
    return this.#steps.length;
  }

  /** The step of the last row; undefined before the first. */
  get lastStep(): number | undefined {
    return this.#steps.at(-1);
  }

  /** Begins a row. */
  beginRow(step: number): void {
    this.#steps.push(step);
  }

  /** Adds a value of the row that was begun last. */
  add(name: string, value: number): void {
    const row = this.#steps.length - 1;
    let column = this.#columns.get(name);
    if (!column) {
      column = { steps: row === 0 ? undefined : [], values: [] };
      this.#columns.set(name, column);
    }
    if (column.steps === undefined && column.values.length < row) {
      column.steps = this.#steps.slice(0, column.values.length);
    }
    column.steps?.push(at(this.#steps, row));
    column.values.push(value);
  }

  /** The columns by name, in the order in which the names came. */
  columns(): Map<string, Column> {
    const count = this.#steps.length;
    return new Map(Array.from(this.#columns, ([name, { steps, values }]) => {
      const shared = values.length === count ? this.#steps : this.#steps.slice(0, values.length);
      return [name, { steps: steps ?? shared, values }];
    }));
  }
}
