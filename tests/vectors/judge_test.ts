/** Holds the judge to right, mistaken, odd, incomplete and hostile trainers. */
import { assert, assertEquals, assertThrows } from "@std/assert";
import { UserError } from "../../src/core/errors.ts";
import { VECTOR_FAMILIES } from "../../src/vectors/families.ts";
import { judgeFunction, judgeResults, vectorJudge } from "../../src/vectors/judge.ts";
import {
  judgeTrainerFunction,
  runVectors,
  type VectorFunction,
} from "../../src/vectors/judge_trainer.ts";
import { predictionsOf } from "../../src/vectors/predictions.ts";
import { readResults } from "../../src/vectors/results.ts";
import { sayVerdict } from "../../src/vectors/say_verdict.ts";

/** The mean over trained tokens in float32, with whatever its caller does to both sums. */
const tokenMean = (
  change: (sum: number, count: number, size: number) => number = (sum, count) => sum / count,
): VectorFunction =>
({ inputs: { term, mask } }) => {
  let [sum, count] = [0, 0];
  for (const [i, value] of term!.values.entries()) {
    if (mask!.values[i] === 0) continue;
    sum = Math.fround(sum + value);
    count += 1;
  }
  return { loss: count === 0 ? 0 : Math.fround(change(sum, count, term!.values.length)) };
};

Deno.test("a function in float32 matches its dialect, and what it lacks is said", async () => {
  const judged = await judgeTrainerFunction("aggregation", tokenMean(), { name: "mine" });
  assertEquals([judged.verdict, judged.dialects], ["matches", ["token_mean"]]);
  assert(sayVerdict(judged).some((sentence) => sentence.startsWith("dterm is not given: ")));
});

Deno.test("a known mistake is named with its dialect; an unknown one is not", async () => {
  const wrong = await judgeTrainerFunction("aggregation", tokenMean((sum, _, size) => sum / size));
  assertEquals(wrong.verdict, "mistaken");
  assert(wrong.mistakes.some(({ name }) => name === "denominator_counts_masked"));
  const odd = await judgeTrainerFunction(
    "aggregation",
    tokenMean((sum, count) => sum / count ** 0.9),
  );
  assertEquals([odd.verdict, odd.mistakes], ["unknown", []]);
  assert(sayVerdict(odd)[0]!.includes("no known mistake explains it"));
});

Deno.test("each edge is told apart, and two mistakes at different edges are both named", async () => {
  const judged = await judgeTrainerFunction("aggregation", ({ inputs: { term, mask } }) => {
    const sum = (values: readonly number[]) => values.reduce((all, value) => all + value, 0);
    return {
      loss: sum(term!.values.map((value, i) => value * mask!.values[i]!)) / sum(mask!.values),
    };
  });
  assertEquals([judged.verdict, judged.dialects], ["matches-but-edges", ["token_mean"]]);
  assertEquals(judged.mistakes.map(({ name, explains }) => [name, explains]), [
    ["mask_by_product", ["nan_masked", "infinity_masked"]],
    ["nan_where_empty", ["empty_batch"]],
  ]);
});

Deno.test("results rounded to bfloat16 are called so", async () => {
  const bits = new DataView(new ArrayBuffer(4));
  const judged = await judgeTrainerFunction("aggregation", (call) => {
    const { loss } = tokenMean()(call) as { loss: number };
    bits.setFloat32(0, loss);
    bits.setUint32(0, (bits.getUint32(0) + 0x8000) & 0xffff0000);
    return { loss: bits.getFloat32(0) };
  });
  assertEquals([judged.verdict, judged.dialects], ["low-precision", ["token_mean"]]);
});

Deno.test("every dialect is recognised from its own answers, and every mistake from its own", () => {
  const wrongly: string[] = [];
  const judgeWith = vectorJudge();
  for (const family of VECTOR_FAMILIES) {
    const { digest } = runless(family.name);
    const judge = (
      answers: (id: string) => Readonly<Record<string, { values: readonly number[] }>>,
    ) =>
      judgeWith({
        name: "f",
        family: family.name,
        digest,
        results: Object.fromEntries(family.cases.map(({ id }) => [
          id,
          Object.fromEntries(
            Object.entries(answers(id)).map(([key, { values }]) => [key, values.map(Math.fround)]),
          ),
        ])),
      });
    const predictions = predictionsOf(family);
    for (const { dialect, outputs } of predictions) {
      const { verdict, dialects } = judge((id) => outputs.get(id)!);
      if (verdict !== "matches" || dialects.join() !== dialect.name) {
        wrongly.push(`${family.name} ${dialect.name}: ${verdict} ${dialects}`);
      }
    }
    // One dialect a family: the judge goes through all candidates each time.
    const { dialect, outputs, mistaken } = predictions[0]!;
    for (const one of mistaken) {
      const judged = judge((id) => one.outputs.get(id) ?? outputs.get(id)!);
      const named = judged.mistakes.map(({ name }) => name);
      if (!named.includes(one.mistake.name)) {
        wrongly.push(`${dialect.name} with ${one.mistake.name}: ${judged.verdict} ${named}`);
      }
    }
  }
  assertEquals(wrongly, []);
});

Deno.test("a trainer that is off in a way that nobody has named is given no name", () => {
  const odd: readonly ((value: number, index: number) => number)[] = [
    (value) => 0.37 * value,
    (value) => 1.001 * value,
    (value, index) => index % 2 === 0 ? value : 1.1 * value,
  ];
  const judgeWith = vectorJudge();
  const named: string[] = [];
  for (const { name: family, cases, dialects } of VECTOR_FAMILIES) {
    const { digest } = runless(family);
    for (const { name, compute } of dialects.filter((_, i) => i % 5 === 0)) {
      for (const [i, change] of odd.entries()) {
        const results = Object.fromEntries(cases.map((one) => [
          one.id,
          Object.fromEntries(
            Object.entries(compute(one)).map(([key, { values }]) => [
              key,
              values.map((value, index) => Math.fround(change(value, index))),
            ]),
          ),
        ]));
        const { verdict, mistakes } = judgeWith({ name: "f", family, digest, results });
        if (verdict !== "unknown" || mistakes.length > 0) named.push(`${family} ${name} ${i}`);
      }
    }
  }
  assertEquals(named, []);
});

/** A function's results before it has any. */
function runless(family: string) {
  const results = { name: "f", family, digest: "?", results: {} };
  const note = judgeFunction(results).notes[0]!;
  return { ...results, digest: /here (\w+)/.exec(note)![1]! };
}

Deno.test("missing, extra, wrongly sized and failed vectors are said in a sentence each", async () => {
  const given = await runVectors("aggregation", (call) => {
    if (call.inputs.mask!.shape[0] === 1) throw new Error("too small");
    return tokenMean()(call);
  });
  const results = { ...given.results, extra: { loss: 1 }, full: { loss: [1, 2] } };
  const judged = judgeFunction({ ...given, results });
  assertEquals([judged.verdict, judged.dialects], ["unknown", ["token_mean"]]);
  const said = sayVerdict(judged).join("\n");
  for (
    const part of [
      "no result for one_row",
      "extra: no such vector",
      "full: loss has 2 values where 1 are expected",
      "one_row: the function failed: too small",
    ]
  ) assert(said.includes(part), said);
});

Deno.test("an output of another size, or of a call that failed, matches nothing", async () => {
  const given = await runVectors("aggregation", tokenMean());
  const withGradient = Object.fromEntries(
    Object.entries(given.results).map(([id, outputs]) => [id, { ...outputs, dterm: [1, 2] }]),
  );
  const sized = judgeFunction({ ...given, results: withGradient });
  assertEquals([sized.verdict, sized.mistakes], ["unknown", []]);
  const failed = judgeFunction({ ...given, errors: { full: "out of memory" } });
  assertEquals([failed.verdict, failed.judged], ["incomplete", 11]);
});

Deno.test("log-probs and entropies that are differences from the log-sum-exp match, in float32", async () => {
  const f = Math.fround;
  const sum = (values: readonly number[]) => values.reduce((total, value) => f(total + value), 0);
  const judged = await judgeTrainerFunction("logprob", ({ inputs, config }) => {
    const { shape: [N = 0, V = 0], values } = inputs.logits!;
    const rows = Array.from({ length: N }, (_, n) => {
      const z = values.slice(n * V, (n + 1) * V).map((value) => f(value / config.temperature!));
      const top = Math.max(...z);
      const weights = z.map((value) => f(Math.exp(value - top)));
      const total = sum(weights);
      const logSumExp = f(f(Math.log(total)) + top);
      const mean = sum(z.map((value, v) => f(f(weights[v]! / total) * value)));
      return { logp: f(z[inputs.target!.values[n]!]! - logSumExp), entropy: f(logSumExp - mean) };
    });
    return { logp: rows.map(({ logp }) => logp), entropy: rows.map(({ entropy }) => entropy) };
  });
  assertEquals([judged.verdict, judged.differs], ["matches", []]);
});

Deno.test("a gradient of two outputs is not judged where one of them is not computed", async () => {
  const judged = await judgeTrainerFunction("logprob", ({ inputs, config }) => {
    const { logits, target, dlogp } = inputs;
    const [N = 0, V = 0] = logits!.shape;
    const logp: number[] = [], dlogits: number[] = [];
    for (let n = 0; n < N; n++) {
      const row = logits!.values.slice(n * V, (n + 1) * V).map((z) => z / config.temperature!);
      const top = Math.max(...row);
      const lse = top + Math.log(row.reduce((sum, z) => sum + Math.exp(z - top), 0));
      logp.push(row[target!.values[n]!]! - lse);
      for (const [v, z] of row.entries()) {
        const chosen = v === target!.values[n] ? 1 : 0;
        dlogits.push(dlogp!.values[n]! * (chosen - Math.exp(z - lse)) / config.temperature!);
      }
    }
    return { logp, dlogits }; // Right, and without the entropy that the vectors' gradient has, too.
  });
  assertEquals([judged.verdict, judged.mistakes], ["matches", []]);
  assert(
    judged.notes.some((note) => note.startsWith("dlogits is not judged ")),
    judged.notes.join(),
  );
});

Deno.test("a mistake is not named from a few vectors", async () => {
  const given = await runVectors("aggregation", tokenMean((sum, count) => sum / count / 2));
  const { ragged, holes, left_padding } = given.results;
  const judged = judgeFunction({
    ...given,
    results: { ragged: ragged!, holes: holes!, left_padding: left_padding! },
  });
  assertEquals([judged.verdict, judged.mistakes], ["unknown", []]);
  assert(judged.notes.includes("too few vectors to name a mistake"));
});

Deno.test("other vectors, another family and no results are not judged", () => {
  const judged = judgeResults({
    v: 1,
    functions: [
      { name: "a", family: "aggregation", digest: "0", results: { full: { loss: 1 } } },
      { name: "b", family: "agregation", digest: "0", results: {} },
      { ...runless("aggregation"), name: "c" },
    ],
  });
  assertEquals(judged.map(({ verdict }) => verdict), Array(3).fill("not-checkable"));
  assert(judged[1]!.notes[0]!.includes('did you mean "aggregation"'), judged[1]!.notes[0]);
});

Deno.test("readResults() refuses what is not a file of results with one sentence", () => {
  const deep = JSON.parse(`${"[".repeat(500)}1${"]".repeat(500)}`);
  const one = (results: unknown) => ({
    v: 1,
    functions: [{ name: "f", family: "kl", digest: "0", results }],
  });
  for (
    const [value, part] of [
      [null, "an object"],
      [{ v: 2, functions: [] }, "version 2"],
      [{ v: 1, functions: [] }, "at least 1 items"],
      [one({ x: { loss: "12" } }), "has none of the allowed forms"],
      [one({ x: { loss: deep } }), "nested deeper"],
    ] as const
  ) {
    const error = assertThrows(() => readResults(value, { source: "r.json" }), UserError);
    assert((error as Error).message.includes(part), (error as Error).message);
  }
  const odd = readResults(
    JSON.parse(
      JSON.stringify(one({ x: { loss: [[1, "NaN"], null] } }))
        .replace('"x"', '"__proto__"'),
    ),
    { source: "r.json" },
  );
  assertEquals(judgeResults(odd)[0]!.verdict, "not-checkable");
});
