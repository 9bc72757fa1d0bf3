/** Tests of src/files/commit.ts: checkouts as git lays them out. */
import { assertEquals } from "@std/assert";
import { commitOf } from "../../src/files/commit.ts";
import { withFolder } from "./with_folder.ts";

const [FIRST, SECOND] = ["a".repeat(40), "b".repeat(40)];

Deno.test("commitOf() finds the commit of a branch, of a packed one, of none, and of a linked worktree", () =>
  withFolder((folder) => {
    const write = (path: string, text: string) => {
      Deno.mkdirSync(`${folder}/${path}`.replace(/\/[^/]*$/, ""), { recursive: true });
      Deno.writeTextFileSync(`${folder}/${path}`, text);
    };
    assertEquals(commitOf(folder), null);
    write(".git/HEAD", "ref: refs/heads/main\n");
    assertEquals(commitOf(folder), null, "a branch without a commit");
    write(".git/packed-refs", `# pack-refs\n${FIRST} refs/heads/main\n^${SECOND}\n`);
    assertEquals(commitOf(folder), FIRST);
    write(".git/refs/heads/main", `${SECOND}\n`);
    assertEquals(commitOf(folder), SECOND);
    write(".git/worktrees/other/HEAD", "ref: refs/heads/main\n");
    write(".git/worktrees/other/commondir", "../..\n");
    write("other/.git", `gitdir: ${folder}/.git/worktrees/other\n`);
    assertEquals(commitOf(`${folder}/other`), SECOND);
    write(".git/HEAD", `${FIRST}\n`);
    assertEquals(commitOf(folder), FIRST);
    write(".git/HEAD", "something else\n");
    assertEquals(commitOf(folder), null);
  }));
