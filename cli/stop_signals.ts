/** The signals that end a run: the first one asks it to save itself, the second one ends it immediately. */
import { remark } from "../src/files/terminal.ts";

/** 128 + the signal's number, as shells report it. */
const EXIT_CODES = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;

/** A signal that is heard. */
type StopSignal = keyof typeof EXIT_CODES;

/** The exit code of a work that a signal ended. */
export type StopCode = typeof EXIT_CODES[StopSignal];

const NAMES: Readonly<Record<StopSignal, string>> = {
  SIGINT: "Ctrl-C",
  SIGTERM: "SIGTERM",
  SIGHUP: "SIGHUP",
};

/**
 * A scheduler may send SIGTERM to every process of a job while their parent passes it on: within this time it is one signal.
 * Nobody ends a process by hand with two of them.
 */
const REPEATED_TERM_MS = 2000;

/** How a work with something to save answers signals. */
interface Saving {
  /** What a first signal begins. */
  readonly doing: string;
  /** Ends the work at once on a second signal, where leaving the process would not. */
  readonly onSecond?: () => void;
}

/** Whether hang-ups were ignored before this process began, as `nohup` does it; the launcher says so. */
function isHangUpIgnored(): boolean {
  return Deno.env.get("AGENTRL_HANGUP") === "ignored";
}

/** Hears the signals from its making until it is disposed of. */
export class StopSignals implements Disposable {
  readonly #listeners: (readonly [StopSignal, () => void])[] = [];
  #first: StopCode | undefined;
  #firstMs = 0;
  #say: ((line: string) => void) | undefined;
  #saving: Saving = { doing: "finishing this step and saving" };

  /** Begins to hear. Until {@linkcode StopSignals.saveFirst} there is nothing to save: the first signal ends the process. */
  constructor() {
    for (const signal of Object.keys(EXIT_CODES) as StopSignal[]) {
      // Deno takes the ignored signal for a deadly one as soon as any is listened to, so that it must be heard to be ignored.
      const isIgnored = signal === "SIGHUP" && isHangUpIgnored();
      const listener = isIgnored ? () => {} : () => this.#hear(signal);
      Deno.addSignalListener(signal, listener);
      this.#listeners.push([signal, listener]);
    }
  }

  /** From now on a first signal is a wish. @param say Shows a line above the progress. */
  saveFirst(say: (line: string) => void, saving: Saving = this.#saving): void {
    this.#say = say;
    this.#saving = saving;
  }

  /** The exit code of the signal that was heard; undefined: none was. */
  get code(): StopCode | undefined {
    return this.#first;
  }

  #hear(signal: StopSignal): void {
    const code = EXIT_CODES[signal];
    if (this.#say === undefined) {
      remark(`agentrl: ${NAMES[signal]}: ended before the first step\n`);
      Deno.exit(code);
    }
    if (this.#first !== undefined) return this.#hearAgain(signal);
    this.#first = code;
    this.#firstMs = performance.now();
    this.#say(`${NAMES[signal]}: ${this.#saving.doing} (a second one stops immediately)`);
  }

  #hearAgain(signal: StopSignal): void {
    const code = EXIT_CODES[signal];
    const isRepeated = signal === "SIGTERM" && code === this.#first &&
      performance.now() - this.#firstMs < REPEATED_TERM_MS;
    if (isRepeated) return;
    const { onSecond, doing } = this.#saving;
    if (onSecond === undefined) Deno.exit(code);
    this.#saving = { doing };
    onSecond();
  }

  /** Signals do again what they do by themselves. */
  [Symbol.dispose](): void {
    for (const [signal, listener] of this.#listeners) Deno.removeSignalListener(signal, listener);
  }
}
