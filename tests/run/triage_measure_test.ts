/** Tests of src/run/triage_measure.ts: runs on disk, triaged with and without verdicts, against the healthy ones among them. */
import { assert, assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { measurementPage } from "../../cli/triage_table.ts";
import { say } from "../../cli/words.ts";
import { UserError } from "../../src/core/errors.ts";
import { answerOf } from "../../src/faults/confusion.ts";
import { HEALTHY_REFERENCE_FILE } from "../../src/faults/healthy_reference.ts";
import { INVARIANTS } from "../../src/diagnose/invariant_list.ts";
import { writeChecks } from "../../src/run/checks_file.ts";
import { runPaths } from "../../src/run/run_directory.ts";
import { measureTriage } from "../../src/run/triage_measure.ts";
import { withFolder } from "../files/with_folder.ts";

/** Writes a run whose only violated invariant is `violated`. */
function writeRun(
  path: string,
  run: { readonly rows: readonly Readonly<Record<string, number>>[]; readonly violated?: number },
): void {
  Deno.mkdirSync(path, { recursive: true });
  const lines = run.rows.map((row) => `${JSON.stringify(row)}\n`);
  Deno.writeTextFileSync(runPaths(path).metrics, lines.join(""));
  writeChecks(
    runPaths(path).checks,
    INVARIANTS.map(({ id, name, relation, boundReason }) => ({
      id,
      name,
      relation,
      boundReason,
      value: 1,
      bound: 0,
      reason: "made up",
      verdict: id === run.violated ? "violated" : "holds",
    })),
  );
}

Deno.test("measureTriage() pins the healthy runs and counts right and wrong answers", () =>
  withFolder((folder) => {
    const { seeds } = HEALTHY_REFERENCE_FILE;
    for (const { seed, rows } of seeds) writeRun(`${folder}/faults-seed${seed}/healthy`, { rows });
    const [{ rows } = { rows: [] }] = seeds;
    // Its metrics are those of a healthy run: only the verdict shows it.
    writeRun(`${folder}/faults-seed0/accum_local`, { rows, violated: 6 });
    Deno.mkdirSync(`${folder}/faults-seed0/lr_high`); // Not made yet.

    const { reference, withChecks, metricsOnly } = measureTriage(folder);
    assertEquals(reference, HEALTHY_REFERENCE_FILE);
    const answers = (runs: typeof withChecks) =>
      runs.map(({ name, seed, report }) => [name, seed, answerOf(report)]);
    assertEquals(answers(withChecks), [
      ["healthy", 0, "nothing-fired"],
      ["healthy", 1, "nothing-fired"],
      ["healthy", 2, "nothing-fired"],
      ["accum_local", 0, "accum_local"],
    ]);
    assertEquals(answers(metricsOnly).at(-1), ["accum_local", 0, "nothing-fired"]);
    const page = measurementPage({ reference, withChecks, metricsOnly });
    assertStringIncludes(page, "| accum_local |    1 | accum_local × 1");
    assertEquals(page.split("\n").filter((line) => line.startsWith("| accum_local")).length, 2);
    assert(page.split("\n").every((line) => line.length <= 100), "fits a page");
  }));

Deno.test("measureTriage() says which healthy run is missing and how to make it", () =>
  withFolder((folder) => {
    const error = assertThrows(() => measureTriage(folder), UserError);
    assertStringIncludes(say(error.sentence), "cli/agentrl faults --seed 0 --out ");
    assertThrows(() => measureTriage(`${folder}/none`), UserError, "there is no such file");
  }));
