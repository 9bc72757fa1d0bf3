/**
 * Finds products that feed an addition in WGSL: `a * b + c` outside of fma, where a compiler may round once or twice. A
 * product is followed through variables, private memory, structs, arguments and results, since compilers inline; what was
 * stored in a buffer is rounded. A quotient and a logarithm are products, too: drivers multiply by a reciprocal and by ln 2.
 */
import type { Expression, Statement, WgslFunction, WgslText } from "./wgsl_syntax.ts";

/** What is known of a value: its scalar type or its struct, and whether it may be a product that is not rounded yet. */
interface Value {
  readonly type: string;
  readonly isProduct: boolean;
  readonly isConstant: boolean;
}

/** The place of one such product. */
export interface Contraction {
  readonly functionName: string;
  /** The addition or subtraction. */
  readonly text: string;
}

const INTEGER = "integer";
const FLOAT = "float";
const OTHER = "other";

/** Results that are the operand or one of them, up to its sign. */
const TRANSPARENT = /^(?:vec[234]f?|mat[234]x[234]f?|f32|abs|select|transpose|array)\b/;
/** Integers come out of these, whatever goes in. */
const INTEGERS = /^(?:vec[234][ui]|u32|i32|atomic\w+|countOneBits)$/;

function typeOf(text: string): string {
  const inner = /^(?:array|atomic|vec[234]|mat[234]x[234]) <? ?<? ?(\w+)/.exec(text)?.[1] ?? text;
  if (inner !== text && /^(?:array|atomic)/.test(inner)) return typeOf(inner);
  if (/^(?:f32|vec[234]f|mat[234]x[234]f)$/.test(inner)) return FLOAT;
  if (/^(?:u32|i32|vec[234][ui])$/.test(inner)) return INTEGER;
  if (/^texture_storage_2d/.test(text)) return text.includes("uint") ? INTEGER : FLOAT;
  return inner === "bool" ? OTHER : inner;
}

/** A power of two scales without rounding. */
function isPowerOfTwo(found: Expression): boolean {
  return found.kind === "number" && Number.isInteger(Math.log2(Number.parseFloat(found.value)));
}

/** Follows products through one text. */
class Products {
  readonly found = new Map<string, Contraction>();
  readonly #text: WgslText;
  readonly #globals: ReadonlyMap<string, { readonly type: string; readonly space: string }>;
  readonly #functions: ReadonlyMap<string, WgslFunction>;
  /** Names that may hold a product: `function:variable`, `:variable` of the module, `Struct.field`, `function()`. */
  readonly #tainted = new Set<string>();
  readonly #types = new Map<string, string>();
  #owner = "";

  constructor(text: WgslText) {
    this.#text = text;
    this.#globals = new Map(
      text.variables.map(({ name, type, space }) => [name, { type: typeOf(type), space }]),
    );
    this.#functions = new Map(text.functions.map((one) => [one.name, one]));
    for (const { name, parameters } of text.functions) {
      parameters.forEach((one) => this.#types.set(`${name}:${one.name}`, typeOf(one.type)));
    }
    let before = -1;
    while (before !== this.#tainted.size) {
      before = this.#tainted.size;
      for (const one of text.functions) {
        this.#owner = one.name;
        one.body.forEach((statement) => this.#run(statement));
      }
    }
  }

  #taint(key: string, { isProduct }: Value): void {
    if (isProduct) this.#tainted.add(key);
  }

  #run(statement: Statement): void {
    if (statement.kind === "declare") {
      const key = `${this.#owner}:${statement.name}`;
      const value = statement.value && this.#value(statement.value);
      const type = statement.type === undefined ? value?.type : typeOf(statement.type);
      this.#types.set(key, type ?? OTHER);
      if (value) this.#taint(key, value);
      return;
    }
    const value = this.#value(statement.value);
    if (statement.kind === "return") this.#taint(`${this.#owner}()`, value);
    if (statement.kind === "assign") this.#assign(statement, value);
  }

  #assign({ target, operator, value }: Statement & { kind: "assign" }, right: Value): void {
    const left = this.#value(target);
    const symbol = operator.slice(0, -1);
    const text = `${target.text} ${operator} ${value.text}`;
    const result = symbol === "" ? right : this.#combine(symbol, { left, right, text, of: value });
    const key = this.#place(target);
    if (key !== undefined) this.#taint(key, result);
  }

  /** Where an assignment leaves a product; undefined where it goes to memory and is rounded. */
  #place(target: Expression): string | undefined {
    if (target.kind === "index") return this.#place(target.base);
    if (target.kind === "member") {
      const { type } = this.#value(target.base);
      if (this.#text.structs.has(type)) return `${type}.${target.field}`;
      return this.#place(target.base);
    }
    if (target.kind !== "name") return undefined;
    const own = `${this.#owner}:${target.name}`;
    if (this.#types.has(own)) return own;
    return this.#globals.get(target.name)?.space === "private" ? `:${target.name}` : undefined;
  }

  #combine(
    operator: string,
    { left, right, text, of }: {
      readonly left: Value;
      readonly right: Value;
      readonly text: string;
      readonly of: Expression;
    },
  ): Value {
    const type = [left, right].some((one) => one.type === FLOAT) ? FLOAT : left.type;
    const isConstant = left.isConstant && right.isConstant;
    if (/^(?:[=!]=|[<>]=?|&&|\|\|)$/.test(operator)) {
      return { type: OTHER, isProduct: false, isConstant };
    }
    const isSum = operator === "+" || operator === "-";
    if (type === FLOAT && isSum && (left.isProduct || right.isProduct)) {
      this.found.set(`${this.#owner} ${text}`, { functionName: this.#owner, text });
    }
    const scales = operator === "*" || operator === "/";
    const isExact = isPowerOfTwo(of);
    return {
      type,
      isProduct: type === FLOAT && scales && !isConstant &&
        (!isExact || left.isProduct || right.isProduct),
      isConstant,
    };
  }

  #value(found: Expression): Value {
    switch (found.kind) {
      case "number":
        return {
          type: /^0x|^\d+[ui]?$/.test(found.value) ? INTEGER : FLOAT,
          isProduct: false,
          isConstant: true,
        };
      case "name":
        return this.#named(found.name);
      case "unary":
        return this.#value(found.operand);
      case "index":
        this.#value(found.index);
        return this.#value(found.base);
      case "member":
        return this.#member(this.#value(found.base), found.field);
      case "call":
        return this.#call(found.callee, found.operands.map((operand) => this.#value(operand)));
      case "binary": {
        const [left, right] = [this.#value(found.left), this.#value(found.right)];
        const { operator, text } = found;
        // x / 2 and 2 · x are exact; 1 / x is a reciprocal, with no product to fuse.
        const of = operator === "*" && isPowerOfTwo(found.left) ||
            operator === "/" && found.left.text === "1.0"
          ? found.left
          : found.right;
        return this.#combine(operator, { left, right, text, of });
      }
    }
  }

  #named(name: string): Value {
    const own = `${this.#owner}:${name}`;
    const type = this.#types.get(own);
    if (type !== undefined) {
      return { type, isProduct: this.#tainted.has(own), isConstant: false };
    }
    const known = this.#globals.get(name);
    if (known) {
      return { type: known.type, isProduct: this.#tainted.has(`:${name}`), isConstant: false };
    }
    const isConstant = this.#text.constants.includes(name);
    // Constants of WGSL texts are of either type; sums that mix them with floats are of floats.
    return { type: OTHER, isProduct: false, isConstant };
  }

  #member(base: Value, field: string): Value {
    const fields = this.#text.structs.get(base.type);
    if (!fields) return base;
    const type = typeOf(fields.find(({ name }) => name === field)?.type ?? OTHER);
    return { type, isProduct: this.#tainted.has(`${base.type}.${field}`), isConstant: false };
  }

  #call(callee: string, operands: readonly Value[]): Value {
    const rounded = (type: string): Value => ({ type, isProduct: false, isConstant: false });
    const called = this.#functions.get(callee);
    if (called) {
      called.parameters.forEach(({ name }, i) => {
        const operand = operands[i];
        if (operand) this.#taint(`${callee}:${name}`, operand);
      });
      return {
        ...rounded(typeOf(called.returns)),
        isProduct: this.#tainted.has(`${callee}()`),
      };
    }
    const fields = this.#text.structs.get(callee);
    if (fields) {
      fields.forEach(({ name }, i) => {
        const operand = operands[i];
        if (operand) this.#taint(`${callee}.${name}`, operand);
      });
      return rounded(callee);
    }
    if (callee === "log") return { ...rounded(FLOAT), isProduct: true };
    if (callee === "textureLoad") return rounded(operands[0]?.type ?? FLOAT);
    if (callee.startsWith("bitcast")) return rounded(typeOf(callee.replace(/^bitcast < ?/, "")));
    if (INTEGERS.test(callee)) return rounded(INTEGER);
    const isFloat = /^(?:f32|vec[234]f|mat)/.test(callee);
    const type = isFloat ? FLOAT : operands.map((one) => one.type).find((one) => one !== OTHER);
    return {
      ...rounded(type ?? OTHER),
      isProduct: TRANSPARENT.test(callee) && operands.some(({ isProduct }) => isProduct),
      isConstant: isFloat && operands.every(({ isConstant }) => isConstant),
    };
  }
}

/** Every sum of floats in a text that a product feeds. */
export function contractions(text: WgslText): Contraction[] {
  return [...new Products(text).found.values()];
}
