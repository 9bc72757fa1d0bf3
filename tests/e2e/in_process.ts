/** The command line in this process, on this file's device: for tests whose subject is a command and not its process. */
import { fileURLToPath } from "node:url";
import { main } from "../../cli/main.ts";
import { Commands } from "../../src/gpu/commands.ts";
import { testGpu } from "../gpu/gpu_test_device.ts";
import type { Result } from "./command_line.ts";

/** What the launcher allows to commands that compute. */
const PERMISSIONS: Deno.PermissionOptionsObject = {
  read: true,
  write: true,
  env: ["AGENTRL_READBACK", "AGENTRL_TUNING", "AGENTRL_AGENTS", "AGENTRL_LIVE", "AGENTRL_HANGUP"],
  run: false,
  net: false,
  sys: false,
  ffi: false,
  import: false,
};

/**
 * A test that runs commands in this process and starts no others. It may do what the launcher allows to commands, and what
 * more is `permitted`, so that a command that needs more fails here as it would in its own process.
 */
export function commandTest(
  name: string,
  fn: (t: Deno.TestContext) => Promise<void>,
  permitted: Deno.PermissionOptionsObject = {},
): void {
  const permissions = { ...PERMISSIONS, ...permitted };
  Deno.test({ name, fn, permissions, sanitizeOps: false, sanitizeResources: false });
}

/** Keeps what is written to a standard stream, as a pipe would. */
function capture(stream: typeof Deno.stdout | typeof Deno.stderr) {
  let text = "";
  const decoder = new TextDecoder();
  const replaced = {
    isTerminal: () => false,
    writeSync: (bytes: Uint8Array) => {
      text += decoder.decode(bytes, { stream: true });
      return bytes.length;
    },
  };
  Object.entries(replaced).forEach(([name, value]) =>
    Object.defineProperty(stream, name, { value, configurable: true })
  );
  return {
    text: () => text,
    [Symbol.dispose]: () =>
      Object.keys(replaced).forEach((name) => Reflect.deleteProperty(stream, name)),
  };
}

/** Runs a command as its process would, one at a time. Each gets a recorder of its own on the one device. */
export async function agentrlHere(args: readonly string[]): Promise<Result> {
  using stdout = capture(Deno.stdout);
  using stderr = capture(Deno.stderr);
  const calledAs = fileURLToPath(new URL("../../cli/agentrl", import.meta.url));
  const code = await main([`--called-as=${calledAs}`, ...args], {
    openCommands: async () => new Commands(await testGpu()),
  });
  return { code, stdout: stdout.text(), stderr: stderr.text() };
}
