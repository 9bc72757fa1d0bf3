/** Environments of a user's as the launcher starts them: with the permission to start their processes, and no more for them. */
import { assertEquals, assertMatch } from "@std/assert";
import { withFolder } from "../files/with_folder.ts";
import { agentrl, assertRefused } from "./command_line.ts";

const THREE_DOORS = new URL("../../docs/examples/three_doors.ts", import.meta.url);

Deno.test("agentrl base --env plays a module outside of the repository, and one that reads elsewhere is refused", () =>
  withFolder(async (folder) => {
    const text = Deno.readTextFileSync(THREE_DOORS);
    Deno.writeTextFileSync(
      `${folder}/doors.ts`,
      `import { decode } from "agentrl";\n${text}\ndecode([1]);`,
    );
    // With such a variable, a Deno may start no program that it is allowed by name.
    const env = { LD_LIBRARY_PATH: folder };
    const base = (file: string, ...more: readonly string[]) =>
      agentrl(["base", "--env", `${folder}/${file}`, "--out", `${folder}/base`, ...more], env);
    const { code, stderr } = await base("doors.ts", "--kind", "untrained");
    assertEquals(code, 0, stderr);
    Deno.writeTextFileSync(`${folder}/spy.ts`, `Deno.readTextFileSync("/etc/hostname");\n${text}`);
    const spy = await base("spy.ts");
    assertRefused(spy, {
      code: 2,
      sentence: /spy\.ts: it cannot be loaded: Requires read access to "\/etc\/hostname"/,
    });
    assertMatch(
      (await base("spy.ts", "--allow-read", "/etc/hostname")).stderr,
      /has none; ask for/,
    );
  }));

Deno.test("agentrl check --env-command names a program that is not there", async () => {
  assertRefused(await agentrl(["check", "--env-command", "no-such-program 'my env.py'"]), {
    code: 2,
    sentence: /Cannot start the environment no-such-program 'my env\.py': there is no program/,
  });
});
