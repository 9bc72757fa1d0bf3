/** Plays the environment of a module: the thread of environment_host.ts that answers. */
import process from "node:process";
import { UserError } from "../core/errors.ts";
import { writeText } from "../files/terminal.ts";
import { type EnvironmentDefinition, requireDefinition } from "../gym/environment_definition.ts";
import { playedModule } from "./played_module.ts";

/** Where a module is, and what sentences call it. */
interface Place {
  readonly address: string;
  readonly source: string;
}

async function load({ address, source }: Place): Promise<EnvironmentDefinition> {
  try {
    return requireDefinition((await import(address)).default, { source });
  } catch (error) {
    if (error instanceof UserError) throw error;
    throw new UserError(
      `it cannot be loaded: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}

/** Takes from the module what would speak for the process: its standard output is the protocol's, and it ends as one. */
function silence(): void {
  const { error } = console;
  Object.assign(console, { log: error, info: error, debug: error });
  const exit = (code?: number | string | null): never => {
    // A worker that ends ends alone, and nobody would hear of it.
    (globalThis as unknown as Pick<Worker, "postMessage">).postMessage(Number(code ?? 0));
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
    throw new Error("the process has ended");
  };
  Deno.exit = exit;
  process.exit = exit;
}

/** Answers one message after the other: the first is the module's place. */
function answerAll(): void {
  const { promise: place, resolve } = Promise.withResolvers<Place>();
  const answer = playedModule({
    load: async () => await load(await place),
    say: (line) => writeText(Deno.stdout, `${line}\n`),
  });
  let last: Promise<unknown> = place;
  globalThis.addEventListener("message", (event) => {
    const { data } = event as MessageEvent;
    if (typeof data === "string") last = last.then(() => answer(data));
    else resolve(data);
  });
}

silence();
answerAll();
