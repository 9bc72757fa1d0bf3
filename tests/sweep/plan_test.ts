/** Tests of a sweep's file and plan: cells by hand, names that stay, and what is refused before any cell begins. */
import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { rulesOf } from "../../cli/sweep/cell_commands.ts";
import { UserError } from "../../src/core/errors.ts";
import { cellId, cellLabel, type CellRules, planSweep } from "../../src/sweep/plan.ts";
import { parseSweepFile, readSweepFile } from "../../src/sweep/sweep_file.ts";
import { withFolder } from "../files/with_folder.ts";

/** A command that takes any of three settings. */
const RULES: CellRules = {
  keys: ["a", "b", "c"],
  complete: (settings) => (seed) => ({ ...settings, seed }),
};

const plan = (value: unknown, rules = RULES) =>
  planSweep(parseSweepFile(value, "dir/my sweep.yaml"), rules);
const labels = (value: unknown) => plan(value).cells.map(cellLabel);

Deno.test("planSweep() begins all settings with one seed before the next, conditions before axes", () => {
  assertEquals(labels({ axes: { a: [1, 2], b: ["x", "y"] }, seeds: [3, 5] }), [
    "a=1, b=x, seed 3",
    "a=1, b=y, seed 3",
    "a=2, b=x, seed 3",
    "a=2, b=y, seed 3",
    "a=1, b=x, seed 5",
    "a=1, b=y, seed 5",
    "a=2, b=x, seed 5",
    "a=2, b=y, seed 5",
  ]);
  assertEquals(labels({ axes: { a: [1, 2] }, conditions: { p: { b: 1 }, q: null } }), [
    "p, a=1, seed 0",
    "p, a=2, seed 0",
    "q, a=1, seed 0",
    "q, a=2, seed 0",
  ]);
  assertEquals(labels({ seeds: 2 }), ["seed 0", "seed 1"]);
  assertEquals(labels({ seeds: { range: [4, 6], step: 1 } }), ["seed 4", "seed 5", "seed 6"]);
});

Deno.test("planSweep() moves axes together that are tied", () => {
  const axes = { a: [1, 2, 3], b: [7, 8], c: [4, 5, 6] };
  assertEquals(labels({ axes, together: [["c", "a"]] }).map((label) => label.slice(0, -8)), [
    "a=1, b=7, c=4",
    "a=1, b=8, c=4",
    "a=2, b=7, c=5",
    "a=2, b=8, c=5",
    "a=3, b=7, c=6",
    "a=3, b=8, c=6",
  ]);
});

Deno.test("planSweep() names the sweep by its file, and a cell by all that decides what it computes", async () => {
  assertEquals(plan({ seeds: 1 }).name, "my-sweep");
  assertEquals(cellId({ b: [1, 2], a: { d: 1, c: 2 } }), cellId({ a: { c: 2, d: 1 }, b: [1, 2] }));
  assert(cellId({ b: [1, 2] }) !== cellId({ b: [2, 1] }));
  const train = await rulesOf("train");
  const ids = (value: unknown) => plan(value, train).cells.map(({ id }) => id);
  // A default that is written out is the same run.
  assertEquals(ids({ settings: { lr: 0.001 } }), ids({}));
  assertEquals(ids({ axes: { lr: [0.001] }, seeds: [0] }), ids({}));
  assert(ids({ settings: { lr: 0.002 } })[0] !== ids({})[0]);
  assert(ids({ settings: { bug: "mask_shift" } })[0] !== ids({})[0]);
  assert(ids({ command: "train", seeds: [1] })[0] !== ids({})[0]);
});

const REFUSED: readonly (readonly [unknown, RegExp])[] = [
  [[], /its content is a list, but must be an object with axes and seeds/],
  [JSON.parse('{"axes": {"__proto__": [1]}}'), /unknown key "__proto__"/],
  [{ axis: {} }, /unknown key "axis": did you mean "axes"\?/],
  [{ command: "tran" }, /command is "tran", but must be one of train, faults, eval, lab/],
  [{ name: "a/b" }, /name is "a\/b", but must be 1 to 48 letters/],
  [{ settings: { a: { b: 1 } } }, /settings\.a is an object, but must be a number, text/],
  [{ settings: { d: 1 } }, /unknown key "settings\.d": choose one of a, b, c/],
  [{ axes: { d: [1] } }, /unknown key "axes\.d"/],
  [{ conditions: { x: { d: 1 } } }, /unknown key "conditions\.x\.d"/],
  [{ settings: { seed: 1 } }, /settings\.seed is not allowed: seeds stand under seeds/],
  [{ axes: { seed: [1] } }, /axes\.seed is not allowed/],
  [{ axes: { a: [1] }, conditions: { x: { a: 2 } } }, /conditions\.x\.a would override the axis a/],
  [{ seeds: 0 }, /seeds is 0, but must be a number of seeds/],
  [{ seeds: [] }, /seeds is empty/],
  [{ seeds: [1, -1] }, /seeds holds -1, but a seed is an integer from 0/],
  [{ seeds: [1, 1] }, /seeds holds 1 twice/],
  [
    { axes: { a: [1], b: [2] }, together: [["a", "bb"]] },
    /names "bb", which is not an axis: did you mean "b"/,
  ],
  [{ axes: { a: [1], b: [2, 3] }, together: [["a", "b"]] }, /ties a with 1 values to b with 2/],
  [{ axes: { a: [1] }, together: [["a", "a"]] }, /names a twice/],
  [
    { conditions: { x: { a: 1 }, y: { a: 1 } } },
    /cells x, seed 0 and y, seed 0 would be the same run/,
  ],
  [
    { axes: { a: { range: [1, 1000], step: 1 }, b: { range: [1, 1000], step: 1 } } },
    /it has 1,000,000 cells, and at most 200,000 are allowed/,
  ],
];

Deno.test("planSweep() refuses a wrong file with one sentence", () => {
  for (const [value, sentence] of REFUSED) {
    const error = assertThrows(() => plan(value), UserError);
    assert(sentence.test(error.message), `${JSON.stringify(value)}: ${error.message}`);
    assert(error.message.startsWith("Cannot use dir/my sweep.yaml: "), error.message);
  }
});

Deno.test("planSweep() checks every cell of a training by the trainer's own rules", async () => {
  const rules = await rulesOf("train");
  const refused = (value: unknown, sentence: RegExp) => {
    const error = assertThrows(() => plan(value, rules), UserError);
    assert(sentence.test(error.message), error.message);
  };
  refused({ axes: { lr: [0.1, 20] } }, /cell lr=20, seed 0: lr is 20 but must be at most 10/);
  refused({ axes: { clipHihg: [1] } }, /unknown key "axes\.clipHihg": did you mean "clipHigh"\?/);
  refused(
    { settings: { groupSize: 4 }, axes: { algorithm: ["grpo", "reinforce"] } },
    /cell algorithm=reinforce, seed 0: groupSize has no effect under reinforce; .* stand under conditions/,
  );
  refused({ settings: { minibatches: 512 } }, /512 minibatches × 1 microbatches/);
  refused({ settings: { bug: "mask_shfit" } }, /is not a fault: did you mean "mask_shift"/);
  refused({ settings: { gate: 1 } }, /gate is 1, but must be true or false/);
  refused({ settings: { base: "nowhere.safetensors" } }, /seed 0: .*nowhere\.safetensors/);
});

Deno.test("readSweepFile() reads YAML and JSON, and names the line of a mistake", () =>
  withFolder(async (folder) => {
    const write = (name: string, text: string) => {
      Deno.writeTextFileSync(`${folder}/${name}`, text);
      return `${folder}/${name}`;
    };
    const { axes, conditions, seeds } = await readSweepFile(write(
      "a.yaml",
      "# learning rates\naxes: { lr: { logRange: [1e-4, 1e-2], count: 3 } }\nseeds: 2\nconditions: { off: , no: { a: yes } }\n",
    ));
    assertEquals([...axes], [["lr", [1e-4, 1e-3, 1e-2]]]);
    // Texts of YAML 1.2: `no` and `yes` are no booleans.
    assertEquals([conditions, seeds], [{ off: {}, no: { a: "yes" } }, [0, 1]]);
    assertEquals((await readSweepFile(write("b.json", '{"seeds": [4]}'))).seeds, [4]);
    const refused = (name: string, text: string, sentence: string) =>
      assertRejects(() => readSweepFile(write(name, text)), UserError, sentence);
    await refused("c.yaml", "axes:\n  lr: [1\n", "is not valid YAML (");
    await refused("d.yml", "seeds: 1\nseeds: 2\n", "Map keys must be unique at line 2, column 1");
    await refused("e.json", "{", "is not valid JSON");
    await refused(
      "f.yaml",
      `a: &a [x, x, x, x, x, x, x, x, x]\n${"b: [*a, *a, *a]\n".repeat(1)}`,
      'unknown key "a"',
    );
    await refused("g.yaml", `#${"x".repeat(2 ** 20)}`, "it holds 1.0 MB");
  }));
