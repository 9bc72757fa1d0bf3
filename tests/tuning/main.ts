/**
 * `deno task layouts`: the bits of every value of every part of a layout, beside the default of software adapters and beside
 * that of GPUs, and of all blocks of the decoder; prints docs/layouts.md. Exit code 1 where bits differ.
 */
import { UserError } from "../../src/core/errors.ts";
import { markdownTable } from "../../src/core/markdown_table.ts";
import { type Gpu, openGpu } from "../../src/gpu/device.ts";
import { defaultTuning, isKnownTuning, type Tuning, TUNING_VALUES } from "../../src/gpu/tuning.ts";
import { type Part, prepareMeasurement, probeGym } from "../../src/tuning/measure.ts";

/** Parts that only the decoder's kernels have; the others have a share in updates. */
const OF_DECODER: readonly (keyof Tuning)[] = [
  "decoderLanes",
  "decoderRows",
  "decoderColumns",
  "transposedWeights",
  "groupSlots",
  "slotCount",
];

/** Parts that no kernel of an update or of the fused decoder has at heads of 16: tests of other models hold those. */
const NOT_HERE: readonly (keyof Tuning)[] = ["headsInRegisters", "stepLanes"];

const SIZE = { episodeCount: 24, rowCount: 300 } as const;

interface Case {
  readonly title: string;
  readonly value: string;
  readonly part: Part;
  readonly tuning: Tuning;
}

function valueCases(base: string, start: Tuning): Case[] {
  const names = Object.keys(TUNING_VALUES) as (keyof Tuning)[];
  return names.filter((name) => !NOT_HERE.includes(name)).flatMap((name) =>
    (TUNING_VALUES[name] as readonly Tuning[keyof Tuning][]).flatMap((value): Case[] => {
      const tuning: Tuning = { ...start, [name]: value };
      if (!isKnownTuning(tuning)) return [];
      const one = { title: `${name}, ${base}`, value: String(value), tuning };
      const parts: Part[] = name === "operandMemory"
        ? ["update", "rollout"]
        : OF_DECODER.includes(name)
        ? ["rollout"]
        : ["update"];
      return parts.map((part) => ({ ...one, part }));
    })
  );
}

/** Rows and columns of blocks depend on each other. */
function blockCases(start: Tuning): Case[] {
  const cases: Case[] = [];
  for (const rows of [1, 2, 4, 8]) {
    for (const columns of [4, 8, 16]) {
      const update = { ...start, blockRows: rows, blockColumns: columns };
      const value = `${rows} × ${columns}`;
      cases.push({ title: "blocks of products", value, part: "update", tuning: update });
      const tiled = { ...update, tiles: true };
      cases.push({ title: "blocks of products in tiles", value, part: "update", tuning: tiled });
      for (const groupSlots of TUNING_VALUES.groupSlots) {
        const tuning = { ...start, decoderRows: rows, decoderColumns: columns, groupSlots };
        const title = `blocks of the decoder, ${groupSlots} slots`;
        cases.push({ title, value, part: "rollout", tuning });
      }
    }
  }
  return cases.filter(({ tuning }) => isKnownTuning(tuning));
}

interface Row {
  readonly part: Part;
  readonly values: string[];
  readonly other: string[];
  readonly refused: string[];
}

/** The bits of a layout; undefined where its tensors exceed a limit of the adapter. */
async function hashOf(
  gpu: Gpu,
  options: { readonly part: Part; readonly gym: ReturnType<typeof probeGym> },
): Promise<string | undefined> {
  try {
    const measurement = prepareMeasurement(gpu, { ...options, size: SIZE });
    const { hash } = await measurement.run(1);
    measurement.destroy();
    return hash;
  } catch (error) {
    if (error instanceof UserError) return undefined;
    throw error;
  }
}

if (import.meta.main) {
  const [software, hardware] = [defaultTuning(true), defaultTuning(false)];
  const cases = [
    ...valueCases("software", software),
    ...valueCases("GPU", { ...hardware, slotCount: 16 }),
    ...blockCases({ ...hardware, slotCount: 16 }),
  ];
  const gym = probeGym();
  const right = new Map<Part, string>();
  const rows = new Map<string, Row>();
  const gpu = await openGpu({ tuning: software });
  for (const [i, { title, value, part, tuning }] of cases.entries()) {
    console.error(`${i + 1} of ${cases.length}: ${title}, ${value}`);
    const key = `${title} ${part}`;
    const row = rows.get(key) ?? { part, values: [], other: [], refused: [] };
    rows.set(key, row);
    const hash = await hashOf({ ...gpu, tuning }, { part, gym });
    if (hash === undefined) {
      row.refused.push(value);
      continue;
    }
    if (!right.has(part)) right.set(part, hash);
    (hash === right.get(part) ? row.values : row.other).push(value);
  }
  const table = Array.from(rows, ([key, { part, values, other, refused }]) => [
    key.slice(0, -part.length - 1),
    part,
    values.join(", "),
    other.join(", ") || "none",
    refused.join(", ") || "none",
  ]);
  const hashes = Array.from(right, ([part, hash]) => `${part} ${hash.slice(0, 12)}`).join(", ");
  console.log([
    "# Layouts",
    "",
    `Of every layout below, tokens and log-probs of ${SIZE.episodeCount} episodes (rollout) or the`,
    `weights after an update of ${SIZE.rowCount} tokens (update) have equal bits (${hashes}) on`,
    `${gpu.adapter.description}. What each part means is in \`src/gpu/tuning.ts\`; parts that are not named`,
    "have the default of software adapters, or of GPUs with 16 slots.",
    "",
    "    cli/agentrl deno task layouts",
    "",
    ...markdownTable(["part", "of", "equal bits", "other bits", "beyond a limit"], table),
  ].join("\n"));
  gpu.device.destroy();
  Deno.exit([...rows.values()].every(({ other }) => other.length === 0) ? 0 : 1);
}
