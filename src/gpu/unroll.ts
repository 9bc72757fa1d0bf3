/**
 * Unrolling: WGSL has loops but no way to ask that they be unrolled, and a private array that is indexed by a loop variable
 * lives in memory instead of registers. A loop marked `// unrolled` is written out before compilation.
 */

const LOOP =
  /for \(var (\w+) = 0u; \1 < (?:(\w+)|\w+\(\)); \1\+\+\) \{ \/\/ unrolled(?: if (\w+) == (\d+))?\n/g;
const CONSTANT = /^const (\w+) = (?:(\d+)u \* )?(?:(\d+)u|(\w+));/gm;

/**
 * Gives constants of a text other values.
 * @param wgsl A kernel's text with all that it shares.
 * @param constants Values by name; each must be in the text as `const NAME = …u;`.
 * @throws {RangeError} When the text declares no such constant.
 */
export function setConstants(wgsl: string, constants: Readonly<Record<string, number>>): string {
  for (const [name, value] of Object.entries(constants)) {
    const declaration = new RegExp(`^const ${name} = \\d+u;`, "m");
    if (!declaration.test(wgsl)) {
      throw new RangeError(`Cannot set ${name}: the kernel declares no such constant`);
    }
    wgsl = wgsl.replace(declaration, `const ${name} = ${value}u;`);
  }
  return wgsl;
}

/** The text between the brace before `start` and the one that closes it, and where it ends. */
function braced(wgsl: string, start: number): { readonly body: string; readonly end: number } {
  let depth = 1;
  for (let i = start; i < wgsl.length; i++) {
    if (wgsl[i] === "{") depth++;
    if (wgsl[i] === "}" && --depth === 0) return { body: wgsl.slice(start, i), end: i + 1 };
  }
  throw new SyntaxError(`Cannot unroll: the brace before character ${start} is never closed`);
}

/** One iteration on one line. */
function iteration(body: string, options: { readonly name: string; readonly value: number }) {
  const line = body.replaceAll(/\/\/.*$/gm, "").replaceAll(/\s+/g, " ").trim();
  return `{ ${line.replaceAll(new RegExp(`\\b${options.name}\\b`, "g"), `${options.value}u`)} }`;
}

/** Constants of the text: numbers, and multiples of constants before them. */
function constantsOf(wgsl: string): ReadonlyMap<string, number> {
  const constants = new Map<string, number>();
  for (const [, name = "", factor = "1", value, other = ""] of wgsl.matchAll(CONSTANT)) {
    constants.set(name, Number(factor) * (value ? Number(value) : constants.get(other) ?? NaN));
  }
  return constants;
}

/** The last loop that is to be written out. */
function lastLoop(
  wgsl: string,
  { constants, all }: { readonly constants: ReadonlyMap<string, number>; readonly all: boolean },
): RegExpExecArray | undefined {
  return [...wgsl.matchAll(LOOP)].findLast(([, , , name = "", only]) =>
    all || only === undefined || (constants.get(name) ?? NaN) === Number(only)
  );
}

/**
 * Writes out every loop of the form `for (var i = 0u; i < COUNT; i++) { // unrolled`: its body once for each i, with i as a
 * literal. COUNT is a literal, or a constant of the text or a multiple of one. A loop marked `// unrolled if COUNT == 4` is one to COUNT, however
 * its bound is written, and stays a loop where COUNT is another number. All iterations stand on the loop's first line, so that line
 * numbers in errors stay right.
 * @param options.all Writes out loops with a condition in any case (default false).
 * @throws {SyntaxError} When COUNT is not known or a loop is never closed.
 */
export function unrollLoops(
  wgsl: string,
  { all = false }: { readonly all?: boolean } = {},
): string {
  const constants = constantsOf(wgsl);
  // From the last to the first, so that loops in a loop are written out before it.
  const next = () => lastLoop(wgsl, { constants, all });
  for (let loop = next(); loop; loop = next()) {
    const [head, name = "", literal = "", condition] = loop;
    const bound = condition ?? literal;
    const count = constants.get(bound) ?? Number(/^(\d+)u$/.exec(bound)?.[1]);
    if (!Number.isInteger(count)) {
      throw new SyntaxError(`Cannot unroll a loop to ${bound}: the text has no such constant`);
    }
    const { body, end } = braced(wgsl, loop.index + head.length);
    const copies = Array.from({ length: count }, (_, value) => iteration(body, { name, value }));
    const lines = "\n".repeat(body.split("\n").length);
    wgsl = wgsl.slice(0, loop.index) + copies.join(" ") + lines + wgsl.slice(end);
  }
  return wgsl;
}
