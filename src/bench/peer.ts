/** A peer program that times the same cases: asked one case a line, it answers one JSON line, so that rounds interleave. */
import { z } from "zod";
import { UserError } from "../core/errors.ts";

const readySchema = z.object({ ready: z.literal(true), threads: z.number() });
/** What else a peer says of a case is handed on as it is. */
const answerSchema = z.looseObject({
  case: z.string(),
  ms: z.number().positive(),
  tokens: z.number().min(0),
});

/** One answer: milliseconds of the case, its tokens (0 where they are not counted), and what the case has besides. */
export type PeerAnswer = z.infer<typeof answerSchema>;

/** A peer program that times the same cases, asked one case a line; end it with `close`. */
export class Peer {
  readonly threads: number;
  readonly #process: Deno.ChildProcess;
  readonly #writer: WritableStreamDefaultWriter<Uint8Array<ArrayBuffer>>;
  readonly #lines: AsyncIterator<string>;

  private constructor(threads: number, process: Deno.ChildProcess, lines: AsyncIterator<string>) {
    this.threads = threads;
    this.#process = process;
    this.#lines = lines;
    this.#writer = process.stdin.getWriter();
  }

  /**
   * Starts `python3 SCRIPT --serve --threads N` and waits until it is ready.
   * @throws {UserError} When it cannot be started or says anything other than that it is ready.
   */
  static async start(script: string, threads: number): Promise<Peer> {
    let process: Deno.ChildProcess;
    try {
      process = new Deno.Command("/usr/bin/python3", {
        args: [script, "--serve", "--threads", String(threads)],
        env: { OPENBLAS_NUM_THREADS: String(threads) },
        stdin: "piped",
        stdout: "piped",
        stderr: "inherit",
      }).spawn();
    } catch (error) {
      throw new UserError(`Cannot start the peer ${script}: ${(error as Error).message}`);
    }
    const lines = linesOf(process.stdout);
    const peer = new Peer(threads, process, lines);
    const { value, done } = await lines.next();
    const ready = done ? undefined : readySchema.safeParse(parseLine(value)).data;
    if (!ready) {
      await peer.close();
      throw new UserError(
        `The peer ${script} did not say that it is ready: run it by hand with --serve to see what it says`,
      );
    }
    return peer;
  }

  /** Asks for one case. @throws {UserError} When the peer ends or answers something else. */
  async ask(peerCase: string): Promise<PeerAnswer> {
    await this.#writer.write(new TextEncoder().encode(`${peerCase}\n`));
    const { value, done } = await this.#lines.next();
    const answer = done ? undefined : answerSchema.safeParse(parseLine(value)).data;
    if (!answer) {
      throw new UserError(`The peer did not answer the case "${peerCase}" with {case, ms, tokens}`);
    }
    return answer;
  }

  /** Ends the peer. */
  async close(): Promise<void> {
    await this.#writer.close().catch(() => {});
    await this.#lines.return?.();
    await this.#process.status;
  }
}

function parseLine(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

async function* linesOf(stream: ReadableStream<Uint8Array<ArrayBuffer>>): AsyncGenerator<string> {
  let rest = "";
  for await (const text of stream.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    yield* lines;
  }
}
