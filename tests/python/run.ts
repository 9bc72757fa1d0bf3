/**
 * What docs/exporters holds for Python: exporters run on objects of their frameworks' fields, and what they write is read and held
 * to what went in; then the vectors in the hands of a trainer in torch. `deno task python`; brings Debian's python3-torch where there is none. Not a part of the suite.
 */
import { assertEquals } from "@std/assert";
import { fileURLToPath } from "node:url";
import { readTokens } from "../../src/files/token_source.ts";
import type { TokenSequence } from "../../src/tokens/token_batch.ts";
import { withFolder } from "../files/with_folder.ts";
import { holdVectors } from "./vectors.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
/** Debian's packages are those of its own Python, whatever else is first in the PATH. */
const PYTHONS = ["python3", "/usr/bin/python3"];

function run(program: string, args: readonly string[], quiet = false): boolean {
  const stream = quiet ? "null" : "inherit";
  try {
    return new Deno.Command(program, { args: [...args], stdout: stream, stderr: stream })
      .outputSync().success;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

const withTorch = () => PYTHONS.find((python) => run(python, ["-c", "import torch"], true));

function pythonWithTorch(): string {
  const there = withTorch();
  if (there !== undefined) return there;
  console.log("No Python here has torch: installing Debian's python3-torch (some minutes, once)");
  run("apt-get", ["install", "-y", "-q", "--no-install-recommends", "python3-torch"]);
  const brought = withTorch();
  if (brought !== undefined) return brought;
  console.log("There is still none: install PyTorch for python3, then repeat the command");
  Deno.exit(4);
}

/** Sequences without what says where they stand. */
async function sequencesAt(path: string): Promise<Partial<TokenSequence>[]> {
  const found: Partial<TokenSequence>[] = [];
  const batch = await readTokens(path);
  for await (const { file: _file, row: _row, ...rest } of batch.sequences()) found.push(rest);
  assertEquals(batch.source.ignored, []);
  return found;
}

const python = pythonWithTorch();
await withFolder(async (folder) => {
  const program = `${ROOT}tests/python/exporters.py`;
  if (!run(python, [program, `${ROOT}docs/exporters`, folder])) Deno.exit(1);
  for (const { name } of Deno.readDirSync(folder)) {
    const truth = await sequencesAt(`${folder}/${name}/truth.jsonl`);
    assertEquals(await sequencesAt(`${folder}/${name}/dump`), truth, name);
    console.log(`${name}: ${truth.length} sequences as they went in`);
  }
});
await withFolder((folder) =>
  holdVectors(folder, {
    runPython: (program, args) => run(python, [`${ROOT}tests/python/${program}`, ...args]),
  })
);
