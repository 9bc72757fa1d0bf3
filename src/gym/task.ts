/** What a task of BugFix is: a name, a family, a program with one bug, and its public and hidden tests. */
import type { RepairName } from "./calls.ts";
import type { Word } from "./vocabulary.ts";

/** What a test passes and expects: plain JSON, so that it can cross into an isolated program as text. */
export type Json =
  | number
  | string
  | boolean
  | null
  | readonly Json[]
  | { readonly [key: string]: Json };

/** One test: the function called with `args` must return a value whose JSON is that of `expected`. */
export interface TestCase {
  /** The arguments, in order. */
  readonly args: readonly Json[];
  /** The value to return. */
  readonly expected: Json;
}

/** Tasks to train on, or tasks whose names never occur in training. */
export type Split = "train" | "heldout";

/** One task. Its number in `makeTasks("all")` is what `Environment.reset` takes. */
export interface Task {
  /** The word of the prompt and the name of the function. */
  readonly name: Word;
  /** The operation that repairs it. */
  readonly family: RepairName;
  /** Whether it is trained on. */
  readonly split: Split;
  /** JavaScript text that declares a function `name` with one bug. */
  readonly source: string;
  /** At least one fails on `source`; `hardcode_tests` knows these. */
  readonly publicTests: readonly TestCase[];
  /** At least one fails on `source`; their arguments differ from those of the public tests. */
  readonly hiddenTests: readonly TestCase[];
}

/** A task as it is written down in the program files, without its split. */
export type Program = Omit<Task, "split">;
