/** Tests of the commands about token dumps: what they say, where it shows, their exit codes, and that they open no device. */
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { withFolder } from "../files/with_folder.ts";
import { agentrl, assertRefused, LAUNCHER } from "./command_line.ts";

/** No driver of any GPU: a command that wanted a device would fail, or install one. */
const NO_DEVICE = { VK_DRIVER_FILES: "/nonexistent", DENO_WEBGPU_BACKEND: "vulkan" };

/** prime-rl's export of a step: 16 sequences of 40 tokens, of which 24 are trained; engines differ by up to 0.015 nats. */
function exportRows(changes: (n: number) => Readonly<Record<string, unknown>> = () => ({})) {
  return Array.from({ length: 16 }, (_, n) => {
    const tokens = Array.from({ length: 40 }, (_, i) => i);
    const logp = (i: number) => -((i * i * 7 + n * 31) % 97) / 40;
    return {
      schema_version: 1,
      step: 3,
      rank: 0,
      micro_step: 0,
      micro_sequence_idx: n,
      export_sequence_idx: n,
      env_name: "bugfix",
      token_ids: tokens.map((i) => 1000 * n + i),
      position_ids: tokens,
      loss_mask: tokens.map((i) => i >= 16),
      advantages: tokens.map(() => n % 2 === 0 ? 0.5 : -0.5),
      inference_logprobs: tokens.map((i) => i >= 16 ? logp(i) : 0),
      trainer_logprobs: tokens.map((i) => logp(i) + ((i * 5 + n) % 7 - 3) / 200),
      ...changes(n),
    };
  });
}

const jsonl = (rows: readonly unknown[]) => rows.map((row) => `${JSON.stringify(row)}\n`).join("");

function writeExport(folder: string, text: string): void {
  Deno.mkdirSync(`${folder}/token_exports/step_3`, { recursive: true });
  Deno.writeTextFileSync(`${folder}/token_exports/step_3/rank_0.jsonl`, text);
  Deno.writeTextFileSync(`${folder}/token_exports/step_3/STABLE`, "");
}

/** A sequence whose trainer gives NaN at token 20. */
const BROKEN = jsonl(exportRows()).replace(
  /("export_sequence_idx":5,.*"trainer_logprobs":\[(?:[^,]*,){20})[^,]*/,
  "$1NaN",
);

Deno.test("check --tokens ends with 0 for a healthy dump and 1 for a violated one, and opens no device", () =>
  withFolder(async (folder) => {
    writeExport(folder, jsonl(exportRows()));
    const healthy = await agentrl(["check", "--tokens", folder], NO_DEVICE);
    assertEquals([healthy.code, healthy.stderr], [0, ""]);
    assertMatch(healthy.stdout, /prime-rl, 16 sequences, 640 tokens \(384 trained\), step 3/);
    assertMatch(healthy.stdout, /Holds\n {2}non_finite_token/);
    writeExport(folder, BROKEN);
    const broken = await agentrl(["check", `--tokens=${folder}`, "--json"], NO_DEVICE);
    assertEquals([broken.code, broken.stderr], [1, ""]);
    const { source, findings } = JSON.parse(broken.stdout);
    assertEquals([source.form, source.sequences, source.trained], ["token_exports", 16, 384]);
    const [violated] = findings;
    assertEquals([violated.id, violated.class], ["non_finite_token", "violated"]);
    assertEquals(violated.at, {
      file: `${folder}/token_exports/step_3/rank_0.jsonl`,
      row: 6,
      token: 20,
    });
    const both = await agentrl(["check", "--tokens", folder, "--matrix"], NO_DEVICE);
    assertRefused(both, { code: 2, sentence: /--tokens checks a dump/ });
  }));

Deno.test("triage judges a folder with a log and a dump by both", () =>
  withFolder(async (folder) => {
    writeExport(folder, BROKEN);
    const alone = await agentrl(["triage", folder], NO_DEVICE);
    assertEquals([alone.code, alone.stderr], [3, ""]);
    assertMatch(alone.stdout, /First \(non_finite_token\)/);
    assertMatch(alone.stdout.replaceAll(/\s+/g, " "), /see \S*rank_0\.jsonl:6, token 20/);
    const script = `cat '${folder}/token_exports/step_3/rank_0.jsonl' | '${LAUNCHER}' triage -`;
    const piped = await new Deno.Command("sh", { args: ["-c", script] }).output();
    assertEquals(piped.code, 3);
    const said = new TextDecoder().decode(piped.stdout).replaceAll(/\s+/g, " ");
    assertMatch(said, /token_exports.*First \(non_finite_token\).*standard input:6, token 20/);
    const rows = Array.from({ length: 12 }, (_, step) => ({
      step,
      reward: 0.25 + step / 100,
      "completions/clipped_ratio": 0.75,
      loss: 0.0625,
      grad_norm: 0.5,
    }));
    Deno.writeTextFileSync(`${folder}/metrics.jsonl`, jsonl(rows));
    const { code, stdout } = await agentrl(["triage", folder, "--json"]);
    assertEquals(code, 3);
    const { source, dump, first, findings } = JSON.parse(stdout);
    assertEquals([source.form, dump.form, first], ["jsonl", "token_exports", "non_finite_token"]);
    const ids = findings.map(({ id }: { id: string }) => id);
    assert(ids.includes("non_finite_token") && ids.includes("answers_cut"), ids.join());
    const text = (await agentrl(["triage", folder])).stdout;
    for (const part of ["12 rows", "16 sequences", "answers_cut"]) assertStringIncludes(text, part);
  }));
