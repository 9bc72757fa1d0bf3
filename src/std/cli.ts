/**
 * The part of `@std/cli` that this project uses, built on what Deno ships (`parseArgs` of `node:util`).
 *
 * deno.json maps the bare specifier `@std/cli` here; point it at `jsr:@std/cli@1` to use the published package: the
 * signature is the same. Not covered: nested flags, grouped short flags (`-abc`), `--` kept apart.
 */
import { parseArgs as tokenize } from "node:util";

/** What {@linkcode parseArgs} is told about the flags. */
export interface ParseOptions {
  /** Flags without a value: true where given (also by an alias), else false. */
  boolean?: readonly string[];
  /** Flags whose value stays text; "" where the value is missing. `"_"` keeps positional arguments text. */
  string?: readonly string[];
  /** Flags that may be repeated: their values form an array, [] where none is given. */
  collect?: readonly string[];
  /** Flags of `boolean` that `--no-NAME` makes false. */
  negatable?: readonly string[];
  /** Values of flags that are not given. */
  default?: Readonly<Record<string, unknown>>;
  /** Short names by flag, for example `{ help: "h" }`. */
  alias?: Readonly<Record<string, string>>;
  /** Called with every argument that is not declared above; false drops the argument. */
  unknown?: (arg: string, key?: string, value?: unknown) => unknown;
}

/** The values by flag, and the positional arguments in `_`. */
export interface Args {
  _: (string | number)[];
  [flag: string]: unknown;
}

function isNumber(text: string): boolean {
  return /^0x[0-9a-f]+$/i.test(text) || /^[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[-+]?\d+)?$/i.test(text);
}

function asNumberOrText(text: string): string | number {
  return isNumber(text) ? Number(text) : text;
}

/**
 * Parses command line arguments. A value follows its flag (`--steps 8`) or follows `=` (`--steps=-8`); a following
 * argument that begins with `-` is never a value. After `--` every argument is positional.
 *
 * @param args The arguments, without the program's name.
 * @param options The known flags.
 * @returns The values by flag; the last one wins where a flag is repeated and not collected.
 */
export function parseArgs(args: string[], options: ParseOptions = {}): Args {
  const { boolean = [], string = [], collect = [], negatable = [], alias = {}, unknown } = options;
  const longNames = new Map(Object.entries(alias).map(([long, short]) => [short, long]));
  const result: Args = { _: [] };
  for (const name of boolean) result[name] = false;
  for (const name of collect) result[name] = [];
  Object.assign(result, options.default);

  // Without declared options the tokenizer takes no argument as a value, which leaves that rule to the lines below.
  const { tokens } = tokenize({
    args: [...args],
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  for (let index = 0; index < tokens.length; index++) {
    const token = tokens[index];
    if (token === undefined || token.kind === "option-terminator") continue;
    if (token.kind === "positional") {
      if (unknown?.(token.value) === false) continue;
      result._.push(string.includes("_") ? token.value : asNumberOrText(token.value));
      continue;
    }
    const isNegated = token.name.startsWith("no-") && negatable.includes(token.name.slice(3));
    const name = isNegated ? token.name.slice(3) : longNames.get(token.name) ?? token.name;
    const isBoolean = boolean.includes(name);
    const isText = name !== "_" && string.includes(name);
    const next = tokens[index + 1];
    let value: string | number | boolean;
    if (isNegated) {
      value = false;
    } else if (token.value !== undefined) {
      value = isBoolean ? token.value !== "false" : token.value;
    } else if (!isBoolean && next?.kind === "positional" && next.index === token.index + 1) {
      value = next.value;
      index++;
    } else {
      value = isText ? "" : true;
    }
    if (typeof value === "string" && !isText) value = asNumberOrText(value);
    if (!isBoolean && !isText && unknown?.(args[token.index] ?? "", name, value) === false) {
      continue;
    }
    const collected = result[name];
    if (collect.includes(name) && Array.isArray(collected)) collected.push(value);
    else result[name] = value;
  }
  return result;
}
