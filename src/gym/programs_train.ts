/** The programs to train on: four per family, each with one bug that the operation of its family repairs. */
import type { Program } from "./task.ts";

/** In the order of their names in the vocabulary. */
export const TRAIN_PROGRAMS: readonly Program[] = [
  {
    name: "total",
    family: "fix_init",
    source: `function total(values) {
  let acc = 1;
  for (const value of values) acc += value;
  return acc;
}
`,
    publicTests: [{ args: [[1, 2, 3]], expected: 6 }, { args: [[]], expected: 0 }],
    hiddenTests: [
      { args: [[10]], expected: 10 },
      { args: [[4, -4]], expected: 0 },
      { args: [[0.5, 0.25]], expected: 0.75 },
    ],
  },
  {
    name: "count",
    family: "fix_init",
    source: `function count(values, wanted) {
  let acc = 1;
  for (const value of values) if (value === wanted) acc += 1;
  return acc;
}
`,
    publicTests: [
      { args: [["a", "b", "a"], "a"], expected: 2 },
      { args: [[], "a"], expected: 0 },
    ],
    hiddenTests: [{ args: [[3, 3, 3], 3], expected: 3 }, { args: [[1, 2], 5], expected: 0 }],
  },
  {
    name: "sum_sq",
    family: "fix_init",
    source: `function sum_sq(values) {
  let acc = 1;
  for (const value of values) acc += value * value;
  return acc;
}
`,
    publicTests: [{ args: [[1, 2]], expected: 5 }, { args: [[3]], expected: 9 }],
    hiddenTests: [
      { args: [[-2, 2]], expected: 8 },
      { args: [[]], expected: 0 },
      { args: [[10, 1]], expected: 101 },
    ],
  },
  {
    name: "tally",
    family: "fix_init",
    source: `function tally(votes) {
  let acc = 1;
  for (const vote of votes) acc += vote ? 1 : 0;
  return acc;
}
`,
    publicTests: [
      { args: [[true, false, true]], expected: 2 },
      { args: [[false]], expected: 0 },
    ],
    hiddenTests: [{ args: [[true, true, true]], expected: 3 }, { args: [[]], expected: 0 }],
  },
  {
    name: "is_adult",
    family: "fix_comparison",
    source: `function is_adult(born, year) {
  const age = year - born;
  const adult = 18;
  return adult < age;
}
`,
    publicTests: [
      { args: [2000, 2018], expected: true },
      { args: [2000, 2017], expected: false },
    ],
    hiddenTests: [
      { args: [1990, 2008], expected: true },
      { args: [1950, 2020], expected: true },
      { args: [2010, 2020], expected: false },
    ],
  },
  {
    name: "at_most",
    family: "fix_comparison",
    source: `function at_most(value, most) {
  return value < most;
}
`,
    publicTests: [{ args: [5, 5], expected: true }, { args: [6, 5], expected: false }],
    hiddenTests: [
      { args: [0, 0], expected: true },
      { args: [-3, -2], expected: true },
      { args: [-2, -3], expected: false },
    ],
  },
  {
    name: "fits",
    family: "fix_comparison",
    source: `function fits(sizes, capacity) {
  const needed = sizes.reduce((sum, size) => sum + size, 0);
  return needed < capacity;
}
`,
    publicTests: [
      { args: [[2, 3], 5], expected: true },
      { args: [[4, 4], 7], expected: false },
    ],
    hiddenTests: [
      { args: [[], 0], expected: true },
      { args: [[1, 1, 1], 3], expected: true },
      { args: [[9], 8], expected: false },
    ],
  },
  {
    name: "in_budget",
    family: "fix_comparison",
    source: `function in_budget(price, amount, budget) {
  const cost = price * amount;
  return cost < budget;
}
`,
    publicTests: [
      { args: [2, 5, 10], expected: true },
      { args: [3, 5, 14], expected: false },
    ],
    hiddenTests: [
      { args: [7, 1, 7], expected: true },
      { args: [1, 1, 5], expected: true },
      { args: [4, 4, 15], expected: false },
    ],
  },
  {
    name: "mean",
    family: "add_zero_guard",
    source: `function mean(values, skip) {
  const kept = values.slice(skip);
  const sum = kept.reduce((a, b) => a + b, 0);
  const n = kept.length;
  return sum / n;
}
`,
    publicTests: [{ args: [[2, 4], 0], expected: 3 }, { args: [[], 0], expected: 0 }],
    hiddenTests: [{ args: [[9, 1, 3], 1], expected: 2 }, { args: [[5], 1], expected: 0 }],
  },
  {
    name: "ratio",
    family: "add_zero_guard",
    source: `function ratio(part, other) {
  return part / other;
}
`,
    publicTests: [{ args: [6, 3], expected: 2 }, { args: [1, 0], expected: 0 }],
    hiddenTests: [
      { args: [1, 4], expected: 0.25 },
      { args: [5, 0], expected: 0 },
      { args: [0, 0], expected: 0 },
    ],
  },
  {
    name: "percent",
    family: "add_zero_guard",
    source: `function percent(part, whole) {
  return 100 * part / whole;
}
`,
    publicTests: [{ args: [1, 4], expected: 25 }, { args: [0, 0], expected: 0 }],
    hiddenTests: [{ args: [3, 2], expected: 150 }, { args: [7, 0], expected: 0 }],
  },
  {
    name: "rate",
    family: "add_zero_guard",
    source: `function rate(events, seconds) {
  const n = events.length;
  return n / seconds;
}
`,
    publicTests: [
      { args: [["a", "b"], 4], expected: 0.5 },
      { args: [["a"], 0], expected: 0 },
    ],
    hiddenTests: [
      { args: [["a", "b", "c"], 1], expected: 3 },
      { args: [[], 0], expected: 0 },
      { args: [["a", "b"], 0], expected: 0 },
    ],
  },
  {
    name: "clamp",
    family: "swap_minmax",
    source: `function clamp(value, low, high) {
  return Math.max(high, Math.min(low, value));
}
`,
    publicTests: [{ args: [5, 0, 10], expected: 5 }, { args: [-1, 0, 10], expected: 0 }],
    hiddenTests: [{ args: [11, 0, 10], expected: 10 }, { args: [3, 1, 4], expected: 3 }],
  },
  {
    name: "bound",
    family: "swap_minmax",
    source: `function bound(value, size) {
  return Math.max(size, Math.min(-size, value));
}
`,
    publicTests: [{ args: [1, 3], expected: 1 }, { args: [7, 3], expected: 3 }],
    hiddenTests: [{ args: [-9, 2], expected: -2 }, { args: [0, 4], expected: 0 }],
  },
  {
    name: "limit",
    family: "swap_minmax",
    source: `function limit(values, low, high) {
  return values.map((value) => Math.max(high, Math.min(low, value)));
}
`,
    publicTests: [
      { args: [[1, 5, 9], 2, 6], expected: [2, 5, 6] },
      { args: [[3], 0, 9], expected: [3] },
    ],
    hiddenTests: [
      { args: [[-1, 0, 1], 0, 0], expected: [0, 0, 0] },
      { args: [[4, 8], 5, 7], expected: [5, 7] },
    ],
  },
  {
    name: "clip",
    family: "swap_minmax",
    source: `function clip(gradient) {
  return Math.max(1, Math.min(-1, gradient));
}
`,
    publicTests: [{ args: [0.5], expected: 0.5 }, { args: [3], expected: 1 }],
    hiddenTests: [{ args: [-2], expected: -1 }, { args: [-0.25], expected: -0.25 }],
  },
  {
    name: "prefix",
    family: "fix_range_end",
    source: `function prefix(values, n) {
  const range = (end) => Array.from({ length: end }, (_, index) => index);
  return range(n - 1).map((i) => values[i]);
}
`,
    publicTests: [
      { args: [[7, 8, 9], 2], expected: [7, 8] },
      { args: [["a"], 1], expected: ["a"] },
    ],
    hiddenTests: [
      { args: [[1, 2, 3], 3], expected: [1, 2, 3] },
      { args: [[4, 5], 1], expected: [4] },
    ],
  },
  {
    name: "indices",
    family: "fix_range_end",
    source: `function indices(values) {
  const range = (end) => Array.from({ length: end }, (_, index) => index);
  const n = values.length;
  return range(n - 1);
}
`,
    publicTests: [{ args: [["a", "b"]], expected: [0, 1] }, { args: [[9]], expected: [0] }],
    hiddenTests: [{ args: [[5, 5, 5]], expected: [0, 1, 2] }, { args: [[]], expected: [] }],
  },
  {
    name: "squares",
    family: "fix_range_end",
    source: `function squares(n) {
  const range = (end) => Array.from({ length: end }, (_, index) => index);
  return range(n - 1).map((i) => i * i);
}
`,
    publicTests: [{ args: [3], expected: [0, 1, 4] }, { args: [1], expected: [0] }],
    hiddenTests: [{ args: [4], expected: [0, 1, 4, 9] }, { args: [2], expected: [0, 1] }],
  },
  {
    name: "repeat",
    family: "fix_range_end",
    source: `function repeat(word, n) {
  const range = (end) => Array.from({ length: end }, (_, index) => index);
  return range(n - 1).map(() => word).join("");
}
`,
    publicTests: [{ args: ["ab", 2], expected: "abab" }, { args: ["x", 1], expected: "x" }],
    hiddenTests: [
      { args: ["ha", 3], expected: "hahaha" },
      { args: ["q", 4], expected: "qqqq" },
    ],
  },
];
