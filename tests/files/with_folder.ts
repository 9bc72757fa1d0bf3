/** A temporary folder for the time of one test. */

/** Calls `test` with a new folder and removes it afterwards, whatever happened. */
export async function withFolder(test: (folder: string) => void | Promise<void>): Promise<void> {
  const folder = Deno.makeTempDirSync();
  try {
    await test(folder);
  } finally {
    Deno.removeSync(folder, { recursive: true });
  }
}
