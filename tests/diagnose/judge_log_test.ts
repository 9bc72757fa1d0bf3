/** Tests of judgeLog() on invented runs: healthy ones are not accused, and each fault is named. */
import { assertEquals } from "@std/assert";
import type { Finding } from "../../src/diagnose/finding.ts";
import { judgeLog } from "../../src/diagnose/findings/judge_log.ts";
import { changeRandom, FAULTY_SHAPES, type FaultyKind } from "./faulty_shapes.ts";
import { HEALTHY_SHAPES } from "./healthy_shapes.ts";
import { healthyRows, viewOf, type Writer, WRITERS } from "./synthetic_runs.ts";

const EVERY_WRITER = Object.keys(WRITERS) as Writer[];
const isGrave = (finding: Finding) => finding.class === "violated" || finding.class === "suspect";

function faultyView(kind: FaultyKind, { writer, seed }: { writer: Writer; seed: number }) {
  const rows = healthyRows({ steps: 100, ...kind.shape, seed });
  kind.change(rows, changeRandom(seed));
  return viewOf(rows, { writer, flags: kind.flags ?? {}, settings: kind.settings ?? {} });
}

for (const [name, { shape, view }] of Object.entries(HEALTHY_SHAPES)) {
  Deno.test(`judgeLog() accuses no healthy run: ${name}`, () => {
    const seedCount = shape.steps > 1000 ? 2 : 8;
    for (let seed = 1; seed <= seedCount; seed++) {
      const rows = healthyRows({ ...shape, seed });
      for (const writer of EVERY_WRITER) {
        const { every = 1, decimals } = shape;
        const findings = judgeLog(viewOf(rows, { writer, every, decimals, ...view }));
        const grave = findings.filter(isGrave).map(({ sentence }) =>
          `${writer} ${seed}: ${sentence}`
        );
        assertEquals(grave, []);
      }
    }
  });
}

for (const [name, kind] of Object.entries(FAULTY_SHAPES)) {
  Deno.test(`judgeLog() says ${kind.id} when ${name}`, () => {
    for (let seed = 1; seed <= 5; seed++) {
      for (const writer of kind.writers ?? EVERY_WRITER) {
        const findings = judgeLog(faultyView(kind, { writer, seed }));
        const own = findings.filter(({ id }) => id === kind.id);
        const classes = own.map((finding) => finding.class);
        const isRight = classes.includes(kind.class) ||
          (kind.class === "suspect" && classes.includes("violated"));
        assertEquals(isRight, true, `${writer} ${seed}: ${JSON.stringify(own)}`);
      }
    }
  });
}
