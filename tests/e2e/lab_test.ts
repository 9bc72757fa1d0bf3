/** The command `lab` from start to end: its document, its files, its tables in 80 columns, and what it refuses. */
import { assert, assertEquals } from "@std/assert";
import { withFolder } from "../files/with_folder.ts";
import { agentrl, assertRefused, namesIn } from "./command_line.ts";
import { agentrlHere, commandTest } from "./in_process.ts";

Deno.test("lab estimator detach prints one document and keeps a file for each", async () => {
  await withFolder(async (out) => {
    const first = await agentrl([
      ...["lab", "estimator", "detach", "--quick", "--out", out, "--json"],
    ]);
    assertEquals(first.code, 0, first.stderr);
    const document = JSON.parse(first.stdout);
    assertEquals([document.seed, document.quick, document.out], [0, true, out]);
    const names = document.experiments.map((record: { experiment: string }) => record.experiment);
    assertEquals(names, ["estimator", "detach"]);
    for (const { checks } of document.experiments) {
      assert(checks.length > 0 && checks.every(({ holds }: { holds: boolean }) => holds));
    }
    assertEquals(namesIn(out), ["detach.json", "estimator.json", "report.html"]);
    assertEquals(
      JSON.parse(Deno.readTextFileSync(`${out}/estimator.json`)),
      document.experiments[0],
    );
    // What is finished is shown again and not computed again.
    const again = await agentrl(["lab", "estimator", "detach", "--quick", "--out", out]);
    assertEquals(again.code, 0, again.stderr);
    assert(again.stderr.includes(`detach: 2 of 2 checks hold, from ${out}`), again.stderr);
    assert(again.stdout.includes("[quick: smaller sizes]") && again.stdout.includes("1.538"));
    const wide = again.stdout.split("\n").filter((line) => line.length > 80 && !line.includes(out));
    assertEquals(wide, []);
  });
});

commandTest("lab refuses unknown experiments and variants with one sentence", async () => {
  assertRefused(await agentrlHere(["lab", "estimater"]), {
    code: 2,
    sentence: /unknown experiment "estimater": did you mean "estimator"\?/,
  });
  assertRefused(await agentrlHere(["lab", "reinforce", "--variant", "blind"]), {
    code: 2,
    sentence: /reinforce has no variant "blind"/,
  });
});
