/** How the launcher finds Deno, installs it, and recovers: failed downloads, damaged files, folders that cannot be written. */
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { type Checkout, GOOD_DENO, type Started, withCheckout } from "./checkout.ts";

/** An npm that answers where the registry is and installs what `install` does into $to. */
function npm(install: string): string {
  return `#!/bin/sh
if [ "$1" = config ]; then echo http://registry.example/ && exit; fi
for argument; do case $previous in --prefix) to=$argument ;; esac; previous=$argument; done
mkdir -p "$to/node_modules/@deno/here"
${install}
`;
}

/** Installs a Deno that is the script given. */
function installing(deno: string): string {
  return npm(`cat >"$to/node_modules/@deno/here/deno" <<'END'
${deno}END
chmod +x "$to/node_modules/@deno/here/deno"
echo "npm ran" >&2`);
}

/** An installation in the checkout, made by hand. */
function placeDeno({ folder }: Checkout, content: string | Uint8Array): string {
  const path = `${folder}/repository/.deno/2.9.6/node_modules/@deno/here`;
  Deno.mkdirSync(path, { recursive: true });
  const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content;
  Deno.writeFileSync(`${path}/deno`, bytes, { mode: 0o755 });
  return `${path}/deno`;
}

function assertStarted({ code, stdout, stderr }: Started): void {
  assertEquals(code, 0, stderr);
  assertMatch(stdout, /^started /);
}

/** One sentence, and nothing of a shell's own. */
function assertSentence({ code, stdout, stderr }: Started, sentence: RegExp): void {
  assertEquals([code, stdout], [1, ""], stderr);
  assertMatch(stderr, sentence);
  assert(stderr.split("\n").every((line) => /^(agentrl: .*|npm ran|)$/.test(line)), stderr);
}

function namesIn(folder: string): string[] {
  return Array.from(Deno.readDirSync(folder), ({ name }) => name).sort();
}

Deno.test("the launcher blames a download that failed, keeps nothing of it, and installs Deno at the next start", () =>
  withCheckout(async (checkout) => {
    const { folder, addProgram, start } = checkout;
    // npm takes Deno's platform package for optional: where it cannot be downloaded, it says nothing and ends with 0.
    addProgram("npm", npm("rmdir $to/node_modules/@deno/here 2>/dev/null; exit 0"));
    for (let attempt = 0; attempt < 2; attempt++) {
      const failed = await start(["--help"]);
      assertSentence(failed, /the download of Deno failed: .*http:\/\/registry\.example\//);
      assertEquals(namesIn(`${folder}/repository/.deno`), []);
    }
    addProgram("npm", installing(GOOD_DENO));
    assertStarted(await start(["--help"]));
    assertEquals(namesIn(`${folder}/repository/.deno`), ["2.9.6"]);
    const again = await start(["--help"]);
    assertStarted(again);
    assertEquals(again.stderr, "");
  }));

Deno.test("the launcher says so when npm fails, and when what npm brought does not run here", () =>
  withCheckout(async ({ addProgram, start }) => {
    addProgram("npm", npm("exit 1"));
    assertSentence(await start(["--help"]), /npm could not install deno@2\.9\.6 from http:/);
    addProgram("npm", installing("not for this machine\n"));
    assertSentence(await start(["--help"]), /the Deno that npm installed does not run on this/);
    addProgram("npm", installing(GOOD_DENO.replace("2.9.6", "1.46.3")));
    assertSentence(await start(["--help"]), /the Deno that npm installed does not run on this/);
  }));

const realDeno = Deno.readFileSync(Deno.execPath()).subarray(0, 2_000_000);

const DAMAGED: Readonly<Record<string, string | Uint8Array>> = {
  "hangs": "#!/bin/sh\necho deno 2.9.6\nexec sleep 60\n",
  "is empty": "",
  "is cut off": realDeno,
  "answers with nonsense": "#!/bin/sh\necho 'deno 2.x.y; rm -rf'\n",
  "never stops printing": "#!/bin/sh\nexec yes 'deno 2.9.6'\n",
  "fails": "#!/bin/sh\necho deno 2.9.6\nexit 1\n",
  "is too old": "#!/bin/sh\necho deno 2.8.1\n",
};

async function replaces(content: string | Uint8Array): Promise<void> {
  await withCheckout(async (checkout) => {
    placeDeno(checkout, content);
    checkout.addProgram("npm", installing(GOOD_DENO));
    const started = await checkout.start(["--help"]);
    assertStarted(started);
    assertMatch(started.stderr, /^agentrl: installing Deno 2\.9\.6 [^\n]*\nnpm ran\n$/);
    assertEquals((await checkout.start(["--help"])).stderr, "");
  });
}

async function skips(content: string | Uint8Array): Promise<void> {
  await withCheckout(async (checkout) => {
    const { folder, addProgram, start } = checkout;
    const path = placeDeno(checkout, GOOD_DENO);
    addProgram("deno", "");
    if (typeof content === "string") addProgram("deno", content);
    else Deno.writeFileSync(`${folder}/bin/deno`, content, { mode: 0o755 });
    const { code, stdout, stderr } = await start(["--help"]);
    assertEquals([code, stdout, stderr], [0, `started ${path} \n`, ""]);
  });
}

// What hangs is waited for, 15 seconds in all: those two run beside the others.
Deno.test("the launcher replaces a Deno of its own, and skips one in the PATH, that is damaged", async (t) => {
  const sanitizers = { sanitizeOps: false, sanitizeResources: false, sanitizeExit: false };
  const step = (name: string, fn: () => Promise<void>) => t.step({ name, fn, ...sanitizers });
  const waiting: Promise<boolean>[] = [];
  for (const [what, content] of Object.entries(DAMAGED)) {
    const done = [
      step(`replaces what ${what}`, () => replaces(content)),
      step(`skips what ${what}`, () => skips(content)),
    ];
    if (what === "hangs") waiting.push(...done);
    else await Promise.all(done);
  }
  await Promise.all(waiting);
});

Deno.test("the launcher replaces a folder of its own in which there is no Deno", () =>
  withCheckout(async (checkout) => {
    Deno.mkdirSync(`${checkout.folder}/repository/.deno/2.9.6/node_modules`, { recursive: true });
    checkout.addProgram("npm", installing(GOOD_DENO));
    assertStarted(await checkout.start(["--help"]));
  }));

Deno.test("the launcher asks a Deno once, and again when its file has changed", () =>
  withCheckout(async (checkout) => {
    const { folder, start } = checkout;
    // Programs are large; what is small is a script whose answer may depend on the folder or the environment.
    const asked = `${folder}/asked`;
    const counting = (version: string) =>
      GOOD_DENO.replace("--version)", `--version) echo x >>${asked};`)
        .replace("2.9.6", version) + `exit\n${"#".repeat(1_000_000)}\n`;
    placeDeno(checkout, counting("2.9.6"));
    for (let n = 0; n < 3; n++) assertStarted(await start(["--help"]));
    assertEquals(Deno.readTextFileSync(asked), "x\n");
    placeDeno(checkout, `${counting("2.10.0")}#\n`);
    for (let n = 0; n < 3; n++) assertStarted(await start(["--help"]));
    assertEquals(Deno.readTextFileSync(asked), "x\nx\n");
    Deno.writeTextFileSync(
      `${folder}/repository/.deno/answers`,
      "deno \t\t\0\n\nfull of\tnonsense",
    );
    assertStarted(await start(["--help"]));
    assertEquals(Deno.readTextFileSync(asked), "x\nx\nx\n");
  }));

Deno.test("the launcher installs Deno for starts at the same time, and keeps one", () =>
  withCheckout(async ({ folder, addProgram, start }) => {
    addProgram("npm", `${installing(GOOD_DENO)}sleep 0.$(($$ % 5))\n`);
    const all = await Promise.all(Array.from({ length: 8 }, () => start(["--help"])));
    all.forEach(assertStarted);
    assertEquals(namesIn(`${folder}/repository/.deno`), ["2.9.6"]);
    assertEquals(namesIn(`${folder}/repository/.deno/2.9.6`), ["node_modules"]);
  }));

Deno.test("the launcher removes what an installation left that was killed", () =>
  withCheckout(async ({ folder, addProgram, start }) => {
    addProgram("npm", npm("kill -9 $PPID; exec sleep 1"));
    const killed = await start(["--help"]);
    assertEquals(killed.code, 137);
    assertEquals(namesIn(`${folder}/repository/.deno`).length, 1);
    addProgram("npm", installing(GOOD_DENO));
    assertStarted(await start(["--help"]));
    assertEquals(namesIn(`${folder}/repository/.deno`), ["2.9.6"]);
  }));

Deno.test("the launcher takes the Deno of a checkout that it may not write", () =>
  withCheckout(async (checkout) => {
    const { folder, start } = checkout;
    const path = placeDeno(checkout, GOOD_DENO);
    Deno.chmodSync(`${folder}/repository/.deno`, 0o555);
    Deno.chmodSync(`${folder}/home`, 0o777);
    const { code, stdout, stderr } = await start(["--help"], { asOther: true });
    assertEquals([code, stdout, stderr], [0, `started ${path} \n`, ""]);
  }));

Deno.test("the launcher says in one sentence that there is no place for a Deno", () =>
  withCheckout(async ({ folder, addProgram, start }) => {
    addProgram("npm", installing(GOOD_DENO));
    Deno.chmodSync(`${folder}/repository`, 0o555);
    Deno.chmodSync(`${folder}/home`, 0o555);
    const sentence =
      /^agentrl: Deno 2\.9 [^\n]* is not writable, so none can be kept there: install [^\n]*\n$/;
    const none = await start(["--help"], { asOther: true });
    assertSentence(none, sentence);
    assertStringIncludes(none.stderr, `${folder}/home/.cache/agentrl`);
    assertSentence(await start(["--help"], { asOther: true, env: { HOME: "" } }), sentence);
    const elsewhere = await start(["--help"], {
      asOther: true,
      env: { XDG_CACHE_HOME: await Deno.makeTempDir({ dir: "/tmp" }).then(openToAll) },
    });
    assertStarted(elsewhere);
  }));

function openToAll(folder: string): string {
  Deno.chmodSync(folder, 0o777);
  return folder;
}

Deno.test("the launcher finds out again how to read back where the file about it is damaged", () =>
  withCheckout(async (checkout) => {
    const { folder, start } = checkout;
    const path = placeDeno(checkout, GOOD_DENO);
    const verdict = `${folder}/repository/.deno/readback-2.9.6`;
    for (const content of [undefined, "", "prim", "\n\n", "no"]) {
      if (content !== undefined) Deno.writeTextFileSync(verdict, content);
      const { stdout, stderr } = await start(["eval"]);
      assertEquals([stdout, stderr], [`started ${path} primed\n`, ""]);
      assertEquals(Deno.readTextFileSync(verdict), "primed\n");
    }
    Deno.writeTextFileSync(verdict, "awaited\n");
    assertEquals((await start(["eval"])).stdout, `started ${path} awaited\n`);
    const told = await start(["eval"], { env: { AGENTRL_READBACK: "primed" } });
    assertEquals(told.stdout, `started ${path} primed\n`);
  }));
