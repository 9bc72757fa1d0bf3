/** Processes that say canned lines: each answers the message that it has read, a shell's milliseconds after its start. */
import { commandLine } from "../../src/core/shell_words.ts";

/** What a hello says of an environment of three words in which a call is one token. */
export const HELLO = {
  id: 0,
  version: 1,
  name: "canned",
  words: ["go", "yes", "no"],
  tasks: { train: 4, heldout: 0 },
  spec: { callEnd: 2, maxCallTokens: 1, maxTurns: 2, maxEpisodeTokens: 6 },
};

/** The answer to a message for one slot. */
export function answer(id: number, ...slots: readonly object[]): string {
  return JSON.stringify({ id, answers: slots.map((fields) => ({ slot: 0, ...fields })) });
}

/**
 * A process as program and arguments: for each message it reads it runs a piece of shell, then it reads to the end of its input.
 *
 * @param pieces Shell commands, or texts that begin with `{` and are printed as they are.
 */
export function script(...pieces: readonly string[]): string[] {
  const said = pieces.map((piece) =>
    `read -r line; ${piece.startsWith("{") ? commandLine(["printf", "%s\\n", piece]) : piece}`
  );
  return ["sh", "-c", [...said, "cat >/dev/null"].join("; ")];
}
