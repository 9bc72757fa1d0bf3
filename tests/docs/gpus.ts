/** The table of docs/gpus.md from the files of docs/gpus; `deno run -A tests/docs/gpus.ts` writes it. */
import { z } from "zod";
import { allSchema, kernelsSchema, rolloutSchema } from "../../src/bench/documents.ts";
import { markdownTable } from "../../src/core/markdown_table.ts";

const PAGE = new URL("../../docs/gpus.md", import.meta.url);
const FOLDER = new URL("../../docs/gpus/", import.meta.url);
const MARKS = ["<!-- adapters -->\n", "<!-- end of adapters -->"] as const;

/** GRPO and REINFORCE steps of the suite `step`. */
const stepsSchema = z.looseObject({
  reinforce: z.object({ oursMs: z.number() }),
  grpo: z.object({ oursMs: z.number() }),
});

/** The row of a file: a number that is missing, because its suite failed, is a dash. */
export function adapterRow(name: string, value: unknown): string[] {
  const { adapter, cpu, durationMs, measuredAt, tuning, suites } = allSchema.parse(value);
  const documentOf = <S extends z.ZodType>(suite: string, schema: S): z.output<S> | undefined =>
    schema.safeParse(suites.find((one) => one.suite === suite)?.document).data;
  const kernels = documentOf("kernels", kernelsSchema);
  const steps = documentOf("step", stepsSchema);
  const rollout = documentOf("rollout", rolloutSchema)?.rollouts
    .find(({ episodes }) => episodes === 1024);
  const ms = (value: number | undefined) =>
    value === undefined ? "–" : `${value >= 100 ? value.toFixed(0) : value.toPrecision(3)} ms`;
  return [
    `[${adapter}](gpus/${name})`,
    cpu,
    measuredAt.slice(0, 10),
    `${Math.round(durationMs / 1000)} s`,
    tuning === null ? "default" : "searched",
    ms(kernels?.updateMs),
    ms(steps?.reinforce.oursMs),
    ms(steps?.grpo.oursMs),
    rollout ? `${rollout.usPerToken.toPrecision(3)} µs` : "–",
  ];
}

/** The page with the table of all files. */
export function adaptersPage(page: string): string {
  const names = Array.from(Deno.readDirSync(FOLDER), ({ name }) => name).sort();
  const rows = names.map((name) =>
    adapterRow(name, JSON.parse(Deno.readTextFileSync(new URL(name, FOLDER))))
  );
  const header = ["adapter", "CPU", "when", "took", "layout", "kernels of an update"];
  const table = markdownTable(
    [...header, "REINFORCE step", "GRPO step", "a token of 1,024 episodes"],
    rows,
  );
  const [before, rest = ""] = page.split(MARKS[0]);
  return [before, MARKS[0], "\n", table.join("\n"), "\n\n", MARKS[1], rest.split(MARKS[1])[1]]
    .join("");
}

if (import.meta.main) Deno.writeTextFileSync(PAGE, adaptersPage(Deno.readTextFileSync(PAGE)));
