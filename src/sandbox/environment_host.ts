/**
 * The program of the process in which a module's environment is played; its arguments are the module's address and what
 * sentences call it. This thread only reads, so that the end of its input ends the process even while the environment hangs;
 * a worker plays.
 */
import { remark } from "../files/terminal.ts";

/** Reads until the input ends, or until the worker ends the process. */
async function host([address, source]: readonly string[]): Promise<never> {
  const worker = new Worker(import.meta.resolve("./environment_worker.ts"), { type: "module" });
  // What the environment would end the process with; a worker's own end is that of the worker alone.
  worker.onmessage = ({ data }) => Deno.exit(data);
  worker.onerror = ({ message }) => {
    remark(`${message}\n`);
    Deno.exit(1);
  };
  worker.postMessage({ address, source });
  let open = "";
  for await (const piece of Deno.stdin.readable.pipeThrough(new TextDecoderStream())) {
    const lines = `${open}${piece}`.split("\n");
    open = lines.pop() ?? "";
    for (const line of lines) worker.postMessage(line);
  }
  Deno.exit(0);
}

await host(Deno.args);
