/** The command `lab` from start to end: its document, its files, its tables in 80 columns, and what it refuses. */
import { assert, assertEquals } from "@std/assert";
import { withFolder } from "../files/with_folder.ts";
import { agentrl, assertRefused, namesIn } from "./command_line.ts";

Deno.test("lab estimator aggregation prints one document and keeps a file for each", async () => {
  await withFolder(async (out) => {
    const first = await agentrl([
      ...["lab", "estimator", "aggregation", "--quick", "--out", out, "--json"],
    ]);
    assertEquals(first.code, 0, first.stderr);
    const document = JSON.parse(first.stdout);
    assertEquals([document.seed, document.quick, document.out], [0, true, out]);
    const names = document.experiments.map((record: { experiment: string }) => record.experiment);
    assertEquals(names, ["estimator", "aggregation"]);
    for (const { checks } of document.experiments) {
      assert(checks.length > 0 && checks.every(({ holds }: { holds: boolean }) => holds));
    }
    assertEquals(namesIn(out), ["aggregation.json", "estimator.json", "report.html"]);
    assertEquals(
      JSON.parse(Deno.readTextFileSync(`${out}/estimator.json`)),
      document.experiments[0],
    );
    // What is finished is shown again and not computed again: nothing is cloned.
    const again = await agentrl(["lab", "estimator", "aggregation", "--quick", "--out", out]);
    assertEquals(again.code, 0, again.stderr);
    assert(again.stderr.includes(`aggregation: 4 of 4 checks hold, from ${out}`), again.stderr);
    assert(again.stdout.includes("[quick: smaller sizes]") && again.stdout.includes("0.0278"));
    const wide = again.stdout.split("\n").filter((line) => line.length > 80 && !line.includes(out));
    assertEquals(wide, []);
  });
});

Deno.test("lab refuses unknown experiments and variants with one sentence", async () => {
  assertRefused(await agentrl(["lab", "estimater"]), {
    code: 2,
    sentence: /unknown experiment "estimater": did you mean "estimator"\?/,
  });
  assertRefused(await agentrl(["lab", "reinforce", "--variant", "blind"]), {
    code: 2,
    sentence: /reinforce has no variant "blind"/,
  });
});
