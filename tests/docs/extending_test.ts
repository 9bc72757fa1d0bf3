/** Holds docs/extending.md to what it promises: each recipe is worked into a copy of the sources, and its thing then works. */
import { assert, assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { RECIPES, recipesText } from "../../docs/examples/extending/recipes.ts";
import { INVARIANTS } from "../../src/diagnose/invariant_list.ts";
import {
  apply,
  copySources,
  denoIn,
  inserted,
  movedExample,
  ROOT,
  withTree,
  writeProject,
} from "./extended_tree.ts";

const LAUNCH = ["run", "-A", "cli/main.ts"];

/** A log in a form that nobody read before: 40 rows in which the rewards stay and the learning rate is 0. */
function logfmtLog(): string {
  return Array.from(
    { length: 40 },
    (_, i) => `time=12:00:${i} level=info step=${i + 1} reward=0.3 entropy=1.5 learning_rate=0\n`,
  ).join("");
}

/** Words of a page without the line breaks and padding that formatting may move. */
const words = (text: string) => text.replace(/\s+/g, " ").trim();

Deno.test("docs/extending.md shows the files and lines of every recipe, and no others", () => {
  const page = Deno.readTextFileSync(`${ROOT}/docs/extending.md`);
  const [, shown = ""] = /<!-- recipes -->\n(.*)<!-- end of recipes -->/s.exec(page) ?? [];
  assertEquals(words(shown), words(recipesText()));
});

Deno.test("docs/environments.md shows Three Doors as it is in docs/examples", () => {
  const page = Deno.readTextFileSync(`${ROOT}/docs/environments.md`);
  const program = Deno.readTextFileSync(`${ROOT}/docs/examples/three_doors.ts`);
  assertStringIncludes(page, `\n\`\`\`ts ignore\n${program}\`\`\`\n`);
});

Deno.test("inserted() refuses a line that is not there exactly once", () => {
  const one = { path: "a.ts", after: "x", insert: ["y"] };
  assertEquals(inserted("w\nx\nz\n", one), "w\nx\ny\nz\n");
  assertEquals(inserted("w\nx\n", { path: "a.ts", before: "x", insert: ["v"] }), "w\nv\nx\n");
  for (const [text, count] of [["w\n", 0], ["x\nx\n", 2], ["x \n", 0]] as const) {
    assertThrows(
      () => inserted(text, one),
      Error,
      `a.ts: the line "x" must stand there once, found ${count}`,
    );
  }
  assertEquals(
    movedExample('import { a } from "../../../src/b/c.ts";\n', "src/b/d.ts"),
    'import { a } from "./c.ts";\n',
  );
});

// A type check of all sources, up to 12 s of CPU where one of them has changed; two steps of training, and seven short programs.
// The project outside stands here for that type check, which serves both.
Deno.test("each recipe of docs/extending.md can be worked in, type-checks, and works, as does a project that imports it", () =>
  withTree(async (outer) => {
    const [folder, project] = [`${outer}/agentrl`, `${outer}/project`];
    copySources(folder);
    writeProject(project, folder);
    for (const recipe of Object.values(RECIPES)) apply(recipe, folder);
    const programs = ["invariant", "objective", "environment"];
    const program = (name: string) => `docs/examples/extending/shows_${name}.ts`;
    const checked = ["cli/main.ts", ...programs.map(program)].map((path) => `${folder}/${path}`);
    await denoIn(project, "check", "-q", "report.ts", ...checked);
    const shown = async (name: string) => JSON.parse(await denoIn(folder, "run", program(name)));

    const log = `${folder}/run.log`;
    Deno.writeTextFileSync(log, logfmtLog());
    const { code, stdout } = await new Deno.Command(Deno.execPath(), {
      args: [...LAUNCH, "triage", log, "--json"],
      cwd: folder,
    }).output();
    const { source, first } = JSON.parse(new TextDecoder().decode(stdout));
    assertEquals([source.form, source.steps], ["logfmt", 40]);
    assertEquals([code, first], [3, "learning_rate_zero"]);

    const dump = `${folder}/labelled.jsonl`;
    const labelled = { input_ids: [5, 6, 7], labels: [-100, 6, 7], logprobs: [0, -1, -2] };
    Deno.writeTextFileSync(dump, `${JSON.stringify(labelled)}\n`);
    const judged = JSON.parse(await denoIn(folder, ...LAUNCH, "check", "--tokens", dump, "--json"));
    const { form, sequences, tokens, trained } = judged.source;
    assertEquals([form, sequences, tokens, trained], ["labelled", 1, 3, 2]);

    const sizeBytes = Number(await denoIn(project, "run", "-A", "report.ts", project));
    const journal = Deno.readTextFileSync(`${project}/report.html`);
    assertEquals(new TextEncoder().encode(journal).length, sizeBytes);
    assertStringIncludes(journal, "entropy");

    const report = `${folder}/report.html`;
    await denoIn(folder, ...LAUNCH, "report", log, "--out", report);
    const page = Deno.readTextFileSync(report);
    assertStringIncludes(page, '<a href="#extent">What was read</a>');
    assert(/<th scope="row">run\.log<\/th>\s*<td>40<\/td>/.test(page), "40 steps of run.log");

    assertEquals(await shown("invariant"), {
      checks: INVARIANTS.length + 1,
      name: "equal rewards, equal advantages",
      verdict: "violated",
      value: 0.6 - 0.4,
    });
    // A half for each of two episodes, spread over 4 and 2 tokens.
    const [eighth, quarter] = [1 / 8, 1 / 4];
    assertEquals(await shown("objective"), {
      surrogate: "clipped",
      weights: [eighth, eighth, eighth, eighth, quarter, quarter, 0, 0],
    });
    assertEquals(await shown("environment"), {
      prompt: [0],
      observations: [[5], [3]],
      done: true,
      reward: 1,
      stop: "opened",
    });

    const run = `${folder}/run`;
    const sets = ["problems=2", "groupSize=2", "maxTurns=2", "evalEvery=0", "minibatches=1"]
      .flatMap((set) => ["--set", set]);
    await denoIn(
      folder,
      ...[...LAUNCH, "train", "--bug", "only_winners", "--no-gate", "--base", "untrained"],
      ...["--steps", "2", "--out", run, ...sets],
    );
    assertEquals(JSON.parse(Deno.readTextFileSync(`${run}/config.json`)).bug, "only_winners");
    const checks = Deno.readTextFileSync(`${run}/checks.json`);
    assertStringIncludes(checks, "equal rewards, equal advantages");
    const rows = Deno.readTextFileSync(`${run}/metrics.jsonl`).trim().split("\n")
      .map((line) => JSON.parse(line));
    assertEquals(rows.map(({ step, reward_std }) => [step, typeof reward_std]), [
      [0, "number"],
      [1, "number"],
    ]);
    const { metrics } = JSON.parse(await denoIn(folder, ...LAUNCH, "metrics", "--json"));
    assertEquals([metrics.reward_std.unit, metrics.reward_std.healthy], ["reward", null]);
  }));
