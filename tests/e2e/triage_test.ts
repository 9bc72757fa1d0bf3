/** Tests of `agentrl triage`: it reads metrics and verdicts and nothing else, and refuses bad files with one sentence. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { INVARIANTS } from "../../src/diagnose/invariant_list.ts";
import { HEALTHY_REFERENCE_FILE } from "../../src/faults/healthy_reference.ts";
import { withFolder } from "../files/with_folder.ts";
import { agentrl, assertRefused } from "./command_line.ts";
import { agentrlHere, commandTest } from "./in_process.ts";

const jsonl = (rows: readonly unknown[]) => rows.map((row) => `${JSON.stringify(row)}\n`).join("");
const HEALTHY = HEALTHY_REFERENCE_FILE.seeds[0]!.rows;

/** A test in this process, with what the launcher allows to commands that read logs. */
const triageTest = (name: string, fn: () => Promise<void>) => commandTest(name, fn, { env: false });

Deno.test("triage names the cause of a run without its configuration", () =>
  withFolder(async (folder) => {
    const config = `${folder}/config.json`;
    Deno.writeTextFileSync(config, JSON.stringify({ bug: "sampler_temp" }));
    const rows = HEALTHY.map((row) => ({ ...row, logp_gap: 0.07, ratio_max: 4 }));
    Deno.writeTextFileSync(`${folder}/metrics.jsonl`, jsonl(rows));
    const named = await agentrl(["triage", folder, "--json"]);
    assertEquals(named.code, 0, named.stderr);
    const { causes, unchecked } = JSON.parse(named.stdout);
    assertEquals(causes[0].fault, "sampler_temp");
    const [evidence] = causes[0].evidence;
    assertEquals([evidence.metric, evidence.step, evidence.value], ["logp_gap", 0, 0.07]);
    assert(typeof evidence.bound === "number" && typeof causes[0].score === "number");
    assertStringIncludes(causes[0].next, `cli/agentrl replay ${folder} `);
    const first = unchecked.find(({ needs }: { needs: string[] }) => needs.includes("check 1"));
    assertEquals(first?.verdict, "not-checkable", "there is no checks.json");

    Deno.writeTextFileSync(config, JSON.stringify({ bug: null }));
    assertEquals((await agentrl(["triage", folder, "--json"])).stdout, named.stdout);
    Deno.removeSync(config);
    assertEquals((await agentrl(["triage", folder, "--json"])).stdout, named.stdout);
    const text = (await agentrl(["triage", folder])).stdout;
    assertStringIncludes(text, "1. sampler_temp, score 0.");
    assertStringIncludes(text, "logp_gap (first, step 0) is 0.07; bound >= 0.0001");
  }));

triageTest(
  "triage quotes the run's folder in the next command, and replaces no word of it",
  () =>
    withFolder(async (folder) => {
      const run = `${folder}/my STEPS RUN`;
      Deno.mkdirSync(run);
      const rows = HEALTHY.map((row) => ({ ...row, logp_gap: 0.07, ratio_max: 4 }));
      Deno.writeTextFileSync(`${run}/metrics.jsonl`, jsonl(rows));
      const { stdout } = await agentrlHere(["triage", run]);
      assertStringIncludes(stdout, `cli/agentrl replay '${run}' --step 0 --replace sample=`);
    }),
);

triageTest(
  "triage says what was NaN and in which step, and lists violated checks",
  () =>
    withFolder(async (folder) => {
      const metrics = `${folder}/metrics.jsonl`;
      Deno.writeTextFileSync(
        metrics,
        jsonl(HEALTHY.map((row) => row.step === 5 ? { ...row, loss: NaN, grad_norm: NaN } : row)),
      );
      for (const path of [folder, metrics]) {
        const { stdout, code } = await agentrlHere(["triage", path]);
        assertEquals(code, 3);
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
      const { stdout } = await agentrlHere(["triage", folder]);
      assertStringIncludes(stdout, "Unknown cause");
      assertStringIncludes(
        stdout.replaceAll(/\s+/g, " "), // Its lines are wrapped.
        "check 5: loss invariant to padding (violated, step 0) is 0.3; bound <= 0.00001",
      );
      assert(!/No rule fired|unlucky/.test(stdout), stdout);
    }),
);

/** Rows of a foreign log: a reward that rises, and whatever a test adds. */
function foreignRows(count: number, extra: (at: number) => Readonly<Record<string, number>>) {
  return Array.from({ length: count }, (_, i) => ({
    step: i + 1,
    reward: 0.2 + 0.5 * i / count + 0.02 * (i % 3),
    reward_std: 0.3,
    "completions/mean_length": 200 + (i % 5),
    "completions/clipped_ratio": 0.01,
    loss: 0.01,
    grad_norm: 0.2 + 0.01 * (i % 4),
    learning_rate: 1e-6,
    ...extra(i / count),
  }));
}

triageTest(
  "triage reads a foreign log: its source, the one thing to do first, findings, and exit codes",
  () =>
    withFolder(async (folder) => {
      const path = `${folder}/log.jsonl`;
      Deno.writeTextFileSync(path, jsonl(foreignRows(40, () => ({}))));
      const healthy = await agentrlHere(["triage", path, "--json"]);
      assertEquals(healthy.code, 0, healthy.stderr);
      const { source, findings, first } = JSON.parse(healthy.stdout);
      assertEquals([source.form, source.producer, source.rows, source.steps], [
        "jsonl",
        "trl",
        40,
        40,
      ]);
      assert(source.understood.includes("completions/clipped_ratio"), "a key with a meaning");
      assertEquals(first, null);
      const grave = (one: { class: string }) => ["violated", "suspect"].includes(one.class);
      assertEquals(findings.filter(grave), []);

      Deno.writeTextFileSync(
        path,
        jsonl(foreignRows(40, () => ({ "completions/clipped_ratio": 0.91 }))),
      );
      const cut = await agentrlHere(["triage", path]);
      assertEquals(cut.code, 0, "a suspect alone is not a failure");
      const lines = cut.stdout.split("\n");
      assertStringIncludes(lines[0]!, "jsonl, TRL");
      assertStringIncludes(
        lines.slice(1, 3).join(" "),
        "First (answers_cut): Raise max_completion_length",
      );
      assert(lines.every((line) => line.length <= 80), "80 columns");
      assertEquals((await agentrlHere(["triage", path, "--strict"])).code, 3);

      Deno.writeTextFileSync(
        path,
        jsonl(foreignRows(40, () => ({ learning_rate: 0, reward: 0.3 }))),
      );
      const violated = await agentrlHere(["triage", path, "--json"]);
      assertEquals(violated.code, 3);
      assertEquals(JSON.parse(violated.stdout).first, "learning_rate_zero");
    }),
);

triageTest(
  "triage takes names that it does not know by --map, and spells out control characters",
  () =>
    withFolder(async (folder) => {
      const path = `${folder}/own\x1b[31mnames.jsonl`;
      const rows = foreignRows(40, () => ({})).map(({ step, reward }) => ({
        step,
        "score\x1b[2J": reward,
      }));
      Deno.writeTextFileSync(path, jsonl(rows));
      const named = await agentrlHere(["triage", path, "--map", "score\x1b[2J=reward", "--json"]);
      assertEquals(JSON.parse(named.stdout).source.understood, ["reward"]);
      const { stdout, stderr } = await agentrlHere(["triage", path, "--all"]);
      assert(!stdout.includes("\x1b") && !stderr.includes("\x1b"), stdout);
    }),
);

triageTest(
  "triage counts the rows of a console without steps by --logging-steps, as convert does",
  () =>
    withFolder(async (folder) => {
      const path = `${folder}/console.log`;
      Deno.writeTextFileSync(
        path,
        [1, 0.5, 0.75].map((loss) => `{'loss': ${loss}, 'reward': 0.5, 'epoch': 1.0}\n`).join(""),
      );
      const { stdout, stderr } = await agentrlHere([
        "triage",
        path,
        "--logging-steps",
        "10",
        "--json",
      ]);
      const { source, settings } = JSON.parse(stdout || stderr);
      assertEquals([source.firstStep, source.lastStep], [10, 30]);
      assertEquals(settings.loggingSteps, { value: 10, from: "flag" });
    }),
);

triageTest(
  "triage --against names what lies beside a healthy run",
  () =>
    withFolder(async (folder) => {
      const [healthy, other] = [`${folder}/healthy.jsonl`, `${folder}/other.jsonl`];
      Deno.writeTextFileSync(healthy, jsonl(foreignRows(40, () => ({}))));
      Deno.writeTextFileSync(other, jsonl(foreignRows(40, () => ({ grad_norm: 9 }))));
      const { stdout } = await agentrlHere(["triage", other, "--against", healthy, "--json"]);
      const own = JSON.parse(stdout).findings.filter(({ id }: { id: string }) =>
        id === "unlike_healthy"
      );
      assertEquals(own.map(({ key }: { key: string }) => key), ["grad_norm"]);
      const same = await agentrlHere(["triage", healthy, "--against", healthy, "--json"]);
      assert(!same.stdout.includes("unlike_healthy"));
    }),
);

Deno.test("triage --follow says a finding when it first holds, once, and ends at --until", () =>
  withFolder(async (folder) => {
    const path = `${folder}/growing.jsonl`;
    const rows = foreignRows(60, (at) => ({ loss: at < 0.5 ? 0.01 : NaN }));
    const text = rows.map((row) => `${JSON.stringify(row).replace('"loss":null', '"loss":NaN')}\n`);
    Deno.writeTextFileSync(path, text.slice(0, 20).join(""));
    const watched = agentrl(["triage", path, "--follow", "--until", "violated"]);
    await new Promise((resolve) => setTimeout(resolve, 1500));
    Deno.writeTextFileSync(path, text.slice(20).join(""), { append: true });
    const { code, stdout } = await watched;
    assertEquals(code, 3, stdout);
    const said = stdout.split("\n").filter((line) => line.includes("non_finite at step 31"));
    assertEquals(said.length, 1, stdout);
  }));

triageTest(
  "a violated invariant of our own run is a finding under its key, and its causes are suspects",
  () =>
    withFolder(async (folder) => {
      Deno.writeTextFileSync(
        `${folder}/metrics.jsonl`,
        jsonl(HEALTHY.map((row) => ({ ...row, logp_gap: 0.07 }))),
      );
      const check = {
        id: 2,
        name: "sampler = trainer log-prob",
        value: 0.5,
        relation: "<=",
        bound: 0,
        bound_reason: "one engine",
        verdict: "violated",
        reason: "largest gap",
      };
      Deno.writeTextFileSync(`${folder}/checks.json`, JSON.stringify({ checks: [check] }));
      const { code, stdout } = await agentrlHere(["triage", folder, "--json"]);
      const { findings, conclusion, causes, source } = JSON.parse(stdout);
      assertEquals([code, conclusion, source.producer], [3, "fault", "agentrl"]);
      assertEquals([findings[0].id, findings[0].class], ["sampler_is_trainer", "violated"]);
      assertEquals([findings[1].id, findings[1].class], [causes[0].fault, "suspect"]);
    }),
);

triageTest(
  "triage refuses what holds no log with one sentence",
  () =>
    withFolder(async (folder) => {
      const path = `${folder}/a.jsonl`;
      for (const text of ["", "nonsense\n", "\x00\x01\x02\xff"]) {
        Deno.writeTextFileSync(path, text);
        assertRefused(await agentrlHere(["triage", path]), { code: 2, sentence: /Cannot read/ });
      }
      const missing = await agentrlHere(["triage", `${folder}/none`]);
      assertRefused(missing, { code: 2, sentence: /there is no such file or folder/ });
      assertRefused(await agentrlHere(["triage"]), { code: 2, sentence: /PATH is missing/ });
      assertRefused(await agentrlHere(["triage", path, "--until", "violated"]), {
        code: 2,
        sentence: /--until belongs to --follow/,
      });
      Deno.writeTextFileSync(`${folder}/metrics.jsonl`, jsonl(HEALTHY));
      Deno.writeTextFileSync(`${folder}/checks.json`, '{"checks": 3}');
      assertRefused(await agentrlHere(["triage", folder]), {
        code: 2,
        sentence: /checks\.json: checks/,
      });
    }),
);
