/** The measurements on Deno's default adapter, as JSON on standard output: `whole`, `short` without training, or `fused`. */
import { golden } from "../e2e/command_line.ts";
import { measure, measureShort } from "./measure.ts";
import { measureFused } from "./measure_fused.ts";

const [extent = "whole"] = Deno.args;
const run = extent === "fused" ? measureFused : extent === "short" ? measureShort : measure;
console.log(JSON.stringify(await run(Deno.readFileSync(golden("model.safetensors")))));
Deno.exit(0);
