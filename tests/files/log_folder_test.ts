/** Which of the logs in a folder is the run's. */
import { assertEquals, assertRejects, assertThrows } from "@std/assert";
import { UserError } from "../../src/core/errors.ts";
import { findLog } from "../../src/files/log_folder.ts";
import { withFolder } from "./with_folder.ts";

/** Files by name, oldest first; what is chosen of them, and what is listed beside it. */
async function choice(
  files: Readonly<Record<string, string>>,
  { within = "" } = {},
): Promise<{ chosen: string[]; others: string[] }> {
  let found = { chosen: [""], others: [""] };
  await withFolder((folder) => {
    let seconds = 1.7e9;
    for (const [name, content] of Object.entries(files)) {
      const path = `${folder}/${name}`;
      Deno.mkdirSync(path.slice(0, path.lastIndexOf("/")), { recursive: true });
      Deno.writeTextFileSync(path, content);
      Deno.utimeSync(path, seconds, seconds++);
    }
    const log = findLog(folder + within);
    const short = (path: string) => path.slice(folder.length + 1);
    found = { chosen: log.files.map(short), others: log.others.map(short).toSorted() };
  });
  return found;
}

const state = (step: number) => JSON.stringify({ best_metric: null, global_step: step }, null, 2);

Deno.test("findLog() takes the state of the latest checkpoint by its number, and the one at the top at the end", async () => {
  const checkpoints = {
    "checkpoint-100/trainer_state.json": state(100),
    "checkpoint-90/trainer_state.json": state(90),
    "checkpoint-20/trainer_state.json": state(20),
  };
  assertEquals(await choice(checkpoints), {
    chosen: ["checkpoint-100/trainer_state.json"],
    others: ["checkpoint-20/trainer_state.json", "checkpoint-90/trainer_state.json"],
  });
  const within = "/checkpoint-20";
  assertEquals((await choice(checkpoints, { within })).chosen, [
    "checkpoint-20/trainer_state.json",
  ]);
  const ended = { ...checkpoints, "trainer_state.json": state(110) };
  assertEquals((await choice(ended)).chosen, ["trainer_state.json"]);
  const renamed = { "my_trainer_state_2.json": state(500), "config.json": "{}" };
  assertEquals((await choice(renamed)).chosen, ["my_trainer_state_2.json"]);
  const resumed = { "trainer_state.json": state(50), ...checkpoints };
  assertEquals((await choice(resumed)).chosen, ["checkpoint-100/trainer_state.json"]);
});

Deno.test("findLog() prefers exact forms to prose, and the nearest of a form to one deep below", async () => {
  const all = {
    "notes.md": "x",
    "train.log": "x",
    "runs/a/events.out.tfevents.1700000000.h.1.0": "x",
    "wandb/offline-run-20250101_000000-abc/run-abc.wandb": ":W&B....more",
    "completions.jsonl": "x",
    "logging.jsonl": "x",
    "old/metrics.jsonl": "x",
    "old/checkpoint-5/trainer_state.json": state(5),
  };
  assertEquals((await choice(all)).chosen, ["logging.jsonl"]);
  const {
    "logging.jsonl": _,
    "old/metrics.jsonl": __,
    "old/checkpoint-5/trainer_state.json": ___,
    ...rest
  } = all;
  const found = await choice(rest);
  assertEquals(found, {
    chosen: ["wandb/offline-run-20250101_000000-abc/run-abc.wandb"],
    others: ["notes.md", "runs/a/events.out.tfevents.1700000000.h.1.0", "train.log"],
  });
  assertEquals((await choice({ "a.txt": "x", "b.log": "x" })).chosen, ["b.log"]);
});

Deno.test("findLog() takes the newest of equal files and lists the others", async () => {
  assertEquals(await choice({ "b.csv": "x", "c.csv": "x", "a.csv": "x" }), {
    chosen: ["a.csv"],
    others: ["b.csv", "c.csv"],
  });
});

Deno.test("findLog() joins W&B's files of one run that was resumed, and passes over a crashed start", async () => {
  assertEquals(
    await choice({
      "wandb/run-20250102_000000-abc/run-abc.wandb": ":W&B....more",
      "wandb/run-20250101_000000-abc/run-abc.wandb": ":W&B....more",
      "wandb/run-20250103_000000-xyz/run-xyz.wandb": "7 bytes",
    }),
    {
      chosen: [
        "wandb/run-20250101_000000-abc/run-abc.wandb",
        "wandb/run-20250102_000000-abc/run-abc.wandb",
      ],
      others: [],
    },
  );
});

Deno.test("findLog() says what it looks for where there is none, and follows no link to a folder", async () => {
  await assertRejects(
    () => choice({ "model.safetensors": "x" }),
    UserError,
    "Cannot find a log in",
  );
  await withFolder((folder) => {
    Deno.symlinkSync(folder, `${folder}/loop`);
    Deno.symlinkSync(`${folder}/gone.log`, `${folder}/dead.log`);
    assertThrows(() => findLog(folder), UserError, "Cannot find a log in");
  });
});
