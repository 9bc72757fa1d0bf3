/** Tests of cli/next_command.ts: the folder arrives whole, whatever it is called. */
import { assertEquals } from "@std/assert";
import { lookCommands, nextCommand, resumeCommand } from "../../cli/next_command.ts";
import { FAULT_NAMES } from "../../src/faults/faults.ts";
import { nextStep } from "../../src/diagnose/triage/next_step.ts";
import { CAUSES } from "../../src/faults/triage_causes.ts";

const RUN = "runs/my STEPS RUN";

Deno.test("nextCommand() quotes a folder once and replaces nothing in it", () => {
  const next = (fault: typeof FAULT_NAMES[number], folder = RUN) => {
    const { advice, kind } = CAUSES[fault];
    return nextCommand(nextStep(advice, { fault, kind, run: { folder, steps: 24 } }));
  };
  const lines = FAULT_NAMES.map((fault) => next(fault));
  assertEquals(lines.filter((line) => line.split("my STEPS RUN").length !== 2), []);
  assertEquals(
    next("mask_shift"),
    "cli/agentrl replay 'runs/my STEPS RUN' --step 0 --replace lossMask=mask_shift",
  );
  assertEquals(next("stale_sampler"), "cli/agentrl replay 'runs/my STEPS RUN' --step 1");
  assertEquals(
    next("lr_high"),
    "cli/agentrl train --steps 2 --set lr=0.001 --out 'runs/my STEPS RUN-lower-lr'",
  );
  assertEquals(
    next("length_bias", "runs/a//"),
    "cli/agentrl train --set aggregation=token_mean --out runs/a-token-mean",
  );
  assertEquals(
    next("public_reward", "-a"),
    "cli/agentrl eval --checkpoint ./-a/checkpoints/step-24.safetensors --preset rl --transcripts 4",
  );
});

Deno.test("nextCommand() shows a failure where there is no run", () => {
  assertEquals(
    nextCommand({ kind: "check", fault: "mask_shift" }),
    "cli/agentrl check --bug mask_shift",
  );
  assertEquals(nextCommand({ kind: "make", fault: "lr_high" }), "cli/agentrl faults lr_high");
});

Deno.test("what train prints at its end is quoted, too", () => {
  assertEquals(resumeCommand("it's"), "cli/agentrl train --out 'it'\\''s' --resume");
  assertEquals(lookCommands("-a b"), [
    "cli/agentrl triage './-a b'",
    "cli/agentrl report './-a b'",
    "cli/agentrl eval --checkpoint './-a b' --transcripts 2",
  ]);
});
