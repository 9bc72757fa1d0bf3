/** Kernel specifications: what the host knows of a WGSL entry point, and the checks that both sides agree. */

/** A scalar of a kernel's uniform parameters. */
export type ParamKind = "u32" | "f32";

/**
 * One binding of a kernel, in the order of its WGSL declarations (binding 1 and up).
 *
 * An *operand* is a tensor that matrix products re-read: a read-only or write-only storage texture on adapters where that
 * is the fastest memory (software Vulkan), a storage buffer elsewhere. The WGSL is written for textures; `lowerOperands`
 * turns it into the buffer form. Both forms compute the same bits.
 */
export interface BindingSpec {
  /** The name in the WGSL. */
  readonly name: string;
  /** A storage buffer, an operand of f32, or one of 32-bit words that the kernel takes apart. */
  readonly memory: "storage" | "operand" | "words";
  /** What the kernel does with it. */
  readonly access: "read" | "write" | "read_write";
}

/**
 * The value of a parameter, an override, or a size that a launch states, by name.
 * @throws {TypeError} When the launch states none of that name.
 */
export type SizeOf = (name: string) => number;

/**
 * Loop iterations that one invocation of a kernel may run on a software adapter. Mesa's ends loops after 65,535 without a
 * word, counted over all loops of a shader, and what they compute is cut off. The self-test shows that so many are run.
 * Work whose loops would be longer is cut to this on every adapter: the bits are the same, and dispatches stay short.
 */
export const MAX_ITERATIONS = 60_000;

/** Iterations of a loop of `turns`, each with `inner` iterations of the loops inside; its last look at the condition counts. */
export function loop(turns: number, inner = 0): number {
  return turns * (1 + inner) + 1;
}

/** The host's record of one WGSL entry point. A test holds it to the WGSL text. */
export interface KernelSpec {
  /** The entry point, the stem of its file and the label in GPU errors. */
  readonly name: string;
  /** The text of shaders/NAME.wgsl. */
  readonly wgsl: string;
  /** Texts of the shared functions it calls, joined after the kernel so that line numbers in errors stay right. */
  readonly shared: readonly string[];
  /** The fields of the WGSL struct `Params` at binding 0, in order. */
  readonly params: readonly (readonly [name: string, kind: ParamKind])[];
  /** Bindings 1, 2, … in order. */
  readonly bindings: readonly BindingSpec[];
  /** Names of pipeline overrides that the host may set. */
  readonly overrides: readonly string[];
  /**
   * The most iterations that one invocation runs, over all loops that are not written out before compilation; what they
   * depend on is asked for by name. `Commands` refuses a dispatch beyond `MAX_ITERATIONS` where an adapter would cut it off.
   */
  readonly iterations: (of: SizeOf) => number;
}

/** The memory that holds operands. */
export type OperandMemory = "texture" | "buffer";

/** A kernel compiled for one device and one set of overrides. */
export interface Kernel {
  /** What it was compiled from. */
  readonly spec: KernelSpec;
  /** The overrides and constants that it was compiled with. */
  readonly overrides: Readonly<Record<string, number>>;
  /** The compiled pipeline. */
  readonly pipeline: GPUComputePipeline;
  /** The layout of its one bind group. */
  readonly bindGroupLayout: GPUBindGroupLayout;
}

/**
 * The text between the parenthesis at `open` and the one that closes it.
 * @throws {SyntaxError} When it is never closed.
 */
function parenthesized(text: string, open: number): { inside: string; end: number } {
  let depth = 0;
  for (let i = open; i < text.length; i++) {
    if (text[i] === "(") depth++;
    if (text[i] === ")" && --depth === 0) return { inside: text.slice(open + 1, i), end: i + 1 };
  }
  throw new SyntaxError(
    `Cannot lower a kernel: the parenthesis at character ${open} is never closed`,
  );
}

/** Splits call arguments at their top-level commas. */
function splitArguments(text: string): string[] {
  const parts = [""];
  let depth = 0;
  for (const character of text) {
    if (character === "," && depth === 0) parts.push("");
    else parts[parts.length - 1] += character;
    if (character === "(" || character === "[") depth++;
    if (character === ")" || character === "]") depth--;
  }
  return parts.map((part) => part.trim());
}

/** Rewrites every call `callee(a, b, …)` by `render`, from the last to the first so that nested calls stay whole. */
function rewriteCalls(text: string, callee: string, render: (args: string[]) => string): string {
  for (
    let at = text.lastIndexOf(`${callee}(`);
    at >= 0;
    at = text.lastIndexOf(`${callee}(`, at - 1)
  ) {
    const { inside, end } = parenthesized(text, at + callee.length);
    text = text.slice(0, at) + render(splitArguments(inside)) + text.slice(end);
    if (at === 0) break;
  }
  return text;
}

/**
 * Turns the storage textures of a kernel into storage buffers: declarations, `textureLoad(x, at)` and
 * `textureStore(x, at, value)`. The position `at` is a `vec2u` whose x is the index of a vec4 in the buffer form (see
 * shaders/operand_buffer.wgsl). Line numbers do not change.
 * @param wgsl The kernel's text, in its texture form.
 * @returns The same kernel over storage buffers.
 */
export function lowerOperands(wgsl: string): string {
  const declared = wgsl.replace(
    /var (\w+): texture_storage_2d<rgba32(float|uint), (read|write)>;/g,
    (_, name, kind, access) =>
      `var<storage, ${access === "read" ? "read" : "read_write"}> ${name}: array<vec4${kind[0]}>;`,
  );
  const loaded = rewriteCalls(declared, "textureLoad", ([name, at]) => `${name}[(${at}).x]`);
  return rewriteCalls(
    loaded,
    "textureStore",
    ([name, at, value]) => `${name}[(${at}).x] = ${value}`,
  );
}

/** What a WGSL text declares of itself, for the parity test and for error messages. */
export interface WgslInterface {
  /** Names of the functions marked @compute. */
  readonly entryPoints: readonly string[];
  /** Fields of `Params`, (name, type). */
  readonly params: readonly (readonly [string, string])[];
  /** Bindings 1, 2, … in order. */
  readonly bindings: readonly BindingSpec[];
  /** Names of the overrides. */
  readonly overrides: readonly string[];
}

/**
 * Reads entry points, parameters, bindings and overrides from WGSL.
 * @throws {SyntaxError} When the bindings are not numbered 0, 1, 2, … in order.
 */
export function parseWgslInterface(wgsl: string): WgslInterface {
  const struct = /struct Params \{([^}]*)\}/.exec(wgsl)?.[1] ?? "";
  const params = [...struct.matchAll(/(\w+): (\w+)/g)].map((m) =>
    [m[1] ?? "", m[2] ?? ""] as const
  );
  const declarations = [
    ...wgsl.matchAll(
      /@group\(0\) @binding\((\d+)\) var(?:<(uniform|storage, \w+)>)? (\w+): (?:texture_storage_2d<rgba32(float|uint), (\w+)>)?/g,
    ),
  ];
  const bindings: BindingSpec[] = [];
  declarations.forEach(([, index, kind, name, texel, texture], position) => {
    if (Number(index) !== position) {
      throw new SyntaxError(
        `Cannot read WGSL: binding ${index} of ${name} stands at place ${position}`,
      );
    }
    if (kind === "uniform") return;
    const access = texture ?? kind?.replace("storage, ", "") ?? "";
    bindings.push({
      name: name ?? "",
      memory: texture ? (texel === "uint" ? "words" : "operand") : "storage",
      access: access as BindingSpec["access"],
    });
  });
  return {
    entryPoints: [...wgsl.matchAll(/@compute[^{]*?fn (\w+)/g)].map((m) => m[1] ?? ""),
    params,
    bindings,
    overrides: [...wgsl.matchAll(/^override (\w+)/gm)].map((m) => m[1] ?? ""),
  };
}

/**
 * Packs parameter values in the order of the spec; every field is four bytes.
 * @throws {TypeError} When a parameter is missing or unknown; {RangeError} when a u32 is not one.
 */
export function packParams(
  spec: KernelSpec,
  values: Readonly<Record<string, number>>,
  target: { readonly view: DataView; readonly offset: number },
): void {
  if (Object.keys(values).length > spec.params.length) {
    const known = spec.params.map(([name]) => name);
    const unknown = Object.keys(values).filter((name) => !known.includes(name));
    throw new TypeError(
      `Cannot dispatch ${spec.name}: it has no parameter ${unknown}, but ${known}`,
    );
  }
  let offset = target.offset;
  for (const [name, kind] of spec.params) {
    const value = values[name];
    if (value === undefined) {
      throw new TypeError(`Cannot dispatch ${spec.name}: parameter ${name} is missing`);
    }
    if (kind === "u32" && !(Number.isInteger(value) && value >= 0 && value <= 0xffffffff)) {
      throw new RangeError(
        `Cannot dispatch ${spec.name}: ${name} is ${value}, not an integer of 32 bits`,
      );
    }
    if (kind === "u32") target.view.setUint32(offset, value, true);
    else target.view.setFloat32(offset, value, true);
    offset += 4;
  }
}
