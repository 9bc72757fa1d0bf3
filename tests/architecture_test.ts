/** The rules of the source tree, held by a walk over its text: layers, circles, quartets, WGSL headers, sizes, first lines. */
import { assert, assertEquals } from "@std/assert";
import { COMMANDS } from "../cli/registry.ts";
import { wordViolations } from "./library_words.ts";
import { withoutComments, withoutCommentsAndTexts } from "./source_text.ts";

/** Text of every file under the repository by its path, for example `src/core/errors.ts`. */
type Tree = ReadonlyMap<string, string>;

/** A folder imports from itself and from the folders before it. src/std stands in for published packages: all may use it. */
const LAYERS = [
  "std",
  "core",
  "equations",
  "reference",
  "vectors",
  "logs",
  "tokens",
  "producers",
  "diagnose",
  "compare",
  "gpu",
  "kernels",
  "model",
  "gym",
  "rollout",
  "rl",
  "faults",
  "files",
  "sandbox",
  "tuning",
  "run",
  "sweep",
  "bench",
  "lab",
  "report",
  "live",
  "watch",
  "cli",
];

/** Imports that the order of the layers would allow. Only tests see both sides of a quartet. */
const FORBIDDEN_IMPORTS: readonly (readonly [string, string])[] = [
  ["reference", "gpu"],
  ["kernels", "reference"],
];

/** Kernel files without a reference and a test of the same name, with the reason. */
const NO_QUARTET: Readonly<Record<string, string>> = {};

const MAX_LINES = 400;

/** The layer of a path: `src/gpu/device.ts` → `gpu`, `cli/main.ts` → `cli`; mod.ts and tests have none. */
function layerOf(path: string): string | undefined {
  return path.startsWith("cli/") ? "cli" : /^src\/([^/]+)\//.exec(path)?.[1];
}

function importsOf(path: string, source: string): string[] {
  const specifiers = withoutComments(source).matchAll(
    /(?:\bfrom|\bimport)\s*\(?\s*["']([^"']+)["']/g,
  );
  return Array.from(specifiers, ([, specifier = ""]) => {
    if (!specifier.startsWith(".")) return specifier;
    return new URL(specifier, `file:///${path}`).pathname.slice(1);
  });
}

function layerViolations(tree: Tree): string[] {
  const found: string[] = [];
  for (const [path, source] of tree) {
    const own = layerOf(path);
    if (own === undefined || !/\.[tj]s$/.test(path)) continue;
    if (!LAYERS.includes(own)) {
      found.push(`${path}: ${own} is not a layer; choose one of ${LAYERS}`);
    }
    for (const target of importsOf(path, source)) {
      const other = layerOf(target);
      if (/^(npm|jsr|https?):/.test(target)) {
        found.push(`${path}: ${target} must be named in deno.json`);
      }
      if (target.startsWith("tests/")) found.push(`${path}: it imports a test`);
      if (other === undefined) continue;
      const isBelow = LAYERS.indexOf(other) > LAYERS.indexOf(own);
      const isForbidden = FORBIDDEN_IMPORTS.some(([from, to]) => from === own && to === other);
      if (isBelow || isForbidden) found.push(`${path}: ${own} must not import ${target}`);
    }
    // What stands above src/files runs in a browser as well: files, processes and the terminal begin there.
    const isAboveFiles = own !== "std" && LAYERS.indexOf(own) < LAYERS.indexOf("files");
    const usesHost = /\bDeno\./.test(withoutCommentsAndTexts(source)) ||
      importsOf(path, source).some((specifier) => specifier.startsWith("node:"));
    // A page is made of data, also in a browser: reading and writing stand apart.
    const [, page] = /^src\/(report|live)\/(?!files\/)/.exec(path) ?? [];
    if (page !== undefined && usesHost) {
      found.push(`${path}: pages must not use Deno or Node; src/${page}/files may`);
    }
    if (isAboveFiles && usesHost) found.push(`${path}: ${own} must not use Deno or Node`);
  }
  return found;
}

/**
 * Files that import each other, directly or through others, types included (Tarjan's strongly connected components): such
 * files can only be understood, moved and tested together.
 */
function circleViolations(tree: Tree): string[] {
  const targets = new Map(
    Array.from(tree).filter(([path]) => /^(src|cli)\/.*\.[tj]s$|^mod\.ts$/.test(path))
      .map(([path, source]) => [path, importsOf(path, source)] as const),
  );
  const found: string[] = [];
  const order = new Map<string, number>();
  const lowest = new Map<string, number>();
  const open: string[] = [];
  const visit = (path: string) => {
    order.set(path, order.size);
    lowest.set(path, order.get(path)!);
    open.push(path);
    for (const target of targets.get(path)!) {
      if (!targets.has(target)) continue;
      if (!order.has(target)) visit(target);
      if (open.includes(target)) {
        lowest.set(path, Math.min(lowest.get(path)!, lowest.get(target)!));
      }
    }
    if (lowest.get(path) !== order.get(path)) return;
    const circle = open.splice(open.indexOf(path));
    if (circle.length > 1 || targets.get(path)!.includes(path)) {
      found.push(`${circle.sort().join(", ")}: these files import each other in a circle`);
    }
  };
  for (const path of targets.keys()) if (!order.has(path)) visit(path);
  return found;
}

/** Programs of their own, whose answer is what they print; so are the examples of docs/. */
const PROGRAMS = ["cli/readback_selftest.ts", "src/sandbox/sandbox.js"];

const NO_CONSOLE = [
  /\bconsole\.\w/,
  "a stream that is closed would end the work: use src/files/terminal.ts",
] as const;

function sourceViolations(tree: Tree): string[] {
  const found: string[] = [];
  const rules: readonly (readonly [RegExp, string])[] = [
    [/[:<|&,(]\s*any\b|\bas any\b/, "`any` takes the types away"],
    [/\benum\s+\w+\s*\{/, "an enum is not TypeScript that can be erased"],
    [/\bclass\s+\w+\s+extends\s+(?!\w*Error\b)/, "only errors inherit"],
    [/^(?:export )?(?:let|var) /m, "a module must hold no state"],
    [/[\w)\]]!(?:[.;,)\]]|\[)/, "a non-null `!` hides a case"],
  ];
  for (const [path, source] of tree) {
    const lines = source.trimEnd().split("\n");
    if (lines.length > MAX_LINES) found.push(`${path}: ${lines.length} of ${MAX_LINES} lines`);
    const isShell = lines[0]?.startsWith("#!");
    const purpose = lines[isShell || lines[0] === "/**" ? 1 : 0] ?? "";
    if (!/^(\/\*\*|\/\/| \*|#) \S/.test(purpose)) {
      found.push(`${path}: the first line must say what the file is for`);
    }
    // src/std repeats signatures of published packages.
    if (!/\.[tj]s$/.test(path) || path.startsWith("tests/") || path.startsWith("src/std/")) {
      continue;
    }
    const isProgram = path.startsWith("docs/") || PROGRAMS.includes(path);
    for (const [pattern, reason] of isProgram ? rules : [...rules, NO_CONSOLE]) {
      if (pattern.test(withoutCommentsAndTexts(source))) found.push(`${path}: ${reason}`);
    }
  }
  return found;
}

/** Stems of the shader files that are kernels; the others hold functions that kernels share. */
function entryPointStems(tree: Tree): string[] {
  return Array.from(tree)
    .filter(([path, source]) =>
      path.startsWith("shaders/") && withoutComments(source).includes("@compute")
    )
    .map(([path]) => path.slice("shaders/".length, -".wgsl".length));
}

/**
 * An op is a file in src/kernels. It holds the specs of its entry points (forward, backward, …), and its reference and test
 * carry its name: shaders/layernorm_forward.wgsl → src/kernels/layernorm.ts → src/reference/layernorm.ts, tests/kernels/layernorm_test.ts.
 * An entry point of another folder (a self-test, a rollout) has its spec there, and a test of that folder.
 */
function quartetViolations(tree: Tree): string[] {
  const found: string[] = [];
  for (const stem of entryPointStems(tree)) {
    const owners = Array.from(tree.keys()).filter((path) =>
      path.startsWith("src/") &&
      importsOf(path, tree.get(path) ?? "").includes(`#shaders/${stem}.wgsl`)
    );
    const [owner, second] = owners;
    if (owner === undefined) {
      found.push(`shaders/${stem}.wgsl: no file in src has a spec of it`);
    } else if (second !== undefined) {
      found.push(`shaders/${stem}.wgsl: ${owners.join(" and ")} both have a spec of it`);
    } else {
      const [, folder = "", op = ""] = /^src\/([^/]+)\/([^/]+)\.ts$/.exec(owner) ?? [];
      if (Object.hasOwn(NO_QUARTET, op)) continue;
      const needed = [`tests/${folder}/${op}_test.ts`];
      // The policy loss's specification is the host's own equation of it.
      const isEquation = folder === "kernels" && tree.has(`src/equations/${op}.ts`);
      if (folder === "kernels" && !isEquation) needed.push(`src/reference/${op}.ts`);
      for (const path of needed) {
        if (!tree.has(path)) found.push(`shaders/${stem}.wgsl: ${path} is missing`);
      }
    }
  }
  return found;
}

function shaderViolations(tree: Tree): string[] {
  const found: string[] = [];
  const rules: readonly (readonly [RegExp, string])[] = [
    [/\bdot\s*\(/, "dot() sums in an order of the driver's choice"],
    [/\btanh\s*\(/, "tanh() differs between implementations"],
    [/\batomic\w*\s*<\s*f32\s*>|\batomic\w+\s*\([^;]*bitcast/, "float atomics add in any order"],
  ];
  for (const [path, source] of tree) {
    if (!path.endsWith(".wgsl")) continue;
    const stem = path.slice("shaders/".length, -".wgsl".length);
    const lines = source.split("\n");
    const code = withoutComments(source);
    const isKernel = code.includes("@compute");
    if (isKernel) {
      const names = Array.from(code.matchAll(/@compute\b[^{]*?\bfn\s+(\w+)/g), ([, name]) => name);
      if (names.join() !== stem) found.push(`${path}: its entry point is ${names}, not ${stem}`);
      const headerLines = lines.findIndex((line) => !line.startsWith("//"));
      if (headerLines < 5 || headerLines > 12) {
        found.push(`${path}: its header has ${headerLines} lines, required are 5 to 12`);
      }
    }
    if (!source.startsWith(`// ${stem}: `)) {
      found.push(`${path}: it must begin with "// ${stem}: "`);
    }
    if (source.includes("\t")) found.push(`${path}: it holds a tab`);
    const wide = lines.findIndex((line) => line.length > 120);
    if (wide >= 0) found.push(`${path}:${wide + 1}: the line is wider than 120 columns`);
    for (const [pattern, reason] of rules) {
      if (pattern.test(code)) found.push(`${path}: ${reason}`);
    }
  }
  return found;
}

/** mod.ts offers what the folders export and adds nothing. */
function apiViolations(tree: Tree): string[] {
  const source = withoutComments(tree.get("mod.ts") ?? "");
  const rest = source.replace(/export (?:type )?\{[^}]*\} from "\.\/src\/[^"]+";/g, "").trim();
  return rest === "" ? [] : [`mod.ts: only re-exports of src are allowed, found ${rest}`];
}

/** Every command has a row in the launcher's table, or it runs without permissions and without an adapter. */
function launcherViolations(tree: Tree, commands: readonly string[]): string[] {
  const launcher = tree.get("cli/agentrl") ?? "";
  const rows = Array.from(launcher.matchAll(/^ {2}([\w |]+)\)/gm), ([, names = ""]) => names);
  const known = new Set(rows.flatMap((names) => names.split(/[ |]+/)));
  return commands.filter((name) => !known.has(name))
    .map((name) => `cli/agentrl: the table of permissions has no row for ${name}`);
}

/** Reads the files whose text the rules are about. */
function readTree(): Tree {
  const root = new URL("../", import.meta.url);
  const tree = new Map<string, string>();
  const read = (path: string) => tree.set(path, Deno.readTextFileSync(new URL(path, root)));
  const walk = (folder: string) => {
    for (const { name, isDirectory } of Deno.readDirSync(new URL(folder, root))) {
      if (isDirectory) walk(`${folder}${name}/`);
      else if (/\.(ts|js|wgsl)$/.test(name)) read(`${folder}${name}`);
    }
  };
  for (const folder of ["src/", "cli/", "tests/", "shaders/", "docs/"]) walk(folder);
  read("mod.ts");
  read("cli/agentrl");
  return tree;
}

const RULES = {
  "imports follow the layers and the host stays below src/files": layerViolations,
  "no files import each other in a circle": circleViolations,
  "files are short, say what they are for, and avoid what hides mistakes": sourceViolations,
  "every kernel has a spec, a reference and a test": quartetViolations,
  "shaders have headers and sum in a fixed order": shaderViolations,
  "mod.ts holds re-exports only": apiViolations,
  "libraries hold no words of the command line": (tree) => wordViolations(tree),
} as const satisfies Record<string, (tree: Tree) => string[]>;

for (const [rule, violations] of Object.entries(RULES)) {
  Deno.test(`architecture: ${rule}`, () => assertEquals(violations(readTree()), []));
}

Deno.test("architecture: README.md and docs/extending.md list the layers in their order", () => {
  const namesIn = (path: string, pattern: RegExp) =>
    Deno.readTextFileSync(new URL(`../${path}`, import.meta.url)).match(pattern);
  assertEquals([...namesIn("README.md", /(?<=^ {4}src\/)\w+(?=\/ )/gm) ?? [], "cli"], LAYERS);
  const rooms = namesIn("docs/extending.md", /^\| `[^|]+/gm)?.join().match(/(?<=`)\w+(?=`)/g);
  assertEquals(["std", ...rooms ?? []], LAYERS);
});

Deno.test("architecture: the launcher knows every command", () => {
  assertEquals(launcherViolations(readTree(), Object.keys(COMMANDS)), []);
});

Deno.test("architecture: each rule finds its planted violation and nothing in a right tree", () => {
  const header = "// k_forward: y = x\n//\n//\n//\n// Source.\n";
  const kernel = `${header}@compute @workgroup_size(64)\nfn k_forward() {}\n`;
  const spec = '/** K. */\nimport wgsl from "#shaders/k_forward.wgsl" with { type: "text" };\n';
  const right: Tree = new Map([
    ["shaders/k_forward.wgsl", kernel],
    ["src/kernels/k.ts", `${spec}import { a } from "../gpu/a.ts"; // not Deno. or any\n`],
    ["src/reference/k.ts", '/** K. */\nconst url = "http://x: any";\nif (a !== b) c = !d;\n'],
    ["tests/kernels/k_test.ts", "/** K. */\n"],
    ["mod.ts", '/** All. */\nexport { k, type K } from "./src/kernels/k.ts";\n'],
  ]);
  const all = (tree: Tree) => Object.values(RULES).flatMap((rule) => rule(tree));
  assertEquals(all(right), []);

  const planted: readonly (readonly [string, string, string])[] = [
    ["src/core/a.ts", '/** A. */\nimport "../gpu/b.ts";\n', "core must not import src/gpu/b.ts"],
    ["cli/a.ts", "/** A. */\nconsole.error(1);\n", "use src/files/terminal.ts"],
    ["src/sandbox/a.js", "/** A. */\nlet a = 1;\n", "no state"],
    ["cli/a.js", '/** A. */\nimport {} from "npm:zod";\n', "must be named in deno.json"],
    ["docs/examples/a.ts", "/** A. */\nenum A { B }\n", "enum"],
    [
      "src/core/a.ts",
      '/** A. */\nawait import("../rl/b.ts");\n',
      "core must not import src/rl/b.ts",
    ],
    ["src/reference/a.ts", '/** A. */\nexport * from "../gpu/b.ts";\n', "must not import src/gpu/"],
    [
      "src/kernels/a.ts",
      '/** A. */\nimport {} from "../reference/k.ts";\n',
      "must not import src/ref",
    ],
    ["src/core/a.ts", '/** A. */\nimport {} from "npm:zod";\n', "must be named in deno.json"],
    ["src/utils/a.ts", "/** A. */\n", "utils is not a layer"],
    ["src/rl/a.ts", "/** A. */\nDeno.cwd();\n", "rl must not use Deno"],
    ["src/rl/a.ts", '/** A. */\nimport {} from "node:fs";\n', "rl must not use Deno or Node"],
    ["src/report/a.ts", "/** A. */\nDeno.cwd();\n", "pages must not use Deno or Node"],
    ["src/gym/a.js", '/** A. */\nimport { b } from "node:vm";\n', "gym must not use Deno or Node"],
    ["src/rl/a.ts", "const a = 1;\n", "first line must say"],
    ["src/rl/a.ts", `/** A. */\n${"\n".repeat(400)}a;`, "402 of 400 lines"],
    ["src/rl/a.ts", "/** A. */\nfunction f(a: any) {}\n", "`any`"],
    ["src/rl/a.ts", "/** A. */\nenum A { B }\n", "enum"],
    ["src/rl/a.ts", "/** A. */\nclass A extends Map {}\n", "only errors inherit"],
    ["src/rl/a.ts", "/** A. */\nlet a = 1;\n", "no state"],
    ["src/rl/a.ts", "/** A. */\nf(a[0]!.b);\n", "non-null"],
    ["shaders/l.wgsl", kernel.replaceAll("k_forward", "l"), "no file in src has a spec"],
    ["src/model/k.ts", spec, "both have a spec"],
    ["shaders/k_forward.wgsl", kernel.replace("fn k_forward", "fn main"), "entry point is main"],
    ["shaders/k_forward.wgsl", kernel.replace("//\n//\n", ""), "header has 3 lines"],
    [
      "shaders/k_forward.wgsl",
      kernel.replace("// k_f", "// f"),
      'must begin with "// k_forward: "',
    ],
    ["shaders/k_forward.wgsl", kernel.replace("{}", "{\t}"), "tab"],
    ["shaders/k_forward.wgsl", kernel.replace("{}", `{${" ".repeat(120)}}`), "wider than 120"],
    ["shaders/k_forward.wgsl", kernel.replace("{}", "{ dot (a, b); }"), "dot()"],
    ["shaders/k_forward.wgsl", kernel.replace("{}", "{ tanh(a); }"), "tanh()"],
    [
      "shaders/k_forward.wgsl",
      kernel.replace("{}", "{ atomicMax(&a, bitcast<u32>(b)); }"),
      "atomics",
    ],
    ["mod.ts", "/** All. */\nexport const a = 1;\n", "only re-exports"],
    ["src/rl/a.ts", '/** A. */\nconst a = "see --lr";\n', "--lr is a word of the command line"],
  ];
  for (const [path, source, reason] of planted) {
    const found = all(new Map([...right, [path, source]]));
    assert(
      found.some((text) => text.includes(reason)),
      `${reason}: found ${JSON.stringify(found)}`,
    );
  }
  const circle = new Map([
    ...right,
    ["src/core/a.ts", '/** A. */\nimport type { B } from "./b.ts";\n'],
    ["src/core/b.ts", '/** B. */\nexport * from "./c.js";\n'],
    ["src/core/c.js", '/** C. */\nawait import("./a.ts");\n'],
    ["src/core/d.ts", '/** D. Needs the circle and is not in it. */\nimport "./a.ts";\n'],
  ]);
  assertEquals(all(circle), [
    "src/core/a.ts, src/core/b.ts, src/core/c.js: these files import each other in a circle",
  ]);
  for (const missing of ["src/reference/k.ts", "tests/kernels/k_test.ts"]) {
    const found = all(new Map([...right].filter(([path]) => path !== missing)));
    assertEquals(found, [`shaders/k_forward.wgsl: ${missing} is missing`]);
  }
  assertEquals(
    launcherViolations(new Map([["cli/agentrl", "  a | b) ;;\n"]]), ["b", "c"]).length,
    1,
  );
});
