/** The table of `agentrl metrics --producer NAME`. */
import { assert, assertEquals } from "@std/assert";
import { describeProducer, producerDocument } from "../../cli/producer_table.ts";
import { keyText } from "../../src/producers/key_text.ts";
import { producerById, PRODUCERS } from "../../src/producers/producers.ts";

for (const columns of [80, 120]) {
  Deno.test(`describeProducer() fits every producer into ${columns} columns and leaves no key out`, () => {
    for (const producer of PRODUCERS) {
      const lines = describeProducer(producer, columns);
      for (const line of lines) {
        const isKey = producer.definitions.some(({ key }) => line === `  ${keyText(key)}`);
        assert([...line].length <= columns || isKey, `${producer.id}: ${line}`);
        assert(line === line.trimEnd(), `${producer.id}: "${line}" ends in spaces`);
      }
      for (const { key } of producer.definitions) {
        assert(lines.includes(`  ${keyText(key)}`), `${producer.id}: ${keyText(key)}`);
      }
    }
  });
}

Deno.test("describeProducer() says what a key is, its sign, its unit, and what 0 and NaN mean", () => {
  const verl = producerById("verl");
  if (!verl) throw new RangeError("There is no producer verl");
  const text = describeProducer(verl, 200).join("\n");
  assert(
    / {2}actor\/ppo_kl\n {4}k1 · over tokens · nats · signed\n {6}Mean of old − new/.test(text),
  );
  assert(text.includes("      0: With one mini-batch per step it is 0 by construction"));
  assert(text.includes("      NaN: A mini-batch was not finite."));
  assert(text.includes("Healthy up to 0.005, a look from 0.01: verl's FAQ"));
  assert(text.includes("gap: actor_rollout_ref.rollout.calculate_log_probs=True"));
});

Deno.test("producerDocument() is plain data and holds every definition", () => {
  for (const producer of PRODUCERS) {
    const document = JSON.parse(JSON.stringify(producerDocument(producer)));
    assertEquals(document.definitions.length, producer.definitions.length);
    assert(document.definitions.every((one: { key: unknown }) => typeof one.key === "string"));
  }
});
