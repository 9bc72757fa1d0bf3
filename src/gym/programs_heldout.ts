/** The held-out programs: two per family; their names never occur in training. */
import type { Program } from "./task.ts";

/** In the order of their names in the vocabulary. */
export const HELD_OUT_PROGRAMS: readonly Program[] = [
  {
    name: "energy",
    family: "fix_init",
    source: `function energy(speeds) {
  let acc = 1;
  for (const speed of speeds) acc += 0.5 * speed * speed;
  return acc;
}
`,
    publicTests: [{ args: [[2]], expected: 2 }, { args: [[2, 4]], expected: 10 }],
    hiddenTests: [{ args: [[]], expected: 0 }, { args: [[6]], expected: 18 }],
  },
  {
    name: "score",
    family: "fix_init",
    source: `function score(answers, key) {
  let acc = 1;
  answers.forEach((answer, i) => acc += answer === key[i] ? 1 : 0);
  return acc;
}
`,
    publicTests: [
      { args: [["a", "b"], ["a", "c"]], expected: 1 },
      { args: [["d"], ["d"]], expected: 1 },
    ],
    hiddenTests: [
      { args: [["a", "b"], ["a", "b"]], expected: 2 },
      { args: [["x"], ["y"]], expected: 0 },
    ],
  },
  {
    name: "passes",
    family: "fix_comparison",
    source: `function passes(points, bonus) {
  const reached = points + bonus;
  const required = 50;
  return required < reached;
}
`,
    publicTests: [{ args: [45, 5], expected: true }, { args: [45, 4], expected: false }],
    hiddenTests: [
      { args: [50, 0], expected: true },
      { args: [80, 10], expected: true },
      { args: [10, 10], expected: false },
    ],
  },
  {
    name: "allowed",
    family: "fix_comparison",
    source: `function allowed(visits, quota) {
  const used = visits.length;
  return used < quota;
}
`,
    publicTests: [
      { args: [["a", "b"], 2], expected: true },
      { args: [["a"], 0], expected: false },
    ],
    hiddenTests: [
      { args: [[], 0], expected: true },
      { args: [["a", "b", "c"], 3], expected: true },
      { args: [["a", "b"], 1], expected: false },
    ],
  },
  {
    name: "density",
    family: "add_zero_guard",
    source: `function density(mass, volume) {
  return mass / volume;
}
`,
    publicTests: [{ args: [6, 2], expected: 3 }, { args: [4, 0], expected: 0 }],
    hiddenTests: [{ args: [1, 8], expected: 0.125 }, { args: [9, 0], expected: 0 }],
  },
  {
    name: "speed",
    family: "add_zero_guard",
    source: `function speed(start, end, seconds) {
  const distance = Math.abs(end - start);
  return distance / seconds;
}
`,
    publicTests: [{ args: [0, 10, 5], expected: 2 }, { args: [0, 3, 0], expected: 0 }],
    hiddenTests: [{ args: [8, 2, 3], expected: 2 }, { args: [1, 1, 0], expected: 0 }],
  },
  {
    name: "saturate",
    family: "swap_minmax",
    source: `function saturate(channel) {
  return Math.max(255, Math.min(0, channel));
}
`,
    publicTests: [{ args: [100], expected: 100 }, { args: [-5], expected: 0 }],
    hiddenTests: [{ args: [300], expected: 255 }, { args: [17], expected: 17 }],
  },
  {
    name: "fence",
    family: "swap_minmax",
    source: `function fence(position, width) {
  const last = width - 1;
  return Math.max(last, Math.min(0, position));
}
`,
    publicTests: [{ args: [2, 5], expected: 2 }, { args: [7, 5], expected: 4 }],
    hiddenTests: [{ args: [-1, 3], expected: 0 }, { args: [1, 9], expected: 1 }],
  },
  {
    name: "steps",
    family: "fix_range_end",
    source: `function steps(n, size) {
  const range = (end) => Array.from({ length: end }, (_, index) => index);
  return range(n - 1).map((i) => i * size);
}
`,
    publicTests: [{ args: [3, 2], expected: [0, 2, 4] }, { args: [1, 9], expected: [0] }],
    hiddenTests: [
      { args: [2, 5], expected: [0, 5] },
      { args: [4, 1], expected: [0, 1, 2, 3] },
    ],
  },
  {
    name: "evens",
    family: "fix_range_end",
    source: `function evens(n) {
  const range = (end) => Array.from({ length: end }, (_, index) => index);
  return range(n - 1).map((i) => 2 * i);
}
`,
    publicTests: [{ args: [2], expected: [0, 2] }, { args: [4], expected: [0, 2, 4, 6] }],
    hiddenTests: [{ args: [1], expected: [0] }, { args: [3], expected: [0, 2, 4] }],
  },
];
