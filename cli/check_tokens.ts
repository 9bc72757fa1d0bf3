/** `agentrl check --tokens`: the checks of a token dump and nothing else, one line in a training script's CI. */
import { speakAgainst } from "../src/diagnose/finding.ts";
import { hasColours, terminalColumns } from "../src/files/terminal.ts";
import type { Outcome } from "./command.ts";
import { findingsText } from "./findings_text.ts";
import { dumpDocument, type DumpFlags, dumpSubject, judgeDump } from "./read_dump.ts";

/**
 * Checks a dump.
 *
 * @param path A file, a folder in which dumps lie, or `-`.
 * @returns Exit code 1 where something is violated, as of the other checks.
 */
export async function checkTokens(path: string, flags: DumpFlags): Promise<Outcome> {
  const dump = await judgeDump(path, flags);
  // All of it: a check says what holds as well.
  const layout = { columns: terminalColumns(), hasColours: hasColours(), all: true };
  return {
    document: dumpDocument(dump),
    text: findingsText(dumpSubject(dump, layout), dump.findings, layout),
    isStyled: true,
    exitCode: speakAgainst(dump.findings, { strict: false }) ? 1 : 0,
  };
}
