/** The processes of an environment: its slots are shared out among them, and one that ends is started again. */
import { UserError } from "../core/errors.ts";
import { at } from "../core/element.ts";
import {
  type EnvironmentDefinition,
  requireFacts,
  requireSpec,
} from "../gym/environment_definition.ts";
import { remark } from "../files/terminal.ts";
import {
  EnvironmentProcess,
  type EnvironmentProcessOptions,
  ProcessEndedError,
} from "./environment_process.ts";
import type { Ask, AskType, Hello, SlotAnswer } from "./environment_protocol.ts";
import { EnvironmentProxy } from "./environment_proxy.ts";
import { Recovery } from "./recovery.ts";

/** How the processes of an environment are run. */
export interface PoolOptions {
  /** What sentences call the environment before it has said its name. */
  readonly source: string;
  /** Program and arguments; each process is one of it. */
  readonly words: readonly string[];
  /** How many processes at most (default {@linkcode defaultProcesses}). What is played does not depend on it. */
  readonly processes?: number | undefined;
  /** How long a process may say nothing while it owes an answer (default 60 000). */
  readonly timeoutMs?: number | undefined;
  /** How often in a row a process may end without having finished an episode before the work ends (default 5). */
  readonly crashesInRow?: number;
  /** Takes pieces of the processes' standard error (default: this program's own). */
  readonly onRemark?: (text: string) => void;
}

const DEFAULT_TIMEOUT_MS = 60_000;
const DEFAULT_CRASHES_IN_ROW = 5;
const MOST_DEFAULT_PROCESSES = 4;

/** Processes of an environment where nobody says how many: one a processor, 4 at most. */
export function defaultProcesses(): number {
  return Math.min(MOST_DEFAULT_PROCESSES, navigator.hardwareConcurrency);
}

/** A place in the pool. */
interface Member {
  process: EnvironmentProcess | undefined;
  /** How many processes it has lost. */
  ends: number;
  /** How many of them since an episode ended well, but for those that an episode which was played again has ended. */
  endsInRow: number;
  readonly recovery: Recovery;
}

/** Processes of one environment, closed when it is disposed of. */
export class EnvironmentPool implements AsyncDisposable {
  /** The environment as the processes tell it; its environments are slots in them. */
  readonly definition: EnvironmentDefinition;
  readonly #options: PoolOptions;
  readonly #members: readonly Member[];
  readonly #hello: string;
  #slots = 0;

  private constructor(
    options: PoolOptions,
    { hello, members }: { readonly hello: Hello; readonly members: readonly Member[] },
  ) {
    this.#options = options;
    this.#members = members;
    this.#hello = tellingOf(hello);
    const facts = requireFacts(hello, { source: options.source });
    const spec = requireSpec(
      { ...hello.spec, taskCount: facts.tasks.train + facts.tasks.heldout },
      facts,
    );
    this.definition = {
      ...facts,
      create: () => {
        const slot = this.#slots++;
        return new EnvironmentProxy({ spec, words: facts.words, slot, place: this.#placeOf(slot) });
      },
      ...(hello.demonstrations === true && { demonstration: (task) => this.#demonstrate(task) }),
    };
  }

  /**
   * Starts the first process and hears what it says of its environment.
   *
   * @throws {UserError} When it cannot be started, does not speak the protocol, or its environment is not as required.
   */
  static async open(options: PoolOptions): Promise<EnvironmentPool> {
    const { processes = defaultProcesses() } = options;
    const members = Array.from(
      { length: Math.max(1, processes) },
      (): Member => ({
        process: undefined,
        ends: 0,
        endsInRow: 0,
        recovery: new Recovery(),
      }),
    );
    const process = startFor(at(members, 0), options);
    try {
      return new EnvironmentPool(options, { hello: await process.hello, members });
    } catch (error) {
      await process.close();
      if (error instanceof UserError || !(error instanceof Error)) throw error;
      const begin = "Cannot use the environment ";
      // What loads a module says whole sentences.
      throw new UserError(
        error.message.startsWith(begin)
          ? error.message
          : `${begin}${options.source}: ${error.message}`,
      );
    }
  }

  /** A slot's way to its process. */
  #placeOf(slot: number) {
    const member = at(this.#members, slot % this.#members.length);
    return {
      ends: () => member.ends,
      ask: <T extends AskType>(type: T, ask: Ask) => this.#ask(member, { type, ask }),
      recovery: member.recovery,
    };
  }

  async #ask<T extends AskType>(
    member: Member,
    { type, ask }: { readonly type: T; readonly ask: Ask },
  ): Promise<SlotAnswer<T>> {
    try {
      const answer = await this.#processOf(member).ask(type, ask);
      if ("done" in answer && answer.done === true) member.endsInRow = 0;
      return answer;
    } catch (error) {
      if (!(error instanceof ProcessEndedError)) throw error;
      const { crashesInRow = DEFAULT_CRASHES_IN_ROW } = this.#options;
      if (member.endsInRow < crashesInRow) throw error;
      throw new Error(
        member.endsInRow === 1
          ? error.message
          : `${member.endsInRow} times in a row no episode was finished before ${error.message}`,
      );
    }
  }

  #processOf(member: Member): EnvironmentProcess {
    if (member.process !== undefined) return member.process;
    return startFor(member, {
      ...this.#options,
      isExpected: (hello) => tellingOf(hello) === this.#hello,
    });
  }

  async #demonstrate(task: number): Promise<readonly (readonly number[])[]> {
    const slot = this.#slots++;
    try {
      return (await this.#placeOf(slot).ask("demonstrate", { slot, task })).calls;
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      const { name } = this.definition;
      throw new UserError(
        `The environment ${name} failed in the demonstration of task ${task}: ${error.message}`,
      );
    }
  }

  /** Lets the processes end. */
  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#members.map(({ process }) => process?.close()));
  }
}

function startFor(
  member: Member,
  options: PoolOptions & Pick<EnvironmentProcessOptions, "isExpected">,
): EnvironmentProcess {
  const { words, isExpected } = options;
  const process = new EnvironmentProcess({
    words,
    ...(isExpected && { isExpected }),
    timeoutMs: options.timeoutMs ?? DEFAULT_TIMEOUT_MS,
    onRemark: options.onRemark ?? remark,
    onEnd: () => {
      member.process = undefined;
      member.ends++;
      if (!member.recovery.isRunning) member.endsInRow++;
    },
  });
  member.process = process;
  return process;
}

function tellingOf(hello: Hello): string {
  return JSON.stringify(hello);
}
