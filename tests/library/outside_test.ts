/** The library in a project of somebody else: its types under stricter settings than ours, and what its programs print. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { cpSync } from "node:fs";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

const STRICTEST = {
  strict: true,
  exactOptionalPropertyTypes: true,
  noImplicitOverride: true,
  noUncheckedIndexedAccess: true,
};

/**
 * Makes a project outside of the repository that imports agentrl from there. Its path is the same every time, so that Deno
 * remembers what it has type-checked.
 */
async function withProject(use: (folder: string) => Promise<void>): Promise<void> {
  const place = ROOT.replace(/\W+/g, "-");
  const folder = `${Deno.env.get("TMPDIR") ?? "/tmp"}/outside${place}`;
  await Deno.mkdir(folder, { recursive: true });
  try {
    for (const name of ["score.ts", "invariants.ts"]) {
      await Deno.copyFile(new URL(`project/${name}`, import.meta.url), `${folder}/${name}`);
    }
    const example = new URL("../../docs/examples/score_model.ts", import.meta.url);
    await Deno.copyFile(example, `${folder}/score_model.ts`);
    const imports = { agentrl: `${ROOT}mod.ts` };
    await Deno.writeTextFile(
      `${folder}/deno.json`,
      JSON.stringify({ imports, compilerOptions: STRICTEST }),
    );
    await use(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

async function deno(cwd: string, ...args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [...args],
    cwd,
    env: { NO_COLOR: "1" },
  }).output();
  const decoder = new TextDecoder();
  assertEquals(code, 0, decoder.decode(stderr));
  return decoder.decode(stdout) + (args[0] === "publish" ? decoder.decode(stderr) : "");
}

Deno.test("a project with noUncheckedIndexedAccess scores sequences, trains on them, and checks its own trainer", () =>
  withProject(async (folder) => {
    await deno(folder, "check", "--quiet", "score.ts", "invariants.ts", "score_model.ts");
    const { before, after, norms } = JSON.parse(await deno(folder, "run", "-A", "score.ts"));
    // An untrained model of 12 tokens is near −log 12 = −2.48; two sequences are soon known by heart.
    assert(Math.abs(before + Math.log(12)) < 0.5, `before ${before}`);
    assert(after > -0.1, `after ${after}`);
    assert(norms.length === 20 && norms.every((norm: number) => norm > 0), `${norms}`);
    const checked = JSON.parse(await deno(folder, "run", "invariants.ts"));
    assertEquals([checked.holding, checked.violatedByRight], [9, []]);
    assertEquals(checked.violatedByWrong.map(({ id }: { id: number }) => id), [8]);
  }));

Deno.test("agentrl can be published under a scoped name, without its tests", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const parts = [
      "src",
      "shaders",
      "cli",
      "tests",
      "mod.ts",
      "report.ts",
      "deno.lock",
      "README.md",
      "LICENSE",
    ];
    for (const name of parts) cpSync(`${ROOT}${name}`, `${folder}/${name}`, { recursive: true });
    const config = JSON.parse(await Deno.readTextFile(`${ROOT}deno.json`));
    await Deno.writeTextFile(
      `${folder}/deno.json`,
      JSON.stringify({ ...config, name: "@agentrl/agentrl" }),
    );
    // Types are checked elsewhere; what publishing asks beyond them is that exports say theirs.
    const said = await deno(folder, "publish", "--dry-run", "--allow-dirty", "--no-check");
    assertStringIncludes(said, "Dry run complete");
    for (const part of ["/mod.ts", "/shaders/sampling.wgsl", "/src/sandbox/sandbox.js"]) {
      assertStringIncludes(said, part);
    }
    assert(!said.includes(`${folder}/tests/`), said);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
