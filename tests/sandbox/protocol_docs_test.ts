/** Holds docs/environments.md to the protocol: its conversation, and the keys of every answer. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { z } from "zod";
import { markdownTable } from "../../src/core/markdown_table.ts";
import { helloSchema, SLOT_ANSWERS } from "../../src/sandbox/environment_protocol.ts";
import { playedModule } from "../../src/sandbox/played_module.ts";
import { schemaRows } from "../docs/schema_table.ts";
import higherLower from "../python/higher_lower.ts";
import { CONVERSATION } from "./conversation.ts";

const PAGE = Deno.readTextFileSync(new URL("../../docs/environments.md", import.meta.url));

/** The keys of a schema, but those that every answer has. */
function rowsOf(schema: z.ZodType, before: readonly string[]): string[][] {
  const json = JSON.parse(JSON.stringify(z.toJSONSchema(schema)));
  return schemaRows(json)
    .filter(([path]) => !["slot", "error?", "lost?"].includes(path))
    .map(([path, type, what]) => [...before, `\`${path}\``, type, what]);
}

Deno.test("docs/environments.md lists every key of an answer", () => {
  const hello = markdownTable(["key", "type", "what"], rowsOf(helloSchema, []));
  const answers = markdownTable(
    ["answer to", "key", "type", "what"],
    Object.entries(SLOT_ANSWERS).flatMap(([type, schema]) => rowsOf(schema, [`\`${type}\``])),
  );
  for (const table of [hello, answers]) {
    assert(table.length > 10);
    assertStringIncludes(PAGE, table.join("\n"));
  }
});

Deno.test("docs/environments.md shows what the environment of its Python example says", async () => {
  assertEquals(CONVERSATION.map(({ asked }) => asked.type), ["hello", "reset", "step"]);
  const said: { id: number; answers?: { slot: number; info?: object }[] }[] = [];
  const answer = playedModule({
    load: () => Promise.resolve(higherLower),
    say: (line) => said.push(JSON.parse(line)),
  });
  for (const { asked, answered } of CONVERSATION) {
    await answer(JSON.stringify(asked));
    const parts = said.splice(0);
    if (answered.answers === undefined) {
      const { taskCount } = higherLower.create().spec;
      const spec = { ...Reflect.get(answered, "spec"), taskCount };
      assertEquals<unknown>(parts, [{ ...answered, spec, demonstrations: false }]);
      continue;
    }
    // A module says more of an episode than the Python program, which leaves the rest to its reader.
    const answers = parts.flatMap((part) => part.answers ?? []).map(({ info, ...rest }) => {
      if (info === undefined) return rest;
      const { task: _task, turns: _turns, calls: _calls, ...own } = info as Record<string, unknown>;
      return { ...rest, info: own };
    });
    assertEquals<unknown>(answers, answered.answers);
  }
});
