/** Tests of the rule about words of the command line: what it finds, and what only looks like them. */
import { assertEquals } from "@std/assert";
import { wordViolations } from "./library_words.ts";

const wordsIn = (source: string, path = "src/rl/a.ts") =>
  wordViolations(new Map([[path, source]])).map((sentence) => sentence.split(" is a ")[0]);

Deno.test("wordViolations() finds flags, the launcher and commands, also within templates", () => {
  assertEquals(wordsIn('const a = "say so with --kl-coef.";'), ["src/rl/a.ts: --kl-coef"]);
  assertEquals(wordsIn("const a = `lab${b ? ` --variant ${b}` : 1}`;"), [
    "src/rl/a.ts: --variant",
  ]);
  assertEquals(wordsIn('const a = "run `cli/agentrl info`";'), [
    "src/rl/a.ts: cli/agentrl",
    "src/rl/a.ts: agentrl info",
  ]);
  assertEquals(wordsIn('const a = "`agentrl formats` lists them";'), [
    "src/rl/a.ts: agentrl formats",
  ]);
});

Deno.test("wordViolations() passes comments, decrements, others' flags, cli and the name of the producer", () => {
  assertEquals(wordsIn("// As --kl-coef says.\n/** `--map` */\nif (--depth === 0) a--;"), []);
  assertEquals(wordsIn('const a = "agentrl"; const b = "a -- b --- c x--y";'), []);
  assertEquals(wordsIn('const a = "--beta";', "src/producers/trl.ts"), []);
  assertEquals(wordsIn('const a = "--beta";', "cli/a.ts"), []);
});
