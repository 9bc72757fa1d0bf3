/** Flags as data: a command declares them once, and the parser, the help text and the types of the values follow. */
import { parseArgs } from "@std/cli";
import { UserError } from "../src/core/errors.ts";
import { suggestName } from "../src/core/nearest.ts";
import { escapeControls } from "../src/core/sentence.ts";
import { wrapText } from "../src/core/wrap_text.ts";
import { terminalColumns } from "../src/files/terminal.ts";

interface FlagBase {
  /** One sentence for `--help`. */
  readonly help: string;
}

/** Free text, or one of `choices`. */
export interface StringFlag extends FlagBase {
  readonly kind: "string";
  readonly default?: string;
  readonly choices?: readonly string[];
  readonly required?: true;
}

/** A number, or an integer, from `min` to `max` (both allowed). */
export interface NumberFlag extends FlagBase {
  readonly kind: "integer" | "number";
  readonly default?: number;
  readonly min?: number;
  readonly max?: number;
  readonly required?: true;
}

/** True where it is given; with a default of true it is written `--no-NAME`, which makes it false. */
export interface BooleanFlag extends FlagBase {
  readonly kind: "boolean";
  readonly default?: true;
}

/** A text that may be given many times; values come in the order of the command line. */
export interface ListFlag extends FlagBase {
  readonly kind: "list";
  /** Names whose values it sets, where a value is written `NAME=VALUE`. */
  readonly keys?: readonly string[];
}

/** One flag; its name is the key in {@linkcode Flags}. */
export type Flag = StringFlag | NumberFlag | BooleanFlag | ListFlag;

/** Flags by name. `maxGradNorm` is written `--max-grad-norm` on the command line. */
export type Flags = Readonly<Record<string, Flag>>;

type Given<F, T> = F extends { required: true } | { default: string | number } ? T : T | undefined;

type ValueOf<F extends Flag> = F extends BooleanFlag ? boolean
  : F extends ListFlag ? readonly string[]
  : F extends NumberFlag ? Given<F, number>
  : F extends { choices: readonly (infer Choice)[] } ? Given<F, Choice>
  : Given<F, string>;

/** The type of the parsed values: undefined only where a flag has no default and is not required. */
export type FlagValues<F extends Flags> = { readonly [Name in keyof F]: ValueOf<F[Name]> };

/** The flags that every command takes. */
export const COMMON_FLAGS = {
  json: { kind: "boolean", help: "print one JSON document on stdout, and nothing else" },
  seed: {
    kind: "integer",
    default: 0,
    min: 0,
    max: 2 ** 32 - 1,
    help: "seed of every random stream",
  },
  help: { kind: "boolean", help: "print this text" },
} as const satisfies Flags;

/** `maxGradNorm` as it is written on the command line: `--max-grad-norm`. */
export function flagOnCommandLine(name: string): string {
  return `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

/** How a flag is written in help texts: `--out`, and `--no-gate` where it is there to be switched off. */
function helpSpelling(name: string, flag: Flag): string {
  const isNegated = flag.kind === "boolean" && flag.default === true;
  return isNegated ? `--no-${flagOnCommandLine(name).slice(2)}` : flagOnCommandLine(name);
}

/** Every way to write the flags, with their names: a flag that is on by default also has its affirmative form. */
export function spellingsOf(declared: Flags): Map<string, string> {
  return new Map(
    Object.entries(declared).flatMap(([name, flag]) =>
      [helpSpelling(name, flag), flagOnCommandLine(name)].map((written) => [written, name] as const)
    ),
  );
}

function describeRange({ kind, min, max }: NumberFlag): string {
  const noun = kind === "integer" ? "an integer" : "a number";
  if (min !== undefined && max !== undefined) return `${noun} from ${min} to ${max}`;
  if (min !== undefined) return `${noun} of at least ${min}`;
  if (max !== undefined) return `${noun} of at most ${max}`;
  return noun;
}

function parseNumber(written: string, text: string, flag: NumberFlag): number {
  const pattern = flag.kind === "integer"
    ? /^[-+]?\d+$/
    : /^[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[-+]?\d+)?$/i;
  const value = pattern.test(text) ? Number(text) : NaN;
  const exact = flag.kind === "integer" ? Number.isSafeInteger(value) : Number.isFinite(value);
  const { min = -Infinity, max = Infinity } = flag;
  if (!exact || value < min || value > max) {
    throw new UserError(`${written} must be ${describeRange(flag)}, found "${text}"`);
  }
  return value;
}

function parseValue(name: string, given: unknown, flag: Flag): unknown {
  if (flag.kind === "boolean") return given === true;
  if (flag.kind === "list") return given;
  const written = flagOnCommandLine(name);
  if (given === undefined) {
    if (flag.required) throw new UserError(`${written} is required: ${flag.help}`);
    return flag.default;
  }
  const text = String(given);
  if (flag.kind !== "string") return parseNumber(written, text, flag);
  if (flag.choices !== undefined && !flag.choices.includes(text)) {
    const suggestion = suggestName(text, flag.choices);
    const allowed = flag.choices.join(", ");
    throw new UserError(
      `${written} must be one of ${allowed}, found "${text}"` +
        (suggestion.startsWith("did") ? `: ${suggestion}` : ""),
    );
  }
  return text;
}

function refuseEmpty(given: unknown, name: string): void {
  const values = Array.isArray(given) ? given : [given];
  if (values.includes("")) {
    const written = flagOnCommandLine(name);
    throw new UserError(
      `${written} needs a value, found none (write ${written}=-1 where it begins with "-")`,
    );
  }
}

/**
 * The end of a sentence about an unknown flag: how its value is set where a list takes it by that name, as `--set lr=0.01` for `--lr 0.01`;
 * else the nearest flag.
 */
function suggestFlag(
  argument: string,
  { args, declared }: { readonly args: readonly string[]; readonly declared: Flags },
): string {
  const [written = "", value] = argument.split(/=(.*)/s, 2);
  const plain = (name: string) => name.replaceAll("-", "").toLowerCase();
  for (const [name, flag] of Object.entries(declared)) {
    if (flag.kind !== "list") continue;
    const key = flag.keys?.find((one) => plain(one) === plain(written));
    if (key === undefined) continue;
    const next = args[args.indexOf(argument) + 1];
    const given = value ?? (next === undefined || next.startsWith("--") ? "VALUE" : next);
    return `write ${flagOnCommandLine(name)} ${key}=${given}`;
  }
  return suggestName(written, [...spellingsOf(declared).keys()]);
}

/** A flag that is written in a way that nothing would read: a value where none is taken, or twice where the last would win. */
function refuseMisused(
  args: readonly string[],
  declared: Flags,
  names: ReadonlyMap<string, string>,
): void {
  const end = args.indexOf("--");
  const seen = new Map<string, string>();
  for (const argument of end < 0 ? args : args.slice(0, end)) {
    const [given = "", value] = argument.split(/=(.*)/s, 2);
    const written = given === "-h" ? "--help" : given;
    const name = names.get(written) ?? "";
    const kind = declared[name]?.kind;
    if (kind === undefined) continue;
    if (kind === "boolean" && value !== undefined) {
      throw new UserError(
        `${written} takes no value, found "${value}": write ${written} alone, or leave it out`,
      );
    }
    const earlier = seen.get(name);
    if (kind !== "list" && earlier !== undefined) {
      throw new UserError(
        earlier === written
          ? `${written} is given twice: give it once`
          : `${earlier} and ${written} contradict each other: give one of them`,
      );
    }
    seen.set(name, written);
  }
}

/** What {@linkcode parseFlags} returns. */
export interface ParsedFlags<F extends Flags> {
  readonly flags: FlagValues<F>;
  /** The arguments that belong to no flag. */
  readonly positionals: readonly string[];
}

/**
 * Parses the arguments of a command.
 *
 * @param args The arguments after the command's name.
 * @param declared The command's flags, the common ones among them. With `--help` nothing is required, and no value is read.
 * @returns The values, complete and checked, and the positional arguments.
 * @throws {UserError} When a flag is unknown, given twice, has no value or a value that is not allowed, or is required and missing.
 */
export function parseFlags<const F extends Flags>(
  args: readonly string[],
  declared: F,
): ParsedFlags<F> {
  const names = spellingsOf(declared);
  const parsedName = (name: string) => flagOnCommandLine(name).slice(2);
  const ofKind = (wanted: (flag: Flag) => boolean) =>
    Object.entries(declared).filter(([, flag]) => wanted(flag)).map(([name]) => parsedName(name));
  const negatable = ofKind((flag) => flag.kind === "boolean" && flag.default === true);
  refuseMisused(args, declared, names);
  const parsed = parseArgs([...args], {
    boolean: ofKind((flag) => flag.kind === "boolean"),
    string: ["_", ...ofKind((flag) => flag.kind !== "boolean")],
    collect: ofKind((flag) => flag.kind === "list"),
    negatable,
    default: Object.fromEntries(negatable.map((name) => [name, true])),
    alias: { help: "h" },
    unknown: (argument, key) => {
      if (key === undefined) return true; // A positional argument.
      const written = argument.split("=", 1)[0] ?? argument;
      throw new UserError(`unknown flag ${written}: ${suggestFlag(argument, { args, declared })}`);
    },
  });
  const values: Record<string, unknown> = {};
  for (const [name, flag] of Object.entries(declared)) {
    const given = parsed[parsedName(name)];
    if (parsed.help === true && flag.kind !== "boolean") continue;
    refuseEmpty(given, name);
    values[name] = parseValue(name, given, flag);
  }
  return { flags: values as FlagValues<F>, positionals: parsed._.map(String) };
}

/** How a table of two columns is laid out. */
interface TableOptions {
  /** Names of all tables whose right columns are to stand below each other (default: those of the rows). */
  readonly names?: readonly string[];
  /** Columns to write for (default: those of the terminal, 80 elsewhere). */
  readonly columns?: number;
}

/**
 * Lays out a table of two columns, the right one wrapped at words.
 *
 * @param rows Pairs of a name and its description.
 * @returns Lines, each ending without a line break.
 */
export function formatTable(
  rows: readonly (readonly [string, string])[],
  { names = rows.map(([name]) => name), columns = terminalColumns() }: TableOptions = {},
): string[] {
  // The descriptions keep half of the line; a longer name stands above its own.
  const widest = Math.max(0, ...names.map(({ length }) => length)) + 4;
  const left = Math.min(38, Math.floor(columns / 2), widest);
  return rows.flatMap(([name, description]) => {
    const [first = "", ...rest] = wrapText(escapeControls(description), { columns, indent: left });
    const head = `  ${escapeControls(name)}`;
    return head.length < left
      ? [head.padEnd(left) + first.slice(left), ...rest]
      : [head, first, ...rest];
  });
}

function describeFlag(flag: Flag): string {
  const notes: string[] = [];
  if (flag.kind === "string" && flag.choices !== undefined) notes.push(flag.choices.join(" | "));
  if (flag.kind === "integer" || flag.kind === "number") notes.push(describeRange(flag));
  if (flag.kind === "list") notes.push("may be repeated");
  if ("required" in flag) notes.push("required");
  if ("default" in flag && flag.kind !== "boolean" && flag.default !== "") {
    notes.push(`default ${flag.default}`);
  }
  // A default that is found out later is told in the help text: one pair of brackets is enough.
  const [, help = flag.help, told] = /^(.*) \((default[^()]*)\)$/s.exec(flag.help) ?? [];
  if (told !== undefined) notes.push(told);
  return notes.length === 0 ? help : `${help} (${notes.join("; ")})`;
}

const PLACEHOLDERS = {
  boolean: "",
  integer: " N",
  number: " X",
  string: " TEXT",
  list: " TEXT",
} as const satisfies Record<Flag["kind"], string>;

/**
 * The lines about the flags in a help text.
 *
 * @param declared The flags.
 * @param options.columns Columns to write for (default: those of the terminal, 80 elsewhere).
 * @returns Lines, an entry a flag.
 */
export function formatFlags(
  declared: Flags,
  options: Pick<TableOptions, "columns"> = {},
): string[] {
  return formatTable(
    Object.entries(declared).map(([name, flag]) =>
      [`${helpSpelling(name, flag)}${PLACEHOLDERS[flag.kind]}`, describeFlag(flag)] as const
    ),
    options,
  );
}
