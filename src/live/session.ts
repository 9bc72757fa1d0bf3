/**
 * The trainer's half of the conversation with a page: requests go into a queue, one is worked on at a time, and steps are
 * made while none waits. Needs WebGPU, and neither files nor a document.
 */
import { DeviceLostError, errorText, UserError } from "../core/errors.ts";
import { tinyAgentKnowledge } from "../faults/tiny_agent_knowledge.ts";
import { Commands } from "../gpu/commands.ts";
import { type Gpu, NO_ADAPTER, openGpu } from "../gpu/device.ts";
import { requireTrustedGpu } from "../gpu/self_test.ts";
import { type Checkpoint, parseCheckpoint } from "../model/checkpoint.ts";
import { createParameters, destroyParameters } from "../model/parameters.ts";
import { parseSafetensors } from "../model/safetensors.ts";
import type { TrainConfig } from "../rl/config.ts";
import { playFirst } from "./live_episode.ts";
import { LiveRun } from "./live_run.ts";
import type { Answer, LiveSettings, Request, RunName } from "./messages.ts";

/** What a session is made of. */
export interface SessionOptions {
  /** The bytes of the base agent's checkpoint. */
  readonly base: Uint8Array<ArrayBuffer>;
  /** Settings of both runs beside those of the catalogue. */
  readonly config?: Partial<TrainConfig> | undefined;
  /**
   * Takes an answer. @param begun How many `begin`s were taken up before it, so that a reader can tell answers about runs that
   * another `begin` has ended.
   */
  readonly post: (answer: Answer, begun: number) => void;
  /** Opens the GPU (default: the browser's own, trusted only where it passes the self-test). */
  readonly openCommands?: () => Promise<Commands>;
}

/** What can be asked for. */
export interface Session {
  send(request: Request): void;
}

/** Opens the GPU that the browser offers. @throws {Error} When there is none that can be trusted; the end of a sentence. */
async function openOwnCommands(): Promise<Commands> {
  if (navigator.gpu === undefined) throw new Error("this browser offers no WebGPU");
  let gpu: Gpu;
  try {
    gpu = await openGpu();
  } catch (error) {
    // What is said of it elsewhere is for a machine's owner, not for the reader of a page.
    const isMissing = error instanceof UserError && error.sentence === NO_ADAPTER;
    throw isMissing ? new Error("WebGPU is on, but the browser finds no GPU for it") : error;
  }
  await requireTrustedGpu(gpu);
  return new Commands(gpu);
}

/** Lets timers, messages and whatever else waits in this thread have their turn. */
async function giveTurn(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 0));
}

/** Begins a session; nothing is opened before it is asked for. */
export function openSession(options: SessionOptions): Session {
  return new LiveSession(options);
}

class LiveSession implements Session {
  readonly #options: SessionOptions;
  readonly #base: Checkpoint;
  readonly #knowledge = tinyAgentKnowledge();
  readonly #queue: Request[] = [];
  #isWorking = false;
  #commands: Commands | undefined;
  #runs: ReadonlyMap<RunName, LiveRun> = new Map();
  /** Rounds, one step of each run, that are still wanted. */
  #wanted = 0;
  #begun = 0;

  constructor(options: SessionOptions) {
    this.#options = options;
    this.#base = parseCheckpoint(parseSafetensors(options.base, "the base agent"));
  }

  send(request: Request): void {
    this.#queue.push(request);
    if (this.#isWorking) return;
    this.#isWorking = true;
    this.#work();
  }

  #post(answer: Answer): void {
    this.#options.post(answer, this.#begun);
  }

  async #work(): Promise<void> {
    for (;;) {
      const request = this.#queue.shift();
      if (request === undefined && this.#wanted === 0) {
        this.#isWorking = false;
        return;
      }
      try {
        await (request === undefined ? this.#stepBoth() : this.#answer(request));
      } catch (error) {
        this.#fail(error);
      }
      await giveTurn();
    }
  }

  async #answer(request: Request): Promise<void> {
    switch (request.kind) {
      case "open":
        return await this.#open();
      case "begin":
        return await this.#begin(request.settings);
      case "step":
        this.#wanted = request.steps === "all" ? Infinity : this.#wanted + 1;
        return;
      case "pause":
        this.#wanted = 0;
        this.#post({ kind: "paused" });
        return;
      case "download": {
        const run = this.#runs.get(request.run);
        if (run) this.#post(await run.file(request.file));
        return;
      }
      default:
        return request satisfies never;
    }
  }

  async #open(): Promise<void> {
    this.#close();
    const { openCommands = openOwnCommands } = this.#options;
    this.#post({ kind: "progress", doing: "opening the GPU and testing it" });
    try {
      this.#commands = await openCommands();
    } catch (error) {
      // Whatever the reason: here nothing can be computed.
      const sentence = `Nothing can be computed here: ${sayCause(error)}`;
      this.#post({ kind: "failed", reason: "no-webgpu", sentence });
      return;
    }
    const { gpu } = this.#commands;
    gpu.device.lost.then(({ reason, message }) => {
      if (this.#commands?.gpu !== gpu) return;
      this.#fail(new DeviceLostError(`${reason}: ${message}`));
    });
    const { description, isSoftware } = gpu.adapter;
    const name = description === "" ? "a GPU that the browser does not name" : description;
    this.#post({ kind: "opened", adapter: { name, isSoftware } });
    this.#post({ kind: "progress", doing: "the agent plays as it is" });
    const { config, weights_W } = this.#base;
    const parameters = createParameters(this.#commands, config, weights_W);
    try {
      this.#post({ kind: "played", episodes: await playFirst(this.#commands, parameters) });
    } finally {
      destroyParameters(parameters);
    }
  }

  async #begin(settings: LiveSettings): Promise<void> {
    this.#begun++;
    this.#endRuns();
    const commands = this.#commands;
    if (commands === undefined) return;
    const isOutdated = () => this.#queue.some(({ kind }) => kind === "begin" || kind === "open");
    const names: readonly RunName[] = settings.fault === undefined
      ? ["healthy"]
      : ["healthy", "broken"];
    const runs = new Map<RunName, LiveRun>();
    this.#runs = runs;
    for (const name of names) {
      if (isOutdated()) return;
      this.#post({ kind: "progress", doing: `checking the ${name} trainer before its first step` });
      const run = new LiveRun({
        commands,
        name,
        settings,
        base: this.#base,
        config: this.#options.config ?? {},
        knowledge: this.#knowledge,
      });
      runs.set(name, run);
      this.#post(await run.check());
      await giveTurn();
    }
    this.#post({ kind: "ready", settings });
  }

  /** One step of each run. */
  async #stepBoth(): Promise<void> {
    for (const run of this.#runs.values()) {
      if (run.isOver) continue;
      this.#post(await run.step());
      await giveTurn();
      this.#post(run.judge());
      await giveTurn();
    }
    this.#wanted--;
    if (![...this.#runs.values()].every(({ isOver }) => isOver)) return;
    this.#wanted = 0;
    const hashes: Partial<Record<RunName, string>> = {};
    for (const [name, run] of this.#runs) hashes[name] = await run.hash();
    if (this.#runs.size > 0) this.#post({ kind: "ended", hashes });
  }

  #endRuns(): void {
    this.#wanted = 0;
    for (const run of this.#runs.values()) run.destroy();
    this.#runs = new Map();
  }

  /** Gives the GPU back. */
  #close(): void {
    this.#endRuns();
    const commands = this.#commands;
    this.#commands = undefined;
    commands?.gpu.device.destroy();
  }

  #fail(error: unknown): void {
    if (this.#commands === undefined) return; // It was said before.
    const isLost = error instanceof DeviceLostError || this.#commands.gpu.faults.lost !== undefined;
    this.#close();
    this.#post(
      isLost
        ? {
          kind: "failed",
          reason: "lost",
          sentence:
            "The GPU was taken away (its driver was reset, or its memory is full): start again",
        }
        : { kind: "failed", reason: "mistake", sentence: `The runs ended: ${sayCause(error)}` },
    );
  }
}

/** What went wrong, as the end of a sentence. */
function sayCause(error: unknown): string {
  const text = errorText(error);
  return /[.!?]$/.test(text) ? text : `${text}.`;
}
