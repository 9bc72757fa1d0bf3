/** A session of few episodes on a device of the caller's, and what it answers. */
import { golden } from "../e2e/command_line.ts";
import type { Commands } from "../../src/gpu/commands.ts";
import type { Answer, LiveSettings } from "../../src/live/messages.ts";
import { openSession } from "../../src/live/session.ts";
import type { TrainConfig } from "../../src/rl/config.ts";

/** Eight short episodes a step, one update, no evaluation. */
export const SMALL: Partial<TrainConfig> = {
  problems: 2,
  groupSize: 4,
  minibatches: 1,
  maxTurns: 3,
  evalEvery: 0,
};

/** An agent that every session here begins with. */
export function goldenBase(): Uint8Array<ArrayBuffer> {
  return Deno.readFileSync(golden("model.safetensors"));
}

/** A session whose answers can be waited for. */
export function listenTo(
  options: {
    readonly openCommands?: () => Promise<Commands>;
    readonly base?: Uint8Array<ArrayBuffer>;
  } = {},
) {
  const answers: Answer[] = [];
  let wake = () => {};
  const session = openSession({
    base: goldenBase(),
    config: SMALL,
    ...options,
    post: (answer) => {
      answers.push(answer);
      wake();
    },
  });
  let seen = 0;
  /** The next answer of a kind; those before it are skipped. */
  async function next<Kind extends Answer["kind"]>(
    kind: Kind,
  ): Promise<Extract<Answer, { kind: Kind }>> {
    for (;;) {
      while (seen < answers.length) {
        const answer = answers[seen++]!;
        if (answer.kind === kind) return answer as Extract<Answer, { kind: Kind }>;
        if (answer.kind === "failed") throw new Error(answer.sentence);
      }
      await new Promise<void>((resolve) => wake = resolve);
    }
  }
  return { ...session, send: session.send.bind(session), answers, next };
}

/** Opens, begins and makes all steps. */
export async function wholeSession(
  settings: LiveSettings,
  options: Parameters<typeof listenTo>[0],
) {
  const session = listenTo(options);
  session.send({ kind: "open" });
  session.send({ kind: "begin", settings });
  session.send({ kind: "step", steps: "all" });
  const { hashes } = await session.next("ended");
  return { session, hashes };
}
