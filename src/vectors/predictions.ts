/** What each dialect gives for each case of a family, and what a trainer with each mistake would. */
import type { Compute, Family, Mistake } from "./family.ts";
import { type Arrays, distance, float32Digits, type Tolerance } from "./values.ts";

/** Outputs by the id of their case. */
export type ByCase = ReadonlyMap<string, Arrays>;

/** A trainer with a mistake. */
export interface Mistaken {
  readonly mistake: Mistake;
  /** Its outputs in the cases in which they are not the dialect's. */
  readonly outputs: ByCase;
}

/** A dialect, and the mistakes that a trainer of it can make. */
export interface DialectPredictions {
  readonly dialect: Family["dialects"][number];
  readonly outputs: ByCase;
  readonly mistaken: readonly Mistaken[];
}

/** Differences of less than this share of the tolerance are rounding of the prediction itself. */
const NEGLIGIBLE = 0.01;

/** The distance of two sets of outputs in tolerances; infinite where one lacks an output of the other. */
export function arraysDistance(got: Arrays, expected: Arrays, tolerance: Tolerance): number {
  let most = 0;
  for (const name in expected) {
    const values = expected[name]?.values ?? [];
    const found = got[name]?.values;
    if (found === undefined || found.length !== values.length) return Infinity;
    most = Math.max(most, distance(found, values, tolerance));
  }
  return most;
}

/**
 * The predictions of a family. A mistake is left out of a dialect where it cannot be made, and where it gives in every case what the
 * dialect or another right one gives: then it is no mistake, or another dialect.
 */
export function predictionsOf(family: Family): readonly DialectPredictions[] {
  const { cases, dialects, mistakes, tolerance } = family;
  const right = dialects.map((dialect) => ({
    dialect,
    outputs: new Map(cases.map((one) => [one.id, dialect.compute(one)])),
  }));
  const isRight = (outputs: ByCase) =>
    right.some((other) =>
      cases.every(({ id }) =>
        arraysDistance(outputs.get(id) ?? {}, other.outputs.get(id) ?? {}, tolerance) <= 1
      )
    );
  return right.map(({ dialect, outputs }) => ({
    dialect,
    outputs,
    mistaken: mistakes.flatMap((mistake) => {
      const all = new Map<string, Arrays>();
      const differing = new Map<string, Arrays>();
      for (const one of cases) {
        const known = outputs.get(one.id) ?? {};
        const right: Compute = (asked) => asked === one ? known : dialect.compute(asked);
        const found = mistake.compute(one, right, dialect.name);
        if (found === undefined) return [];
        all.set(one.id, found);
        const apart = arraysDistance(found, known, tolerance);
        if (apart > NEGLIGIBLE) differing.set(one.id, found);
      }
      return isRight(all) ? [] : [{ mistake, outputs: differing }];
    }),
  }));
}

/**
 * A short name of a family's questions: results carry it, so that those of other vectors are not judged by these. FNV-1a over the ids,
 * the configuration and the float32 digits of every input.
 */
export function familyDigest({ name, cases }: Family): string {
  let hash = 0xcbf29ce484222325n;
  const add = (text: string) => {
    for (let i = 0; i < text.length; i++) {
      hash = (hash ^ BigInt(text.charCodeAt(i))) * 0x100000001b3n & 0xffffffffffffffffn;
    }
  };
  add(name);
  for (const { id, config, inputs } of cases) {
    add(`${id} ${JSON.stringify(config)}`);
    for (const [key, { shape, values }] of Object.entries(inputs)) {
      add(`${key} ${shape} ${values.map(float32Digits).join("")}`);
    }
  }
  return hash.toString(16).padStart(16, "0");
}
