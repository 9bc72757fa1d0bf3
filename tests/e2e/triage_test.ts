/** Tests of `agentrl triage`: it reads metrics and verdicts and nothing else, and refuses bad files with one sentence. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { INVARIANTS } from "../../src/diagnose/invariant_list.ts";
import { HEALTHY_REFERENCE_FILE } from "../../src/faults/healthy_reference.ts";
import { withFolder } from "../files/with_folder.ts";
import { agentrl, assertRefused } from "./command_line.ts";

const jsonl = (rows: readonly unknown[]) => rows.map((row) => `${JSON.stringify(row)}\n`).join("");
const HEALTHY = HEALTHY_REFERENCE_FILE.seeds[0]!.rows;

Deno.test("triage names the cause of a run without its configuration", () =>
  withFolder(async (folder) => {
    const config = `${folder}/config.json`;
    Deno.writeTextFileSync(config, JSON.stringify({ bug: "sampler_temp" }));
    const rows = HEALTHY.map((row) => ({ ...row, logp_gap: 0.07, ratio_max: 4 }));
    Deno.writeTextFileSync(`${folder}/metrics.jsonl`, jsonl(rows));
    const named = await agentrl(["triage", folder, "--json"]);
    assertEquals(named.code, 0, named.stderr);
    const { causes, notMeasured } = JSON.parse(named.stdout);
    assertEquals(causes[0].fault, "sampler_temp");
    const [evidence] = causes[0].evidence;
    assertEquals([evidence.metric, evidence.step, evidence.value], ["logp_gap", 0, 0.07]);
    assert(typeof evidence.bound === "number" && typeof causes[0].score === "number");
    assertStringIncludes(causes[0].next, `cli/agentrl replay ${folder} `);
    assert(notMeasured.some((text: string) => text.includes("check 1")), "there is no checks.json");

    Deno.writeTextFileSync(config, JSON.stringify({ bug: null }));
    assertEquals((await agentrl(["triage", folder, "--json"])).stdout, named.stdout);
    Deno.removeSync(config);
    assertEquals((await agentrl(["triage", folder, "--json"])).stdout, named.stdout);
    const text = (await agentrl(["triage", folder])).stdout;
    assertStringIncludes(text, "1. sampler_temp, score 0.");
    assertStringIncludes(text, "logp_gap (first, step 0) is 0.07; bound >= 0.0001");
  }));

Deno.test("triage quotes the run's folder in the next command, and replaces no word of it", () =>
  withFolder(async (folder) => {
    const run = `${folder}/my STEPS RUN`;
    Deno.mkdirSync(run);
    const rows = HEALTHY.map((row) => ({ ...row, logp_gap: 0.07, ratio_max: 4 }));
    Deno.writeTextFileSync(`${run}/metrics.jsonl`, jsonl(rows));
    const { stdout } = await agentrl(["triage", run]);
    assertStringIncludes(stdout, `cli/agentrl replay '${run}' --step 0 --replace sample=`);
  }));

Deno.test("triage says what was NaN and in which step, and lists violated checks", () =>
  withFolder(async (folder) => {
    const metrics = `${folder}/metrics.jsonl`;
    Deno.writeTextFileSync(
      metrics,
      jsonl(HEALTHY.map((row) => row.step === 5 ? { ...row, loss: NaN, grad_norm: NaN } : row)),
    );
    for (const path of [folder, metrics]) {
      const { stdout, code } = await agentrl(["triage", path]);
      assertEquals(code, 0);
      assertStringIncludes(stdout, "NaN or infinity in step 5: ");
      assertStringIncludes(stdout, "loss is NaN or infinite in step 5");
      assertStringIncludes(stdout, "grad_norm is NaN or infinite in step 5");
      assert(!stdout.includes("No rule fired"), stdout);
    }
    Deno.writeTextFileSync(metrics, jsonl(HEALTHY));
    const checks = INVARIANTS.map(({ id, name, relation }) => ({
      id,
      name,
      value: id === 5 ? 0.3 : 0,
      relation,
      bound: 1e-5,
      bound_reason: "rounding",
      verdict: id === 5 ? "violated" : "holds",
      reason: "as measured",
    }));
    Deno.writeTextFileSync(`${folder}/checks.json`, JSON.stringify({ checks }));
    const { stdout } = await agentrl(["triage", folder]);
    assertStringIncludes(stdout, "Unknown cause");
    assertStringIncludes(
      stdout,
      "check 5: loss invariant to padding (violated, step 0) is 0.3; bound <= 0.00001",
    );
    assert(!/No rule fired|unlucky/.test(stdout), stdout);
  }));

Deno.test("triage takes a JSONL of a few metrics, and says that nothing fired and what it lacks", () =>
  withFolder(async (folder) => {
    const path = `${folder}/other.jsonl`;
    Deno.writeTextFileSync(
      path,
      jsonl(HEALTHY.map(({ reward, entropy }) => ({ reward, entropy }))),
    );
    const { stdout, code } = await agentrl(["triage", path, "--json"]);
    const report = JSON.parse(stdout);
    assertEquals([code, report.causes, report.conclusion], [0, [], "nothing-fired"]);
    assert(report.notMeasured.some((text: string) => text.includes("logp_gap")));
    assertStringIncludes((await agentrl(["triage", path])).stdout, "not the same as healthy");
  }));

Deno.test("triage refuses files that hold no metrics", () =>
  withFolder(async (folder) => {
    const path = `${folder}/a.jsonl`;
    const refused: readonly (readonly [string, RegExp])[] = [
      ["", /holds no row/],
      ['{"reward": 1}\n{"reward": NaN}\n', /line 2 is not a row of JSONL/],
      ['{"reward": 1}\nnonsense\n{"reward": 1}\n', /line 2 is not a row of JSONL/],
      ['{"reward": "high"}\n', /row 1: reward is "high", but a metric must be a finite number/],
      ['{"reward": null}\n', /row 1: reward is null, which stands for NaN or infinity/],
      ['{"loss": 1}\n', /holds none of the metrics/],
    ];
    for (const [text, sentence] of refused) {
      Deno.writeTextFileSync(path, text);
      assertRefused(await agentrl(["triage", path]), { code: 2, sentence });
    }
    const missing = await agentrl(["triage", `${folder}/none`]);
    assertRefused(missing, { code: 2, sentence: /there is no such file or folder/ });
    assertRefused(await agentrl(["triage", folder]), {
      code: 2,
      sentence: /metrics\.jsonl: there is no/,
    });
    assertRefused(await agentrl(["triage"]), { code: 2, sentence: /RUN is missing/ });
    Deno.writeTextFileSync(`${folder}/metrics.jsonl`, '{"reward": 1}\n');
    Deno.writeTextFileSync(`${folder}/checks.json`, '{"checks": 3}');
    assertRefused(await agentrl(["triage", folder]), { code: 2, sentence: /checks\.json: checks/ });
  }));
