/** WGSL as far as the kernels use it: functions, variables and the expressions in them, for rules about arithmetic. */

/** An expression, with its text for reports. */
export type Expression =
  & { readonly text: string }
  & (
    | { readonly kind: "number"; readonly value: string }
    | { readonly kind: "name"; readonly name: string }
    | { readonly kind: "unary"; readonly operator: string; readonly operand: Expression }
    | {
      readonly kind: "binary";
      readonly operator: string;
      readonly left: Expression;
      readonly right: Expression;
    }
    | { readonly kind: "call"; readonly callee: string; readonly operands: readonly Expression[] }
    | { readonly kind: "member"; readonly base: Expression; readonly field: string }
    | { readonly kind: "index"; readonly base: Expression; readonly index: Expression }
  );

/** What a function does, in the order of its text; blocks are flattened. */
export type Statement =
  | {
    readonly kind: "declare";
    readonly name: string;
    readonly type?: string;
    readonly value?: Expression;
  }
  | {
    readonly kind: "assign";
    readonly target: Expression;
    readonly operator: string;
    readonly value: Expression;
  }
  | { readonly kind: "return" | "evaluate"; readonly value: Expression };

/** A name and its type. */
export interface Typed {
  readonly name: string;
  readonly type: string;
}

/** A function. */
export interface WgslFunction {
  readonly name: string;
  readonly parameters: readonly Typed[];
  readonly returns: string;
  readonly body: readonly Statement[];
}

/** A kernel's text. */
export interface WgslText {
  readonly structs: ReadonlyMap<string, readonly Typed[]>;
  /** Variables of the module; `space` is private, workgroup, storage, …. */
  readonly variables: readonly (Typed & { readonly space: string })[];
  /** Names whose values the compiler knows, or is told before it begins. */
  readonly constants: readonly string[];
  readonly functions: readonly WgslFunction[];
}

const TOKEN =
  /\/\/.*|\s+|[A-Za-z_]\w*|(?:0x[\da-fA-F]+|\d+\.?\d*(?:[eE][+-]?\d+)?)[uifh]?|->|\+\+|--|<<|>>|[-+*/%&|^]=|[=!<>]=|&&|\|\||[^\s]/g;

const PRECEDENCE: Readonly<Record<string, number>> = {
  "||": 1,
  "&&": 2,
  "|": 3,
  "^": 4,
  "&": 5,
  "==": 6,
  "!=": 6,
  "<": 6,
  ">": 6,
  "<=": 6,
  ">=": 6,
  "<<": 7,
  ">>": 7,
  "+": 8,
  "-": 8,
  "*": 9,
  "/": 9,
  "%": 9,
};

/** Names of types that carry another type in angle brackets. */
const GENERIC = /^(?:bitcast|array|atomic|ptr|vec[234]|mat[234]x[234])$/;

/** Reads one text from its beginning to its end. */
class Reader {
  readonly #tokens: readonly string[];
  #at = 0;

  constructor(text: string) {
    this.#tokens = (text.match(TOKEN) ?? []).filter((token) => !/^(?:\s|\/\/)/.test(token));
  }

  get isDone(): boolean {
    return this.#at >= this.#tokens.length;
  }

  get next(): string {
    return this.#tokens[this.#at] ?? "";
  }

  take(expected?: string): string {
    const token = this.next;
    if (token === "" || (expected !== undefined && token !== expected)) {
      const around = this.#tokens.slice(Math.max(0, this.#at - 6), this.#at + 3).join(" ");
      throw new SyntaxError(`Expected ${expected ?? "more"} but found ${token}, in: ${around}`);
    }
    this.#at++;
    return token;
  }

  accept(token: string): boolean {
    if (this.next !== token) return false;
    this.#at++;
    return true;
  }

  /** The text from a place to here, for reports. */
  since(start: number): string {
    return this.#tokens.slice(start, this.#at).join(" ")
      .replaceAll(/(\w) ([[(])/g, "$1$2")
      .replaceAll(/([[(]) | ([\]),;])/g, "$1$2")
      .replaceAll(" . ", ".")
      .replaceAll(/(^|[(*/+,-] ?)- /g, "$1-");
  }

  get place(): number {
    return this.#at;
  }
}

function attributes(reader: Reader): void {
  while (reader.accept("@")) {
    reader.take();
    if (reader.accept("(")) { while (reader.take() !== ")"); }
  }
}

/** A type with what stands in its brackets. */
function type(reader: Reader): string {
  let text = reader.take();
  if (!reader.accept("<")) return text;
  for (let depth = 1; depth > 0;) {
    const token = reader.take();
    depth += token === "<" ? 1 : token === ">" ? -1 : token === ">>" ? -2 : 0;
    text += ` ${token}`;
  }
  return text;
}

function list<T>(reader: Reader, end: string, item: () => T): T[] {
  const items: T[] = [];
  while (!reader.accept(end)) {
    items.push(item());
    if (reader.next !== end) reader.take(",");
  }
  return items;
}

function primary(reader: Reader): Expression {
  const start = reader.place;
  if (reader.accept("(")) {
    const inside = expression(reader);
    reader.take(")");
    return inside;
  }
  if (/^\d/.test(reader.next)) {
    const value = reader.take();
    return { kind: "number", value, text: value };
  }
  const name = GENERIC.test(reader.next) ? type(reader) : reader.take();
  if (!reader.accept("(")) return { kind: "name", name, text: name };
  const operands = list(reader, ")", () => expression(reader));
  return { kind: "call", callee: name, operands, text: reader.since(start) };
}

function postfix(reader: Reader): Expression {
  const start = reader.place;
  let found = primary(reader);
  while (reader.next === "." || reader.next === "[") {
    if (reader.accept(".")) {
      found = { kind: "member", base: found, field: reader.take(), text: reader.since(start) };
    } else {
      reader.take("[");
      const index = expression(reader);
      reader.take("]");
      found = { kind: "index", base: found, index, text: reader.since(start) };
    }
  }
  return found;
}

function unary(reader: Reader): Expression {
  const start = reader.place;
  if (!/^[-!~&*]$/.test(reader.next)) return postfix(reader);
  const operator = reader.take();
  const operand = unary(reader);
  return { kind: "unary", operator, operand, text: reader.since(start) };
}

function expression(reader: Reader, least = 1): Expression {
  const start = reader.place;
  let left = unary(reader);
  for (;;) {
    const operator = reader.next;
    const precedence = PRECEDENCE[operator] ?? 0;
    if (precedence < least) return left;
    reader.take();
    const right = expression(reader, precedence + 1);
    left = { kind: "binary", operator, left, right, text: reader.since(start) };
  }
}

function declaration(reader: Reader): Statement {
  reader.take();
  const name = reader.take();
  const declared = reader.accept(":") ? type(reader) : undefined;
  const value = reader.accept("=") ? expression(reader) : undefined;
  return {
    kind: "declare",
    name,
    ...(declared !== undefined && { type: declared }),
    ...(value && { value }),
  };
}

/** A declaration, an assignment, a call: what also stands in the head of a loop. */
function simple(reader: Reader): Statement {
  if (/^(?:let|var|const)$/.test(reader.next)) return declaration(reader);
  const target = unary(reader);
  if (reader.accept("++") || reader.accept("--")) return { kind: "evaluate", value: target };
  if (!/^(?:[-+*/%&|^]?=)$/.test(reader.next)) return { kind: "evaluate", value: target };
  const operator = reader.take();
  return { kind: "assign", target, operator, value: expression(reader) };
}

function loop(reader: Reader): Statement[] {
  reader.take("(");
  const first = simple(reader);
  reader.take(";");
  const condition = expression(reader);
  reader.take(";");
  const step = simple(reader);
  reader.take(")");
  return [first, { kind: "evaluate", value: condition }, step, ...block(reader)];
}

function choice(reader: Reader): Statement[] {
  const value = expression(reader);
  const body: Statement[] = [{ kind: "evaluate", value }, ...block(reader)];
  if (!reader.accept("else")) return body;
  return [...body, ...reader.accept("if") ? choice(reader) : block(reader)];
}

function cases(reader: Reader): Statement[] {
  const body: Statement[] = [{ kind: "evaluate", value: expression(reader) }];
  reader.take("{");
  while (!reader.accept("}")) {
    if (!reader.accept("default")) {
      reader.take("case");
      list(reader, ":", () => expression(reader));
    } else reader.accept(":");
    body.push(...block(reader));
  }
  return body;
}

function statement(reader: Reader): Statement[] {
  if (reader.next === "{") return block(reader);
  if (reader.accept("for")) return loop(reader);
  if (reader.accept("if")) return choice(reader);
  if (reader.accept("switch")) return cases(reader);
  if (reader.accept("break") || reader.accept("continue")) {
    reader.take(";");
    return [];
  }
  if (reader.accept("return")) {
    const found: Statement[] = reader.next === ";"
      ? []
      : [{ kind: "return", value: expression(reader) }];
    reader.take(";");
    return found;
  }
  const found = simple(reader);
  reader.take(";");
  return [found];
}

function block(reader: Reader): Statement[] {
  const body: Statement[] = [];
  reader.take("{");
  while (!reader.accept("}")) body.push(...statement(reader));
  return body;
}

function typed(reader: Reader): Typed {
  attributes(reader);
  const name = reader.take();
  reader.take(":");
  return { name, type: type(reader) };
}

function wgslFunction(reader: Reader): WgslFunction {
  const name = reader.take();
  reader.take("(");
  const parameters = list(reader, ")", () => typed(reader));
  const returns = reader.accept("->") ? type(reader) : "";
  return { name, parameters, returns, body: block(reader) };
}

/**
 * Reads a kernel's text.
 * @throws {SyntaxError} With what was found where the kernels' part of the language has something else.
 */
export function parseWgsl(text: string): WgslText {
  const reader = new Reader(text);
  const structs = new Map<string, readonly Typed[]>();
  const variables: (Typed & { space: string })[] = [];
  const constants: string[] = [];
  const functions: WgslFunction[] = [];
  while (!reader.isDone) {
    attributes(reader);
    const keyword = reader.take();
    if (keyword === "struct") {
      const name = reader.take();
      reader.take("{");
      structs.set(name, list(reader, "}", () => typed(reader)));
      reader.accept(";");
    } else if (keyword === "fn") functions.push(wgslFunction(reader));
    else if (keyword === "var") {
      let space = "handle";
      if (reader.accept("<")) {
        space = reader.take();
        while (reader.take() !== ">");
      }
      variables.push({ ...typed(reader), space });
      reader.take(";");
    } else {
      constants.push(reader.take());
      while (reader.take() !== ";");
    }
  }
  return { structs, variables, constants, functions };
}
