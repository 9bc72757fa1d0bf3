/** Tests of cli/agent.ts: which base agent is taken up again. */
import { assertEquals, assertNotEquals, assertRejects } from "@std/assert";
import { agentOf, keptAgentPath } from "../../cli/agent.ts";
import type { Commands } from "../../src/gpu/commands.ts";
import type { CompiledGym } from "../../src/gym/compiled.ts";
import { readCheckpoint, writeCheckpoint } from "../../src/run/checkpoint.ts";
import { golden } from "../e2e/command_line.ts";
import { withFolder } from "../files/with_folder.ts";

/** A device that can compute nothing: whoever clones fails. */
const DEVICE = {
  commands: { gpu: { adapter: { description: "an adapter" } } } as unknown as Commands,
  gym: {} as CompiledGym,
};

Deno.test("agentOf() takes up the base agent that was kept for this adapter, if it is whole", () =>
  withFolder(async (folder) => {
    const before = Deno.env.get("AGENTRL_AGENTS");
    try {
      Deno.env.delete("AGENTRL_AGENTS");
      assertEquals(keptAgentPath("an adapter"), undefined);
      Deno.env.set("AGENTRL_AGENTS", folder);
      const path = keptAgentPath("an adapter") ?? "";
      assertNotEquals(path, keptAgentPath("another adapter"));
      const { config, weights_W } = readCheckpoint(golden("model.safetensors"));
      writeCheckpoint(path, { config, weights_W, step: 0 });
      assertEquals((await agentOf(undefined, DEVICE)).weights_W, weights_W);
      const bytes = Deno.readFileSync(path);
      Deno.writeFileSync(path, bytes.subarray(0, bytes.length - 4));
      await assertRejects(() => agentOf(undefined, DEVICE));
    } finally {
      if (before === undefined) Deno.env.delete("AGENTRL_AGENTS");
      else Deno.env.set("AGENTRL_AGENTS", before);
    }
  }));
