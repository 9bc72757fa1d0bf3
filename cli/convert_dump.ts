/** `agentrl convert` of a token dump: the common dump, a sequence after the other. */
import { writeFileStreamAtomic } from "../src/files/atomic_file.ts";
import { readTokens, type ReadTokensOptions } from "../src/files/token_source.ts";
import { commonDumpLine } from "../src/tokens/common_dump_line.ts";
import type { TokenBatch } from "../src/tokens/token_batch.ts";
import { counted } from "../src/tokens/token_counts.ts";
import type { Outcome } from "./command.ts";
import { formatTable } from "./flags.ts";
import { withReadProgress } from "./read_log.ts";

async function* encodedLines(batch: TokenBatch): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder();
  for await (const sequence of batch.sequences()) {
    yield encoder.encode(`${commonDumpLine(sequence)}\n`);
  }
}

/**
 * Converts a dump.
 *
 * @param path A file, a folder in which dumps lie, or `-`.
 * @param options.out The JSONL file; it appears whole or not at all.
 * @param options.opened Standard input, where it is open already.
 * @throws {UserError} When the dump is damaged, or the file cannot be written.
 */
export async function convertDump(
  path: string,
  { out, opened }: { readonly out: string } & Pick<ReadTokensOptions, "opened">,
): Promise<Outcome> {
  return await withReadProgress(async (onProgress) => {
    const { batch, counts } = counted(await readTokens(path, { onProgress, opened }));
    await writeFileStreamAtomic(out, encodedLines(batch));
    const { source } = batch;
    const { sequences, tokens } = counts();
    return {
      document: {
        out,
        source: { ...source, producer: source.producer ?? null },
        sequences,
        tokens,
      },
      text: formatTable([
        ["written", `${out}: ${sequences} sequences of ${tokens} tokens`],
        ["from", `${source.files.join(", ")} (${source.form})`],
        ["producer", source.producer ?? "unknown"],
        ...source.ignored.map(({ what, count, example }) =>
          ["skipped", `${what}: ${count}, such as ${JSON.stringify(example)}`] as const
        ),
      ]).join("\n"),
    };
  });
}
