/** Tests of src/tuning/tuning_cache.ts. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { defaultTuning } from "../../src/gpu/tuning.ts";
import { readTuning, writeTuning } from "../../src/tuning/tuning_cache.ts";
import { withFolder } from "../files/with_folder.ts";

const [first, second] = [defaultTuning(true), defaultTuning(false)];
const NOTHING = { tuning: undefined, problem: undefined };

Deno.test("readTuning() gives each adapter the layout that was last written for it", () =>
  withFolder((folder) => {
    const path = `${folder}/new/layouts.json`;
    assertEquals(readTuning(path, "A"), NOTHING, "there is no file yet");
    for (const tuning of [first, second]) {
      assertEquals(writeTuning(path, { adapter: "A", tuning }), undefined);
    }
    assertEquals(writeTuning(path, { adapter: "B", tuning: first }), undefined);
    assertEquals(readTuning(path, "A"), { tuning: second, problem: undefined });
    assertEquals(readTuning(path, "B"), { tuning: first, problem: undefined });
    assertEquals(readTuning(path, "C"), NOTHING);
    assertEquals(writeTuning(path, { adapter: "A", tuning: undefined }), undefined);
    assertEquals(readTuning(path, "A"), NOTHING);
    assertEquals(readTuning(path, "B"), { tuning: first, problem: undefined });
  }));

Deno.test("readTuning() ignores what was measured with other versions, and layouts that may not be chosen", () =>
  withFolder((folder) => {
    const path = `${folder}/layouts.json`;
    writeTuning(path, { adapter: "A", tuning: first });
    const { layouts: [entry] } = JSON.parse(Deno.readTextFileSync(path));
    assertEquals(Object.keys(entry).slice(0, 5).join(), "adapter,os,deno,agentrl,tuning");
    const unknown = { tuning: { ...entry.tuning, slotCount: 24 } };
    const unfit = { tuning: { ...entry.tuning, groupSlots: 2 } };
    for (const other of [{ deno: "0" }, { agentrl: "0" }, { os: "none" }, unknown, unfit]) {
      const layouts = [{ ...entry, ...other }];
      Deno.writeTextFileSync(path, JSON.stringify({ version: 3, layouts }));
      assertEquals(readTuning(path, "A"), NOTHING);
    }
  }));

Deno.test("readTuning() passes over files of other versions in silence, and writeTuning() replaces them", () =>
  withFolder((folder) => {
    const path = `${folder}/layouts.json`;
    const old = { adapter: "A", operand_memory: "texture", block_rows: 8, slot_count: 16 };
    for (const file of [{ layouts: [old] }, { version: 2, layouts: [{ adapter: "A" }] }]) {
      Deno.writeTextFileSync(path, JSON.stringify(file));
      assertEquals(readTuning(path, "A"), NOTHING);
      assertEquals(writeTuning(path, { adapter: "A", tuning: second }), undefined);
      assertEquals(readTuning(path, "A"), { tuning: second, problem: undefined });
      assertEquals(JSON.parse(Deno.readTextFileSync(path)).layouts.length, 1);
    }
  }));

Deno.test("readTuning() says what is wrong with a broken file, and writeTuning() begins it afresh", () =>
  withFolder((folder) => {
    const path = `${folder}/layouts.json`;
    for (const text of ["", "{", "[]", '{"version":3,"layouts":[{"adapter":"A"}]}']) {
      Deno.writeTextFileSync(path, text);
      const { tuning, problem } = readTuning(path, "A");
      assertEquals([tuning, problem], [undefined, `Cannot use ${path}: it holds no layouts`]);
      assertEquals(writeTuning(path, { adapter: "A", tuning: first }), undefined);
      assertEquals(readTuning(path, "A"), { tuning: first, problem: undefined });
    }
  }));

Deno.test("writeTuning() says why nothing can be kept", () =>
  withFolder((folder) => {
    Deno.writeTextFileSync(`${folder}/file`, "");
    const path = `${folder}/file/layouts.json`;
    const problem = writeTuning(path, { adapter: "A", tuning: first });
    assert(problem !== undefined);
    assertStringIncludes(problem, `Cannot write ${path}: `);
  }));

Deno.test({
  name: "readTuning() and writeTuning() say so without the permission",
  permissions: { read: false, write: false },
  fn: () => {
    const sentence = "the command was started without the permission";
    assertStringIncludes(readTuning("layouts.json", "A").problem ?? "", sentence);
    const problem = writeTuning("layouts.json", { adapter: "A", tuning: first });
    assertStringIncludes(problem ?? "", sentence);
  },
});
