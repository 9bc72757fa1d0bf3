/** Reads a token dump for the report: once to judge it, and once to keep what is worth showing. */
import { UserError } from "../../core/errors.ts";
import { type FindingWords, sayFinding } from "../../diagnose/finding.ts";
import { judgeTokens, type TokenSettings } from "../../diagnose/tokens/judge_tokens.ts";
import { STANDARD_INPUT } from "../../files/log_input.ts";
import { readTokens } from "../../files/token_source.ts";
import { type TokenData, wordsOf } from "../token_data.ts";
import { TokenCollector } from "../token_digest.ts";
import { NO_TEXTS, OWN_TEXTS, type TextOf } from "./token_texts.ts";

/** How a dump is read and judged, and what is said about it. */
export interface TokenReading {
  /** For headings. */
  readonly name: string;
  /** What the dump does not tell. */
  readonly settings?: TokenSettings;
  /** Texts of its ids (default: those of our own vocabulary in our own runs). */
  readonly textOf?: TextOf | undefined;
  readonly words?: FindingWords | undefined;
  /** How much of the report its sequences may fill. */
  readonly maxBytes?: number;
}

/**
 * Reads a dump.
 *
 * @param path A file, or a folder in which dumps lie.
 * @throws {UserError} When there is no dump, it is damaged, or it comes from standard input.
 */
export async function readTokenData(path: string, reading: TokenReading): Promise<TokenData> {
  const { name, settings = {}, textOf, words, maxBytes } = reading;
  if (path === STANDARD_INPUT) {
    throw new UserError(
      "Cannot report a token dump from standard input: it is read twice; name its file",
    );
  }
  const batch = await readTokens(path);
  const findings = (await judgeTokens(batch, settings)).map((found) => sayFinding(found, words));
  const collector = new TokenCollector({ findings, ...(maxBytes !== undefined && { maxBytes }) });
  for await (const sequence of batch.sequences()) collector.add(sequence);
  const digest = collector.finish();
  const texts = textOf ?? (batch.source.producer === "agentrl" ? OWN_TEXTS : NO_TEXTS);
  return { name, source: batch.source, findings, digest, words: wordsOf(digest, texts) };
}
