/** A checkout of its own for tests of the launcher: its own `.deno`, and a PATH with the system's tools and stand-ins only. */

/** What the launcher may call. */
const TOOLS =
  "sh bash dirname readlink sed mkdir uname id ls mktemp rm rmdir mv sleep cat chmod tee tail yes"
    .split(" ");

/** A version of Deno that will do, as a shell script: it answers, and says how the command line was started. */
export const GOOD_DENO = `#!/bin/sh
case $1 in
  --version) echo "deno 2.9.6 (stable)" ;;
  *) for argument; do case $argument in */readback_selftest.ts) echo primed && exit ;; esac; done
     echo "started $0 $AGENTRL_READBACK" ;;
esac
`;

/** What a start leaves. */
export interface Started {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** A checkout in a temporary folder. */
export interface Checkout {
  readonly folder: string;
  /** Writes a program into the PATH, a shell script. */
  addProgram(name: string, script: string): void;
  /** Starts the launcher; by default with HOME in the checkout's folder and nothing else in the environment. */
  start(
    args: readonly string[],
    options?: { readonly env?: Readonly<Record<string, string>>; readonly asOther?: boolean },
  ): Promise<Started>;
}

function findTool(name: string): string | undefined {
  return [`/usr/bin/${name}`, `/bin/${name}`].find((path) => {
    try {
      return Deno.statSync(path).isFile;
    } catch {
      return false;
    }
  });
}

/** Makes a checkout, hands it to `use`, and removes it. */
export async function withCheckout(use: (checkout: Checkout) => Promise<void>): Promise<void> {
  const folder = Deno.makeTempDirSync({ prefix: "agentrl-checkout-" });
  const write = (path: string, script: string) =>
    Deno.writeTextFileSync(path, script, { mode: 0o755 });
  try {
    // A Deno that has its packages already: the launcher says where it looks for them otherwise.
    for (const name of ["repository/cli", "bin", "home/.cache/deno/npm/registry/zod"]) {
      Deno.mkdirSync(`${folder}/${name}`, { recursive: true });
    }
    // Another user must be able to reach it.
    Deno.chmodSync(folder, 0o755);
    for (const path of ["cli/agentrl", "cli/run_tests.sh", "deno.json"]) {
      Deno.copyFileSync(new URL(`../../${path}`, import.meta.url), `${folder}/repository/${path}`);
    }
    for (const tool of TOOLS) {
      const path = findTool(tool);
      if (path !== undefined) Deno.symlinkSync(path, `${folder}/bin/${tool}`);
    }
    await use({
      folder,
      addProgram: (name, script) => write(`${folder}/bin/${name}`, script),
      start: async (args, { env = {}, asOther = false } = {}) => {
        const launcher = `${folder}/repository/cli/agentrl`;
        // A superuser may write everywhere, whatever the permissions say.
        const other = ["--reuid=65534", "--regid=65534", "--clear-groups", launcher];
        const [program, ...before] = asOther && Deno.uid() === 0
          ? ["/usr/bin/setpriv", ...other]
          : [launcher];
        const { code, stdout, stderr } = await new Deno.Command(program, {
          args: [...before, ...args],
          cwd: folder,
          clearEnv: true,
          env: {
            PATH: `${folder}/bin`,
            HOME: `${folder}/home`,
            VK_DRIVER_FILES: "none",
            ...env,
          },
        }).output();
        const decoder = new TextDecoder();
        return { code, stdout: decoder.decode(stdout), stderr: decoder.decode(stderr) };
      },
    });
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}
