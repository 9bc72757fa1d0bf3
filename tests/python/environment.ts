/**
 * The Python environment of docs/examples, played by python3: it says what docs/environments.md shows, and answers as the same
 * environment in a module does, in one process and in three. `deno task python`. Not a part of the suite, whose machine may
 * have no Python.
 */
import { assertEquals } from "@std/assert";
import { fileURLToPath } from "node:url";
import { openProgramEnvironment } from "../../src/sandbox/module_environment.ts";
import { CONVERSATION } from "../sandbox/conversation.ts";
import { scriptedPlay } from "../sandbox/scripted_play.ts";
import higherLower from "./higher_lower.ts";

const PROGRAM = fileURLToPath(
  new URL("../../docs/examples/environments/higher_lower.py", import.meta.url),
);

const child = new Deno.Command("python3", { args: [PROGRAM], stdin: "piped", stdout: "piped" })
  .spawn();
const output = child.output();
const writer = child.stdin.getWriter();
for (const { asked } of CONVERSATION) {
  await writer.write(new TextEncoder().encode(`${JSON.stringify(asked)}\r\n`));
}
await writer.close();
const lines = new TextDecoder().decode((await output).stdout).trim().split("\n");
assertEquals(lines.map((line) => JSON.parse(line)), CONVERSATION.map(({ answered }) => answered));
console.log(`${lines.length} answers as the page shows them`);

const options = {
  episodes: 64,
  callOf: ({ episode, turn }: { episode: number; turn: number }) => [(episode * 5 + turn * 3) % 11],
};
const expected = await scriptedPlay(higherLower, options);
for (const processes of [1, 3]) {
  await using pool = await openProgramEnvironment(["python3", PROGRAM], { processes });
  assertEquals(await scriptedPlay(pool.definition, options), expected);
  console.log(`${expected.length} episodes in ${processes} processes as in the module`);
}
