/** Tests of cli/words.ts: mentions as flags and commands, and that all which libraries mention are there. */
import { assert, assertEquals } from "@std/assert";
import { COMMON_FLAGS, spellingsOf } from "../../cli/flags.ts";
import { COMMANDS } from "../../cli/registry.ts";
import { flagOf, mentionWords, say } from "../../cli/words.ts";
import { command, sentence, setting } from "../../src/core/mention.ts";

Deno.test("say() writes settings as flags, with what to give them", () => {
  const said = sentence`rename it with ${setting("map", "train/global_step=NAME")}`;
  assertEquals(say(said), "rename it with --map train/global_step=NAME");
  assertEquals(
    say(sentence`say so with ${setting("updatesPerBatch")}.`),
    "say so with --updates-per-batch.",
  );
  assertEquals(
    say(sentence`go on with ${setting("resume")} ${setting("ignoreChecks")}`),
    "go on with --resume --no-gate",
  );
});

Deno.test("mentionWords() writes a command for a shell, each value once and quoted", () => {
  const train = command("train", {
    algorithm: "grpo",
    seed: 0,
    resume: false,
    ignoreChecks: true,
    out: "it's",
    sets: ["lr=0.1", "betas=[0.9,0.95]"],
  });
  assertEquals(
    mentionWords(train),
    "cli/agentrl train --algo grpo --seed 0 --no-gate --out 'it'\\''s' --set lr=0.1 --set 'betas=[0.9,0.95]'",
  );
  assertEquals(
    mentionWords(command("bench", { json: true }, { subjects: ["train"] })),
    "cli/agentrl bench train --json",
  );
});

/** What libraries mention, as it is in their sources. */
function mentionsIn(kind: "setting" | "command"): Set<string> {
  const found = new Set<string>();
  const walk = (folder: URL) => {
    for (const { name, isDirectory } of Deno.readDirSync(folder)) {
      if (isDirectory) walk(new URL(`${name}/`, folder));
      else if (name.endsWith(".ts")) {
        const source = Deno.readTextFileSync(new URL(name, folder));
        const mentions = source.matchAll(new RegExp(`\\b${kind}\\(\\s*"(\\w+)"`, "g"));
        for (const [, mention] of mentions) found.add(mention);
      }
    }
  };
  walk(new URL("../../src/", import.meta.url));
  return found;
}

Deno.test("every setting that libraries mention is a flag, and every command is there", async () => {
  const commands = await Promise.all(Object.values(COMMANDS).map(({ load }) => load()));
  const flags = new Set(
    commands.flatMap((
      { command },
    ) => [...spellingsOf({ ...COMMON_FLAGS, ...command.flags }).keys()]),
  );
  const settings = mentionsIn("setting");
  assert(settings.has("klCoef") && settings.has("ignoreChecks"), "mentions are found");
  // `context.setting("x")` of the rules reads a log's setting of that name.
  const unknown = [...settings].filter((name) => !flags.has(flagOf(name)));
  assertEquals(unknown, []);
  assertEquals([...mentionsIn("command")].filter((name) => !Object.hasOwn(COMMANDS, name)), []);
});
