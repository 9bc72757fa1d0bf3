/** What a dump lacks is said with how that form comes to hold it; dumps of texts are judged by their groups alone. */
import { assert, assertEquals } from "@std/assert";
import { judgeTokens, TOKEN_CHECKS } from "../../../src/diagnose/tokens/judge_tokens.ts";
import type { TokenBatch, TokenSequence } from "../../../src/tokens/token_batch.ts";
import { dumpOf, made } from "./made_sequences.ts";

function ofForm(form: string, sequences: readonly TokenSequence[]): TokenBatch {
  const batch = dumpOf(sequences);
  return { source: { ...batch.source, form }, sequences: batch.sequences };
}

const bare = made({ ids: [1, 2, 3, 4], mask: [0, 0, 1, 1] });

Deno.test("judgeTokens() says nothing against a dump that lacks everything, and names no check it cannot make", async () => {
  const ids = new Set([...TOKEN_CHECKS.flatMap((kind) => kind.ids), "no_tokens"]);
  for (const sequence of [bare, made({ ids: [] }), made({ ids: [7] }), made({ ids: [1, 2] })]) {
    const findings = await judgeTokens(dumpOf([sequence]));
    assert(findings.length > 0);
    for (const { id, class: own, sentence } of findings) {
      assert(ids.has(id), id);
      assert(own !== "violated" && own !== "suspect", `${id}: ${sentence}`);
      assert(!/NaN|undefined|Infinity/.test(sentence), sentence);
    }
  }
  assertEquals((await judgeTokens(dumpOf([])))[0].id, "no_tokens");
});

Deno.test("judgeTokens() says how a form comes to hold what lacks", async () => {
  const next = async (form: string, id: string) =>
    (await judgeTokens(ofForm(form, [bare]))).find((finding) => finding.id === id)?.next;
  assert((await next("traces", "shifted_log_probs"))?.includes("enable_token_export"));
  assert((await next("token_exports", "advantage_not_centred"))?.includes("traces.jsonl"));
  assert((await next("common_dump", "sampler_trainer_gap_tokens"))?.includes("lp_sampler"));
});

Deno.test("judgeTokens() judges texts by their groups: copies, unequal pay, errors", async () => {
  const long = "the same long answer ".repeat(30);
  const text = (answer: string, reward: number, stop?: "error" | "end"): TokenSequence => ({
    ...made({ ids: [] }),
    step: 1,
    prompt: "a question",
    answer,
    reward,
    ...(stop ? { stop } : {}),
  });
  const findings = await judgeTokens(ofForm("verl_rollouts", [
    text(long, 1),
    text(long, 0),
    text(`${long}!`, 1),
    text("short", 0),
  ]));
  const classes = Object.fromEntries(findings.map((finding) => [finding.id, finding.class]));
  assertEquals(classes.duplicate_samples, "suspect");
  assertEquals(classes.reward_scored_elsewhere, "suspect");
  assertEquals(
    findings.find(({ id }) => id === "no_tokens")?.next?.includes("verl_tokens.py"),
    true,
  );
  assertEquals(classes.shifted_log_probs, undefined);
});
