/** The parsers that tests/hostile/fuzz.ts hands mutated inputs to, each with a whole input to begin with. */
import { metricSeries } from "../../src/diagnose/metric_series.ts";
import { TRIAGE_METRICS } from "../../src/faults/triage_rules.ts";
import { journalText } from "../../src/core/json_lines.ts";
import { rowsOf } from "../../src/files/journal.ts";
import { readTensorFile, writeTensorFile } from "../../src/files/tensor_file.ts";
import { type ModelConfig, parameterLayout } from "../../src/model/config.ts";
import { toTensors } from "../../src/model/parameters.ts";
import {
  parseSafetensors,
  serializeSafetensors,
  type Tensor,
} from "../../src/model/safetensors.ts";
import { metricsOf } from "../../src/report/run_data.ts";
import { readRun } from "../../src/report/files/run.ts";
import { resolveConfig } from "../../src/rl/config.ts";
import { readBatchFile } from "../../src/run/batch_file.ts";
import { readCheckpoint } from "../../src/run/checkpoint.ts";
import { readChecks } from "../../src/run/checks_file.ts";
import { readStepRecord } from "../../src/run/recorded_step.ts";
import { findResumePoint } from "../../src/run/resume_point.ts";
import { checkpointPath, runPaths } from "../../src/run/run_directory.ts";
import { readSettings } from "../../src/run/run_settings.ts";
import { stepFiles } from "../../src/run/step_record.ts";
import { readTuning } from "../../src/tuning/tuning_cache.ts";
import { COMMON_FLAGS, parseFlags } from "../../cli/flags.ts";
import { command as trainCommand } from "../../cli/commands/train.ts";
import { makeSmallRun, SETTINGS, smallEpisodes, STEP, writeSmallRecord } from "./small_record.ts";

/** One kind of input. */
export interface Target {
  readonly name: string;
  /** Share of all inputs, in parts of the sum over the targets. */
  readonly weight: number;
  /** A whole input. */
  readonly seed: Uint8Array;
  /** Reads an input. @returns A sentence where it believed damage. */
  readonly read: (bytes: Uint8Array<ArrayBuffer>) => string | undefined;
}

const encode = (text: string) => new TextEncoder().encode(text);
const decode = (bytes: Uint8Array) => new TextDecoder().decode(bytes);

/** The smallest model that this project has: a mutation of its file is likely to meet the header. */
const SMALL_MODEL: ModelConfig = {
  vocabSize: 3,
  width: 16,
  headCount: 2,
  feedForwardWidth: 16,
  layerCount: 1,
};

/** A checkpoint as bytes; it carries no SHA-256, so that what is changed in it is judged by its content. */
function smallCheckpoint(): Uint8Array<ArrayBuffer> {
  const { parameterCount } = parameterLayout(SMALL_MODEL);
  const weights_W = Float32Array.from({ length: parameterCount }, (_, w) => w / 8);
  return serializeSafetensors({
    tensors: toTensors(SMALL_MODEL, weights_W),
    metadata: { format_version: "1", head_count: "2", step: "3", state: '{"step":3}' },
  });
}

/** A batch of two episodes as bytes. */
function smallBatch(): Uint8Array<ArrayBuffer> {
  const i32 = (data: number[]) => (
    { dtype: "I32" as const, shape: [2, 3], data: Int32Array.from(data) }
  );
  const advantages = { dtype: "F32" as const, shape: [2], data: Float32Array.of(1, -1) };
  return serializeSafetensors({
    tensors: new Map<string, Tensor>([
      ["ids", i32([1, 2, 3, 4, 5, 0])],
      ["owner", i32([1, 2, 3, 1, 2, 0])],
      ["advantages", advantages],
    ]),
    metadata: {},
  });
}

const METRICS = [0, 1, 2, 3].map((step) =>
  JSON.stringify({
    step,
    reward: step / 4,
    pass_rate: 0.5,
    length: 20,
    loss_tokens: 20,
    entropy: 1,
  })
).join("\n") + "\n";

const CHECKS = JSON.stringify({
  checks: [{
    ...{ id: 1, name: "a", value: 0.5, relation: "<=", bound: 1, bound_reason: "b" },
    ...{ verdict: "holds", reason: "c" },
  }],
});

/** A run's folder whose files the targets replace. */
export function makeTargets(folder: string): Target[] {
  const path = `${folder}/run`;
  makeSmallRun(path);
  const paths = runPaths(path);
  const { config } = SETTINGS;
  for (const step of [0, 2, 4]) Deno.writeTextFileSync(checkpointPath(path, step), "");
  const written = Deno.readFileSync(paths.config);
  const batch = smallBatch();
  writeTensorFile(`${folder}/small`, parseSafetensors(batch, "batch"));
  const whole = readTensorFile(`${folder}/small`);
  const record = stepFiles(path, STEP);
  const recorded = Deno.readFileSync(record.record);
  const old = `${folder}/old`;
  makeSmallRun(old);
  writeSmallRecord(old, { episodes: smallEpisodes(), isSealed: false });
  /** Writes the input where the reader looks for it. */
  const from = (file: string, read: () => unknown) => (bytes: Uint8Array<ArrayBuffer>) => {
    Deno.writeFileSync(file, bytes);
    read();
    return undefined;
  };
  const flags = { ...COMMON_FLAGS, ...trainCommand.flags };
  const scratch = `${folder}/scratch`;
  return [
    {
      name: "safetensors, parsed and written again",
      weight: 30,
      seed: batch,
      read: (bytes) => {
        const file = parseSafetensors(bytes, "input");
        const again = parseSafetensors(serializeSafetensors(file), "again");
        return JSON.stringify([...again.tensors.keys()]) ===
            JSON.stringify([...file.tensors.keys()])
          ? undefined
          : "other tensors after a round trip";
      },
    },
    {
      name: "tensor files that carry a SHA-256",
      weight: 20,
      seed: Deno.readFileSync(`${folder}/small`),
      read: (bytes) => {
        Deno.writeFileSync(scratch, bytes);
        const { tensors, metadata, isVerified } = readTensorFile(scratch);
        if (!isVerified) return undefined; // The mutation took the SHA-256 away.
        const same = JSON.stringify([[...tensors].sort(), metadata]) ===
          JSON.stringify([[...whole.tensors].sort(), whole.metadata]);
        return same ? undefined : "damage was believed";
      },
    },
    {
      name: "checkpoints",
      weight: 6,
      seed: smallCheckpoint(),
      read: from(scratch, () => readCheckpoint(scratch)),
    },
    {
      name: "batches",
      weight: 6,
      seed: batch,
      read: from(scratch, () => readBatchFile(scratch, { vocabSize: 60 })),
    },
    {
      name: "metrics, for triage and the report",
      weight: 14,
      seed: encode(METRICS),
      read: from(scratch, () => {
        metricSeries(rowsOf(scratch), { names: TRIAGE_METRICS, source: scratch });
        metricsOf(rowsOf(scratch), scratch);
      }),
    },
    {
      name: "metrics of a run that is resumed",
      weight: 6,
      seed: encode(METRICS),
      read: (bytes) => {
        Deno.writeFileSync(paths.metrics, bytes);
        const point = findResumePoint(paths, config);
        if (point === undefined) return "the run starts over beside its checkpoints";
        // What stays must be the rows of exactly the steps before the checkpoint.
        const kept = decode(bytes.subarray(0, point.metricsBytes)).split("\n").filter(Boolean);
        const isWhole = kept.length === point.step && kept.every((line, step) => {
          const row = JSON.parse(line);
          return row.step === step && Number.isFinite(row.reward) && Number.isFinite(row.pass_rate);
        });
        return isWhole ? undefined : `rows ${kept} before step ${point.step}`;
      },
    },
    {
      name: "checks.json",
      weight: 5,
      seed: encode(CHECKS),
      read: from(scratch, () => readChecks(scratch)),
    },
    {
      name: "config.json",
      weight: 6,
      seed: written,
      read: from(scratch, () => readSettings(scratch)),
    },
    {
      name: "--config files",
      weight: 5,
      seed: encode('{"algorithm": "ppo", "lr": 0.001, "betas": [0.9, 0.999], "steps": 3}'),
      read: (bytes) => {
        resolveConfig({ file: { name: "a.json", text: decode(bytes) } });
        return undefined;
      },
    },
    {
      name: "--set values",
      weight: 5,
      seed: encode("betas=[0.9,0.99]"),
      read: (bytes) => {
        resolveConfig({ sets: [decode(bytes)] });
        return undefined;
      },
    },
    {
      name: "record.json",
      weight: 5,
      seed: recorded,
      read: from(record.record, () => readStepRecord(path, { step: STEP, config })),
    },
    {
      name: "episodes of a record without a SHA-256",
      weight: 5,
      seed: encode(journalText(smallEpisodes())),
      read: from(stepFiles(old, STEP).episodes, () => readStepRecord(old, { step: STEP, config })),
    },
    {
      name: "the metrics of a run, as a report reads them",
      weight: 4,
      seed: encode(METRICS),
      read: from(`${scratch}.jsonl`, () => readRun(`${scratch}.jsonl`)),
    },
    {
      name: "measured layouts",
      weight: 2,
      seed: encode('{"layouts": [{"adapter": "a", "os": "linux", "deno": "2", "agentrl": "0"}]}'),
      read: from(scratch, () => readTuning(scratch, "a")),
    },
    {
      name: "flags",
      weight: 6,
      seed: encode("--algo\0grpo\0--steps\x003\0--set\0lr=1\0--json\0--out\0runs/a\0--base=rl:3"),
      read: (bytes) => {
        parseFlags(decode(bytes).split("\0"), flags);
        return undefined;
      },
    },
  ];
}
