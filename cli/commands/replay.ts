/** `agentrl replay`: re-runs a step and checks every statistic bit for bit, and once more with one stage changed. */
import { wrapText } from "../../src/core/wrap_text.ts";
import { parseReplacement, type Replay } from "../../src/faults/replay.ts";
import { terminalColumns } from "../../src/files/terminal.ts";
import { type ReplayedStep, replayRun } from "../../src/run/replay_run.ts";
import { environmentSource } from "../../src/rollout/environment_source.ts";
import { defineCommand } from "../command.ts";
import { ENVIRONMENT_FLAGS, openEnvironment } from "../environment_flag.ts";
import { adapterName, THIS_MACHINE } from "../gpu.ts";
import { GPU_FLAGS } from "../gpu_layout.ts";
import { formatColumns } from "../table.ts";

const show = (value: number | undefined) => value === undefined ? "-" : String(value);

function describeDifferences({ differences }: Replay, title: string): string[] {
  return formatColumns(
    ["metric", " recorded", ` ${title}`],
    differences.map(({ metric, recorded, replayed }) => [metric, show(recorded), show(replayed)]),
    { indent: 2 },
  );
}

function describeSampling({ isSampledAlike }: Replay): string {
  if (isSampledAlike === undefined) {
    return "Episodes: sampled afresh (the step was not recorded, so there is nothing to compare with).";
  }
  return isSampledAlike
    ? "Episodes: sampling again gives the recorded ones, bit for bit."
    : "Episodes: the recorded ones are trained on; sampling again gives others.";
}

function describe(
  { recorded, replay, changed, from, settings, isVerified }: ReplayedStep,
  options: { readonly replace: string | undefined; readonly adapter: string },
): string {
  const count = Object.keys(recorded).length - 1;
  const wrapped = (text: string) => wrapText(text, { columns: terminalColumns(), hanging: 2 });
  const lines = [
    ...wrapped(
      `Step ${recorded.step}, from ${from.path}${
        from.stepsBefore > 0 ? ` and ${from.stepsBefore} steps after it` : ""
      }.`,
    ),
    ...(isVerified ? [] : wrapped("Unverified: a file that was read carries no SHA-256.")),
    ...wrapped(describeSampling(replay)),
  ];
  if (replay.differences.length === 0) {
    lines.push(...wrapped(`Statistics: all ${count} reproduced, bit for bit.`));
  } else {
    lines.push(
      ...wrapped(
        `Statistics: ${replay.differences.length} of ${count} differ from the record` +
          (settings.adapter === null || settings.adapter === options.adapter
            ? ":"
            : `, which was made on ${settings.adapter}; this is ${options.adapter}:`),
      ),
      "",
      ...describeDifferences(replay, "replayed"),
    );
  }
  if (changed) {
    lines.push("", `With ${options.replace}:`);
    lines.push(
      ...(changed.differences.length === 0
        ? wrapText("no statistic of this step changes: the run's own stage does the same", {
          columns: terminalColumns(),
          indent: 2,
        })
        : describeDifferences(changed, "changed")),
    );
  }
  return lines.join("\n");
}

/** The command `replay`. */
export const command = defineCommand({
  positionals: ["RUN"],
  flags: {
    step: { kind: "integer", required: true, min: 0, max: 1_000_000, help: "the step to re-run" },
    replace: {
      kind: "string",
      help: "STAGE=FAULT, such as lossMask=mask_shift (or STAGE=healthy): replays once more with " +
        "that stage and shows what changes",
    },
    ...ENVIRONMENT_FLAGS,
    ...GPU_FLAGS,
  },
  async run({ step, replace, requireGpu, ...flags }, [path = ""], machine = THIS_MACHINE) {
    const replacement = replace === undefined ? undefined : parseReplacement(replace);
    const commands = await machine.openCommands({ requireGpu });
    await using given = await openEnvironment(flags);
    const source = given && await environmentSource(given.definition);
    const replayed = await replayRun(commands, { path, step, replacement, source });
    const { recorded, replay, changed, from } = replayed;
    return {
      document: {
        run: path,
        step,
        from,
        isReproduced: replay.differences.length === 0,
        isSampledAlike: replay.isSampledAlike ?? null,
        differences: replay.differences,
        recorded,
        changed: changed ? { row: changed.row, differences: changed.differences } : null,
      },
      text: describe(replayed, { replace, adapter: adapterName(commands.gpu) }),
      emphasis: [{ pattern: /^Statistics: \d+ of \d+ differ/gm, style: "red" }],
      exitCode: replay.differences.length === 0 ? 0 : 1,
    };
  },
});
