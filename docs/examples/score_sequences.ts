/** Scores sequences of token ids on the device: the log-prob of every token given those before it. */
import {
  Commands,
  createParameters,
  destroyParameters,
  encode,
  initialValues,
  openGpu,
  scoreEpisodes,
  TINY_AGENT,
} from "agentrl";

const ids_B = ["<task> range <call> read max </call>", "<task> range <call> submit </call>"]
  .map((text) => encode(text));

const commands = new Commands(await openGpu());
const parameters = createParameters(commands, TINY_AGENT, initialValues(TINY_AGENT, 0));
const { logp_N } = await scoreEpisodes(commands, parameters, {
  ids_B,
  temperature: 1,
  withLogits: false,
});
for (const [b, ids] of ids_B.entries()) {
  const first = ids_B.slice(0, b).reduce((sum, { length }) => sum + length, 0);
  // Row n is about the token after token n; the last row of a sequence has none.
  const logps = logp_N.subarray(first, first + ids.length - 1);
  const total = logps.reduce((sum, logp) => sum + logp, 0);
  console.log(`${ids.length} tokens, ${total.toFixed(2)} nats`);
}
destroyParameters(parameters);
