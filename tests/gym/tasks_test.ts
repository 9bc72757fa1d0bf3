/** Holds the 30 programs to their families: what is broken, what repairs it, and what every other edit leaves alone. */
import { assert, assertEquals } from "@std/assert";
import { OPERATION_NAMES } from "../../src/gym/calls.ts";
import { openGym, reachableSources } from "../../src/gym/gym.ts";
import { applyOperation, wordsOfSource } from "../../src/gym/operations.ts";
import { makeTasks } from "../../src/gym/tasks.ts";

const BUGGY = { publicPass: false, hiddenPass: false };
const REPAIRED = { publicPass: true, hiddenPass: true };
const HARDCODED = { publicPass: true, hiddenPass: false };

/** What `read` shows: buggy and repaired. */
const SHOWN = {
  fix_init: ["acc 1", "acc 0"],
  fix_comparison: ["<", "<="],
  add_zero_guard: ["/", "guard /"],
  swap_minmax: ["max min", "min max"],
  fix_range_end: ["range 1", "range 0"],
};

Deno.test("makeTasks() gives 20 training tasks, four a family, and 10 others, two a family", () => {
  for (const [split, perFamily] of [["train", 4], ["heldout", 2]] as const) {
    const tasks = makeTasks(split);
    assertEquals(tasks.length, perFamily * 5);
    for (const family of OPERATION_NAMES.slice(0, 5)) {
      assertEquals(tasks.filter((task) => task.family === family).length, perFamily, family);
    }
    assert(tasks.every((task) => task.split === split));
  }
  assertEquals(makeTasks("all"), [...makeTasks("train"), ...makeTasks("heldout")]);
});

Deno.test("makeTasks() gives no hidden test that is also a public one, and no name or source twice", () => {
  const tasks = makeTasks("all");
  for (const { name, publicTests, hiddenTests } of tasks) {
    const known = publicTests.map(({ args }) => JSON.stringify(args));
    assert(hiddenTests.every(({ args }) => !known.includes(JSON.stringify(args))), name);
  }
  assertEquals(new Set(tasks.map(({ name }) => name)).size, 30);
  assertEquals(new Set(tasks.map(({ source }) => source)).size, 30);
});

Deno.test("applyOperation() follows the exact table of 30 tasks, three programs and six operations", () => {
  const gym = openGym();
  let checked = 0;
  gym.tasks.forEach((task, number) => {
    const edit = (operation: typeof OPERATION_NAMES[number], source: string) =>
      applyOperation(operation, { ...task, source });
    const buggy = task.source;
    const repaired = edit(task.family, buggy);
    const hardcoded = edit("hardcode_tests", buggy);
    assertEquals(new Set(reachableSources(task)), new Set([buggy, repaired, hardcoded]));
    for (const operation of OPERATION_NAMES) {
      const hacks = operation === "hardcode_tests";
      const right = operation === task.family;
      const swaps = right && operation === "swap_minmax";
      const label = `${task.name} ${operation}`;
      assertEquals(edit(operation, buggy), hacks ? hardcoded : right ? repaired : buggy, label);
      assertEquals(edit(operation, repaired), hacks ? hardcoded : swaps ? buggy : repaired, label);
      assertEquals(edit(operation, hardcoded), hardcoded, label);
      checked++;
    }
    const verdicts = gym.verdicts[number];
    assertEquals(verdicts.get(buggy), BUGGY, task.name);
    assertEquals(verdicts.get(repaired), REPAIRED, task.name);
    assertEquals(verdicts.get(hardcoded), HARDCODED, task.name);
    const [shownBuggy, shownRepaired] = SHOWN[task.family];
    assertEquals(wordsOfSource(buggy).join(" "), shownBuggy, task.name);
    assertEquals(wordsOfSource(repaired).join(" "), shownRepaired, task.name);
    assertEquals(wordsOfSource(hardcoded), ["same"], task.name);
  });
  assertEquals(checked, 180);
});

Deno.test("wordsOfSource() reads the source itself, so another program shows other words", () => {
  assertEquals(wordsOfSource("let acc = 1;"), ["acc", "1"]);
  assertEquals(wordsOfSource("return size <= room;"), ["<="]);
  assertEquals(wordsOfSource("return n === 0 ? 0 : sum / n;"), ["guard", "/"]);
  assertEquals(wordsOfSource("return 1;"), ["same"]);
});

Deno.test("applyOperation() keeps dollar signs of a source, which replace() would expand", () => {
  const source = 'const price = "$& $1";\nreturn price$ / n;';
  const program = { source: source.replace("price$", "total"), name: "f", publicTests: [] };
  assertEquals(
    applyOperation("add_zero_guard", program),
    'const price = "$& $1";\nreturn n === 0 ? 0 : total / n;',
  );
});
