/** What triage says of a run of ours beside its metrics: the tokens of its recorded episodes. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { triageOwnRun } from "../../cli/own_run.ts";
import { HEALTHY_REFERENCE_FILE } from "../../src/faults/healthy_reference.ts";
import { MAX_JUDGED_BYTES } from "../../src/files/own_run.ts";
import { withFolder } from "../files/with_folder.ts";

const jsonl = (rows: readonly unknown[]) => rows.map((row) => `${JSON.stringify(row)}\n`).join("");

/** Episodes that differ; of one group, all with the same reward. */
function episodes(stop: string) {
  return Array.from({ length: 8 }, (_, n) => ({
    step: 0,
    episode: n,
    group: 0,
    tokens: [1, 2, 3 + n, 20, 21 + n],
    owners: [1, 1, 1, 2, 2],
    logps: [0, 0, 0, -2 - n / 8, -3],
    reward: 0,
    info: { task: "clamp", stop },
  }));
}

Deno.test("triageOwnRun() judges the tokens of recorded episodes together with the metrics", () =>
  withFolder(async (folder) => {
    Deno.writeTextFileSync(
      `${folder}/metrics.jsonl`,
      jsonl(HEALTHY_REFERENCE_FILE.seeds[0]!.rows),
    );
    const triage = () => triageOwnRun(folder, { strict: false });
    const alone = await triage();
    assertStringIncludes(alone.text, "tokens    no episodes recorded");

    Deno.writeTextFileSync(`${folder}/episodes.jsonl`, jsonl(episodes("submit")));
    const quiet = await triage();
    assertStringIncludes(quiet.text, "40 in 8 recorded episodes: nothing found");

    Deno.writeTextFileSync(`${folder}/episodes.jsonl`, jsonl(episodes("error")));
    const loud = await triage();
    assertStringIncludes(loud.text, "40 in 8 recorded episodes: 1 finding");
    // Above the long list of what cannot be checked.
    const [said] = loud.text.split("\n\nNot checkable");
    assertStringIncludes(said!, "Suspect: worth a look\n  errors_paid_as_zero");
    const { dump, findings } = loud.document as {
      dump: { sequences: number };
      findings: readonly { id: string }[];
    };
    assertEquals(dump.sequences, 8);
    assert(findings.some(({ id }) => id === "errors_paid_as_zero"));
    assertEquals((await triageOwnRun(folder, { strict: true })).exitCode, 3);

    // More than is judged on the way: the command that judges it is named instead.
    Deno.truncateSync(`${folder}/episodes.jsonl`, MAX_JUDGED_BYTES + 1);
    const large = (await triage()).text.replaceAll(/\s+/g, " ");
    assertStringIncludes(large, `cli/agentrl check --tokens ${folder}`);
  }));
