/** Who wrote a token, as far as a dump tells: by its own flag, by the role, or by whether the sampler has a log-prob for it. */
import { TOKEN_ROLES, type TokenSequence } from "../../tokens/token_batch.ts";

/** What speaks for a token's author. The sure ones are the dump's own words. */
export type Authorship = "sampled" | "given" | "probably-sampled" | "probably-given" | "unknown";

const GIVEN_ROLES: ReadonlySet<number> = new Set([
  TOKEN_ROLES.indexOf("system"),
  TOKEN_ROLES.indexOf("user"),
  TOKEN_ROLES.indexOf("tool"),
]);

/** A sampler that is sure where the trainer gives less than this did not draw the token: engines round by far less. */
const IMPROBABLE = Math.log(0.5);

/** Tokens of a prompt without any log-prob that show that the sampler does not score prompts. */
const PROMPT_TOKENS = 3;

/** True where the sampler's array has values for prompts as well: then a value does not tell who wrote a token. */
function scoresPrompts({ ids, mask, logProbs }: TokenSequence): boolean {
  const values = logProbs.sampler?.values;
  if (!values) return false;
  let count = 0;
  for (let i = 1; i < ids.length && mask?.[i] !== 1; i++, count++) {
    if (!(values[i] < 0)) return false;
  }
  return count >= PROMPT_TOKENS;
}

/** True where the sampler has a value other than 0 for some token that is trained, so that a 0 means something. */
function hasValues({ mask, logProbs }: TokenSequence): boolean {
  return logProbs.sampler?.values.some((value, i) => value < 0 && mask?.[i] !== 0) ?? false;
}

/**
 * Tells who wrote the tokens of a sequence.
 *
 * @returns One answer a token, and whether any is known.
 */
export function authorsOf(
  sequence: TokenSequence,
): { readonly of: (token: number) => Authorship; readonly isKnown: boolean } {
  const { sampled, roles, logProbs } = sequence;
  if (sampled) return { of: (i) => sampled[i] === 1 ? "sampled" : "given", isKnown: true };
  const sampler = logProbs.sampler;
  const trainer = (logProbs.old ?? logProbs.trainer)?.values;
  const isTelling = sampler !== undefined && hasValues(sequence) && !scoresPrompts(sequence);
  const broken = new Set(sampler?.nonFinite ?? []);
  const of = (i: number): Authorship => {
    if (roles && GIVEN_ROLES.has(roles[i])) return "given";
    if (!sampler || !isTelling || broken.has(i)) return "unknown";
    const value = sampler.values[i];
    if (value < 0) return "probably-sampled";
    if (Number.isNaN(value)) return "probably-given";
    return trainer !== undefined && trainer[i] < IMPROBABLE ? "probably-given" : "unknown";
  };
  return { of, isKnown: roles !== undefined || isTelling };
}
