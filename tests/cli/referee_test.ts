/** The command `referee` on a small random decoder: what it prints, its document, and dumps that it refuses. */
import { assert, assertEquals, assertRejects } from "@std/assert";
import { command } from "../../cli/commands/referee.ts";
import { UserError } from "../../src/core/errors.ts";
import { REFEREE_DOCUMENT } from "../../src/diagnose/referee/report_schema.ts";
import { Commands } from "../../src/gpu/commands.ts";
import {
  columnsOf,
  uniformIds,
  writeDump,
  writePerturbed,
} from "../diagnose/referee/decoder_dump.ts";
import { withFolder } from "../files/with_folder.ts";
import { gpuTest, testGpu } from "../gpu/gpu_test_device.ts";
import { VARIANTS, writeDecoder } from "../model/random_decoder.ts";

const DEFAULTS = { json: false, seed: 0, help: false, temperature: 1, strict: false };

const run = async (flags: Readonly<Record<string, unknown>>) => {
  const outcome = await command.run({ ...DEFAULTS, requireGpu: false, ...flags }, []);
  return { ...outcome, document: REFEREE_DOCUMENT.parse(outcome.document) };
};

gpuTest(
  "referee names the side that left the model, and writes what it prints",
  () =>
    withFolder(async (folder) => {
      const config = VARIANTS.qwen3;
      const [model, other] = [`${folder}/model`, `${folder}/other`];
      writeDecoder(model, config);
      writePerturbed(other, config, 0.08);
      const commands = new Commands(await testGpu());
      const ids_B = uniformIds(6, 24);
      const own = await columnsOf(commands, model, { ids_B });
      const hot = await columnsOf(commands, model, { ids_B, temperature: 0.6 });
      const stale = await columnsOf(commands, other, { ids_B });
      const tokens = `${folder}/tokens.jsonl`, out = `${folder}/referee.json`;
      const dump = (sides: Parameters<typeof writeDump>[1]["sides"], step?: number) =>
        writeDump(tokens, { ids_B, prompt: 4, sides, ...(step !== undefined && { step }) });

      dump({ sampler: hot, old: own, reference: stale });
      const { document, text, exitCode } = await run({ model, tokens, out, reference: other });
      const [sampler, old, reference] = document.sides;
      assert(sampler!.explainedBy?.cause === "temperature");
      assert(Math.abs(sampler!.explainedBy!.temperature! - 0.6) < 1e-3);
      assertEquals([old!.explainedBy, reference!.explainedBy], [null, null]);
      assertEquals(reference!.comparedWith, "reference");
      assertEquals(exitCode, undefined);
      assert(text.startsWith("The sampler is off by"), text);
      assert(text.includes("The dump's reference is the reference folder; KL of policy"), text);
      assertEquals(JSON.parse(Deno.readTextFileSync(out)), JSON.parse(JSON.stringify(document)));
      assertEquals((await run({ model, tokens, strict: true })).exitCode, 3);

      dump({ sampler: stale, old: own }, 4);
      const limited = await run({ model, tokens, limit: 3, step: 4 });
      assertEquals(limited.document.findings.map(({ id }) => id), ["sampler_off"]);
      assertEquals(limited.document.sides[0]!.explainedBy?.cause, "other_weights_or_context");
      const { sequences, scored } = limited.document.dump;
      assertEquals([sequences, scored], [6, 3]);
      const refused = async (flags: Readonly<Record<string, unknown>>) =>
        (await assertRejects(() => run({ model, tokens, ...flags }), UserError)).message;
      assert((await refused({ step: 5 })).includes("its steps are 4 to 4"));
      assert((await refused({ out: tokens })).includes("which this command reads"));
      ids_B[1]![3] = config.vocab_size;
      dump({ sampler: own });
      assert((await refused({})).includes("the token id 300, but the model's ids end at 299"));
    }),
);
