/** Tests of src/run/recorded_step.ts: a record of any other shape than a run writes is refused with a sentence. */
import { assertEquals, assertThrows } from "@std/assert";
import { UserError } from "../../src/core/errors.ts";
import { readStepRecord } from "../../src/run/recorded_step.ts";
import { stepFiles } from "../../src/run/step_record.ts";
import { withFolder } from "../files/with_folder.ts";
import { makeSmallRun, SETTINGS, smallEpisodes, STEP, writeSmallRecord } from "./small_record.ts";

type Episode = ReturnType<typeof smallEpisodes>[number];

const { config } = SETTINGS;
const OPTIONS = { step: STEP, config };

/** The episodes with the first one changed. */
const withFirst = (change: (episode: Episode) => object) => (episodes: Episode[]): object[] => [
  change(episodes[0]),
  ...episodes.slice(1),
];

Deno.test("readStepRecord() refuses every shape that no run of the configuration writes", () =>
  withFolder((path) => {
    makeSmallRun(path);
    assertEquals(readStepRecord(path, OPTIONS)?.isVerified, true);
    const shapes: readonly (readonly [(episodes: Episode[]) => object[], string])[] = [
      [() => [], "it holds 0 episodes, but a step of this run has 8"],
      [(episodes) => episodes.slice(0, 1), "it holds 1 episodes"],
      [(e) => [...e, { ...e[0], episode: 8, group: 2 }], "it holds 9 episodes"],
      [withFirst((e) => ({ ...e, tokens: [], owners: [], logps: [] })), "tokens is a list"],
      [
        withFirst((e) => ({
          ...e,
          tokens: Array(900).fill(1),
          owners: Array(900).fill(1),
          logps: Array(900).fill(0),
        })),
        "it has 900 tokens, but an episode of this run has at most",
      ],
      [withFirst((e) => ({ ...e, group: 7 })), "step, episode and group 1, 0, 7"],
      [withFirst((e) => ({ ...e, step: 0 })), "step, episode and group 0, 0, 0"],
      [withFirst((e) => ({ ...e, tokens: [1, 60, 3] })), "tokens.1 is 60, but must be at most 59"],
      [withFirst((e) => ({ ...e, tokens: [1, 2 ** 32 + 5, 3] })), "tokens.1 is 4294967301"],
      [withFirst((e) => ({ ...e, owners: [1, 0, 3] })), "owners.1 is 0, but must be at least 1"],
      [withFirst((e) => ({ ...e, owners: [1, 2] })), "as many owners and logps as tokens"],
      [withFirst((e) => ({ ...e, info: { ...e.info, task: "chess" } })), "names no task"],
      [
        withFirst((e) => ({ ...e, info: { ...e.info, calls: undefined } })),
        "info: calls is missing",
      ],
      [withFirst((e) => ({ ...e, info: { ...e.info, ops: ["fly"] } })), 'info: ops.0 is "fly"'],
      [withFirst(({ info: _, ...e }) => e), "info is missing, but must be an object"],
    ];
    for (const [change, sentence] of shapes) {
      const episodes = change(smallEpisodes());
      writeSmallRecord(path, { episodes, isSealed: false });
      assertThrows(() => readStepRecord(path, OPTIONS), UserError, sentence);
    }
  }));

Deno.test("readStepRecord() knows a changed record and changed episodes by their SHA-256", () =>
  withFolder((path) => {
    makeSmallRun(path);
    const files = stepFiles(path, STEP);
    for (
      const [file, from, to] of [
        [files.record, '"reward":0.5', '"reward":0.25'],
        [files.episodes, '"reward":0', '"reward":1'],
      ]
    ) {
      const text = Deno.readTextFileSync(file);
      Deno.writeTextFileSync(file, text.replace(from, to));
      assertThrows(() => readStepRecord(path, OPTIONS), UserError, "it is damaged");
      Deno.writeTextFileSync(file, text);
    }
    writeSmallRecord(path, { episodes: smallEpisodes(), isSealed: false });
    assertEquals(readStepRecord(path, OPTIONS)?.isVerified, false, "an older version's");
    for (
      const odd of [
        "[]",
        "{}",
        '{"reasons":[],"row":{"step":0}}',
        '{"reasons":[],"row":{"step":1,"a":"b"}}',
      ]
    ) {
      Deno.writeTextFileSync(files.record, odd);
      assertThrows(() => readStepRecord(path, OPTIONS), UserError, "Cannot use");
    }
    Deno.removeSync(files.record);
    Deno.mkdirSync(files.record);
    assertThrows(() => readStepRecord(path, OPTIONS), UserError, "it is a folder");
  }));
