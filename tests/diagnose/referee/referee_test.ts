/** Tests of the referee: sides that are broken on purpose are named with their cause, and healthy ones are not. */
import { assert, assertEquals } from "@std/assert";
import { speakAgainst } from "../../../src/diagnose/finding.ts";
import { LargestGaps, ownGap } from "../../../src/diagnose/referee/largest_gaps.ts";
import { referee } from "../../../src/diagnose/referee/referee.ts";
import { REFEREE_DOCUMENT, reportDocument } from "../../../src/diagnose/referee/report_schema.ts";
import type { TokenSequence, TokenValues } from "../../../src/tokens/token_batch.ts";
import { judgePlanted, PLANTED, planted, plantedDump } from "./planted.ts";
import { perturbed, scorer, toyModel } from "./toy_model.ts";

const { exact, atTemperature, stale, noisy } = planted;

for (const name of Object.keys(PLANTED)) {
  Deno.test(`referee(): ${name}`, async () => {
    for (const seed of [20, 21]) {
      const { found, said, report } = await judgePlanted(name, seed);
      assertEquals([said, found], [PLANTED[name]!.ids, PLANTED[name]!.causes], report.verdict);
      const isHealthy = name.startsWith("healthy") || name.startsWith("all sides");
      assertEquals(
        speakAgainst(report.findings, { strict: true }),
        !isHealthy && !name.startsWith("sampler rounds"),
      );
    }
  });
}

const MODEL = toyModel(3);
const score = scorer(MODEL);
const dump = (sides: Parameters<typeof plantedDump>[0]) =>
  plantedDump(sides, { model: MODEL, seed: 3 }).slice(0, 6);

Deno.test("referee() gives a side's figures by position, probability, turn and sequence", async () => {
  const sequences = dump({ sampler: exact, old: exact });
  const values = sequences[2]!.logProbs.old!.values;
  values[11]! -= 0.5;
  values[6]! += 0.25;
  const report = await referee({ sequences, score });
  const { sides: [sampler, old], worst: listed } = reportDocument(report, { sequences });
  assertEquals(sampler!.explainedBy, null);
  const { tokens, meanNats, signedMeanNats, max, worst, bySequence, byTurn, byPosition } = old!;
  const close = (a: number, b: number) => assert(Math.abs(a - b) < 1e-6, `${a} ${b}`);
  assertEquals(tokens, 240);
  close(meanNats, 0.75 / 240);
  close(signedMeanNats, -0.25 / 240);
  close(max, 0.5);
  assertEquals([worst.row, worst.token, bySequence[0]!.row], [3, 11, 3]);
  close(bySequence[0]!.meanNats, 0.75 / 40);
  close(byTurn[0]!.meanNats, 0.25 / 6);
  close(byPosition[0]!.meanNats, 0.75 / 60);
  assertEquals(old!.byProbability.reduce((sum, part) => sum + part.tokens, 0), 240);
  // Few tokens that carry the whole gap are no rounding.
  assertEquals(old!.explainedBy?.cause, "unexplained");
  const [{ byToken, byTurnToken, byLogProb }] = [old!.curves];
  for (const curve of [byToken, byTurnToken, byLogProb]) {
    assertEquals(curve.reduce((sum, point) => sum + point.tokens, 0), 240);
    close(curve.reduce((sum, point) => sum + point.tokens * point.meanNats, 0) / 240, 0.75 / 240);
  }
  close(byTurnToken[0]!.max, 0.25);
  assertEquals([byToken[0]!.at, byTurnToken[0]!.at], [6, 0]);
  // Tokens around the worst one of each sequence, the sequence with the largest gap first.
  const shown = listed.find(({ row }) => row === 3)!;
  assertEquals([shown.length, shown.first, shown.tokens.length], [46, 0, 32]);
  assertEquals(shown.tokens[0]!.model, null);
  const { model, sides, isCompared } = shown.tokens[11]!;
  assert(isCompared && !shown.tokens[5]!.isCompared);
  close(sides.old! - model!, -0.5);
  REFEREE_DOCUMENT.pick({ sides: true, worst: true }).parse(reportDocument(report, { sequences }));
});

Deno.test("referee() says what a dump lacks", async () => {
  const lacks = async (sequences: TokenSequence[]) => {
    const { findings: [finding, ...rest], sides } = await referee({ sequences, score });
    assertEquals([finding!.class, rest, sides], ["not-checkable", [], []]);
    return `${finding!.sentence} ${finding!.next}`;
  };
  assert((await lacks([])).includes("no whole sequence"));
  const cut = await referee({ sequences: [], score, skipped: ["a half-written last line (1)"] });
  assert(cut.verdict.includes("skipped: a half-written last line (1)"));
  const [one] = dump({ sampler: exact });
  assert(
    (await lacks([{ ...one!, ids: new Uint32Array(), logProbs: {} }])).includes("no token ids"),
  );
  assert((await lacks([{ ...one!, logProbs: {} }])).includes("lp_sampler"));
  const nothing = { values: new Float64Array(one!.ids.length).fill(NaN), nonFinite: [] };
  assert((await lacks([{ ...one!, logProbs: { old: nothing } }])).includes("finite"));
  const few = { ...one!, mask: Uint8Array.from(one!.ids, (_, i) => Number(i === 9)) };
  few.logProbs.sampler!.values[9]! -= 1;
  const { findings } = await referee({ sequences: [few], score });
  assertEquals(findings.map(({ id, class: kind }) => [id, kind]), [[
    "sides_agree",
    "not-checkable",
  ]]);
});

Deno.test("referee() takes a trainer after its update, a stated temperature and several steps for what they are", async () => {
  const later = dump({ sampler: noisy, trainer: stale(0.3) })
    .map((sequence) => ({ ...sequence, phase: "post" as const }));
  const [moved] = (await referee({ sequences: later, score })).findings;
  assertEquals([moved!.id, moved!.class], ["trainer_off", "expected"]);
  const stated = dump({ sampler: atTemperature(0.7), old: exact })
    .map((sequence) => ({ ...sequence, temperature: 0.7 }));
  const [hot] = (await referee({ sequences: stated, score })).findings;
  assert(hot!.sentence.includes("that the dump says was asked for"));
  const at07 = await referee({ sequences: stated, score, temperature: 0.7 });
  assertEquals(at07.findings.map(({ id }) => id), ["old_off"]);
  const steps = dump({ sampler: stale(0.3), old: exact })
    .map((sequence, step) => ({ ...sequence, step }));
  assert((await referee({ sequences: steps, score })).findings[0]!.sentence.includes("6 steps"));
});

Deno.test("referee() decides with a second folder whether the reference is the start", async () => {
  const start = perturbed(MODEL, 99, 0.3);
  const scoreReference = scorer(start);
  const right = plantedDump({ old: exact }, { model: MODEL, seed: 3 }).slice(0, 6);
  const ids = async (reference: "start" | "policy", other?: typeof scoreReference) => {
    const sequences = right.map((sequence) => ({
      ...sequence,
      logProbs: { ...sequence.logProbs } as Record<string, TokenValues>,
    }));
    const scores = await (reference === "start" ? scoreReference : score)(
      sequences.map((one) => one.ids),
      1,
    );
    sequences.forEach((sequence, b) => {
      sequence.logProbs.reference = {
        values: Float64Array.of(NaN, ...Array.from(scores[b]!.logp)),
        nonFinite: [],
      };
    });
    const { findings } = await referee({ sequences, score, scoreReference: other });
    return findings.map(({ id, class: kind }) => `${id} ${kind}`);
  };
  assertEquals(await ids("start", scoreReference), [
    "sides_agree holds",
    "reference_is_not_start holds",
  ]);
  assertEquals(await ids("policy", scoreReference), [
    "sides_agree holds",
    "reference_off suspect",
    "reference_is_not_start violated",
  ]);
  assertEquals(await ids("start"), ["sides_agree holds", "reference_off not-checkable"]);
  assertEquals(await ids("policy"), ["sides_agree holds"]);
});

Deno.test("LargestGaps keeps the sequences whose sides are furthest apart", () => {
  const sequences = dump({ sampler: exact, old: exact });
  const sizes = [0, 3, 1, 5, 0, 2];
  sequences.forEach((sequence, b) => {
    sequence.logProbs.old!.values.forEach((value, i, all) => all[i] = value + sizes[b]!);
  });
  assert(Math.abs(ownGap(sequences[3]!) - 5) < 1e-9);
  const kept = new LargestGaps(2), all = new LargestGaps();
  for (let round = 0; round < 40; round++) {
    for (const sequence of sequences.slice(round === 0 ? 0 : 4)) kept.add(sequence);
  }
  sequences.forEach((sequence) => all.add(sequence));
  assertEquals(kept.sequences.map(({ row }) => row), [4, 2]);
  assertEquals(all.sequences.length, 6);
});
