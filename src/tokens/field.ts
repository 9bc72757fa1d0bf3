/** A value of a row of a dump with its name and place, so that whatever is wrong with it is said in one sentence. */
import { isRecord } from "../core/record.ts";
import { UserError } from "../core/errors.ts";
import { describeValue } from "../core/schema.ts";
import type { TokenValues } from "./token_batch.ts";

/** Where a row stands. */
export interface RowPlace {
  readonly file: string;
  /** From 1. */
  readonly row: number;
}

/** Bounds of integers, both included. */
export interface IntegerRange {
  readonly min: number;
  readonly max: number;
}

/** Token ids, and positions. */
export const IDS: IntegerRange = { min: 0, max: 2 ** 32 - 1 };

/** How rows write numbers that JSON has no literal for. */
const NON_FINITE: ReadonlyMap<unknown, number> = new Map([
  ["NaN", NaN],
  ["Infinity", Infinity],
  ["-Infinity", -Infinity],
]);

const isInteger = (value: unknown, { min, max }: IntegerRange): value is number =>
  typeof value === "number" && Number.isInteger(value) && value >= min && value <= max;

/** A value in a row. What is null counts as left out. */
export class Field {
  readonly #value: unknown;
  /** The row that it stands in. */
  readonly place: RowPlace;
  /** How sentences call it, for example `traces[2].nodes[0].mask`; empty of the row itself. */
  readonly name: string;

  /** Takes what was parsed, where it stands, and its name. */
  constructor(value: unknown, place: RowPlace, name = "") {
    this.#value = value;
    this.place = place;
    this.name = name;
  }

  /** What was parsed. */
  get value(): unknown {
    return this.#value;
  }

  /** True where the row does not have it. */
  get isAbsent(): boolean {
    return this.#value === undefined || this.#value === null;
  }

  /** The error that says what is wrong with it. */
  refuse(reason: string): UserError {
    const { file, row } = this.place;
    return new UserError(`Cannot read ${file}, row ${row}: ${this.name || "it"} ${reason}`);
  }

  #refuseValue(needed: string): UserError {
    return this.refuse(`${describeValue(this.#value)}, but must be ${needed}`);
  }

  /** The value under a key. @throws {UserError} When this is not an object. */
  get(key: string): Field {
    if (!isRecord(this.#value)) throw this.#refuseValue("an object");
    const value = Object.hasOwn(this.#value, key) ? this.#value[key] : undefined;
    return new Field(value, this.place, this.name === "" ? key : `${this.name}.${key}`);
  }

  /** The fields of an object, in its order. @throws {UserError} When this is not an object. */
  entries(): readonly (readonly [string, Field])[] {
    if (!isRecord(this.#value)) throw this.#refuseValue("an object");
    return Object.keys(this.#value).map((key) => [key, this.get(key)]);
  }

  /** @throws {UserError} When this is not a list. */
  #list(): readonly unknown[] {
    if (!Array.isArray(this.#value)) throw this.#refuseValue("a list");
    return this.#value;
  }

  #item(index: number): Field {
    return new Field(this.#list()[index], this.place, `${this.name}[${index}]`);
  }

  /** The items of a list. @throws {UserError} When this is not a list. */
  items(): readonly Field[] {
    return this.#list().map((_, index) => this.#item(index));
  }

  /** The only item of a list of one, and what is not a list itself. @throws {UserError} When it is a longer or an empty list. */
  only(): Field {
    if (!Array.isArray(this.#value)) return this;
    if (this.#value.length !== 1) {
      throw this.refuse(`has ${this.#value.length} items, but must be a list of one`);
    }
    return this.#item(0);
  }

  #listOf(length: number | undefined): readonly unknown[] {
    const list = this.#list();
    if (length !== undefined && list.length !== length) {
      throw this.refuse(`has ${list.length} values, but must have ${length}, one for each token`);
    }
    return list;
  }

  /** Token ids. @throws {UserError} When it is not a list of integers from 0 to 2³² − 1. */
  ids(): Uint32Array {
    const list = this.#list();
    const ids = new Uint32Array(list.length);
    for (let i = 0; i < ids.length; i++) {
      const id = list[i];
      if (!isInteger(id, IDS)) throw this.#item(i).#refuseInteger(IDS);
      ids[i] = id;
    }
    return ids;
  }

  /**
   * Integers such as positions, a token each.
   *
   * @throws {UserError} When it is not a list of so many, or one is outside of its range.
   */
  integers<T extends Uint32Array | Int32Array>(array: T, range: IntegerRange): T {
    const list = this.#listOf(array.length);
    for (let i = 0; i < array.length; i++) {
      const value = list[i];
      if (!isInteger(value, range)) throw this.#item(i).#refuseInteger(range);
      array[i] = value;
    }
    return array;
  }

  /** An integer. @throws {UserError} When it is something else or outside of its range. */
  integer(range: IntegerRange): number {
    if (!isInteger(this.#value, range)) throw this.#refuseInteger(range);
    return this.#value;
  }

  #refuseInteger({ min, max }: IntegerRange): UserError {
    return this.#refuseValue(`an integer from ${min} to ${max}`);
  }

  /** Flags, a token each: false and true, or 0 and 1. @throws {UserError} When it is not a list of so many. */
  flags(length?: number): Uint8Array {
    const list = this.#listOf(length);
    const flags = new Uint8Array(list.length);
    for (let i = 0; i < flags.length; i++) {
      const flag = list[i];
      if (flag === true || flag === 1) flags[i] = 1;
      else if (flag !== false && flag !== 0) throw this.#item(i).#refuseValue("0 or 1");
    }
    return flags;
  }

  /** Indices of words in a list, a token each. @throws {UserError} When it is not a list of so many of these words. */
  words(length: number, indices: ReadonlyMap<unknown, number>): Uint8Array {
    const list = this.#listOf(length);
    const found = new Uint8Array(length);
    for (let i = 0; i < length; i++) {
      const index = indices.get(list[i]);
      if (index === undefined) {
        throw this.#item(i).#refuseValue(`one of ${[...indices.keys()].join(", ")}`);
      }
      found[i] = index;
    }
    return found;
  }

  /** Numbers, a token each; null where there is none. @throws {UserError} When it is not a list of so many. */
  values(length?: number): TokenValues {
    const list = this.#listOf(length);
    const values = new Float64Array(list.length);
    const nonFinite: number[] = [];
    for (let i = 0; i < values.length; i++) {
      const value = list[i];
      const number = typeof value === "number" ? value : NON_FINITE.get(value);
      if (number === undefined && value !== null) {
        throw this.#item(i).#refuseValue("a number or null");
      }
      values[i] = number ?? NaN;
      if (number !== undefined && !Number.isFinite(number)) nonFinite.push(i);
    }
    return { values, nonFinite };
  }

  /** A number; undefined where there is none. @throws {UserError} When it is something else. */
  number(): number | undefined {
    if (this.isAbsent) return undefined;
    const value = this.#value;
    const number = typeof value === "number" ? value : NON_FINITE.get(value);
    if (number === undefined) throw this.#refuseValue("a number");
    return number;
  }

  /** A count from 0; undefined where there is none. @throws {UserError} When it is something else. */
  count(): number | undefined {
    if (this.isAbsent) return undefined;
    const value = this.#value;
    if (!(Number.isSafeInteger(value) && Number(value) >= 0)) {
      throw this.#refuseValue("an integer from 0");
    }
    return Number(value);
  }

  /** A text, or a number as a text: a name. Undefined where there is none. @throws {UserError} When it is something else. */
  label(): string | undefined {
    if (this.isAbsent) return undefined;
    const value = this.#value;
    if (typeof value === "string") return value;
    if (typeof value === "number") return String(value);
    throw this.#refuseValue("text or a number");
  }
}
