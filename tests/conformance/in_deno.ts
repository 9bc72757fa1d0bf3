/** The measurements on Deno's default adapter, as JSON on standard output; `short` alone leaves the training out. */
import { golden } from "../e2e/command_line.ts";
import { measure, measureShort } from "./measure.ts";

const run = Deno.args[0] === "short" ? measureShort : measure;
console.log(JSON.stringify(await run(Deno.readFileSync(golden("model.safetensors")))));
Deno.exit(0);
