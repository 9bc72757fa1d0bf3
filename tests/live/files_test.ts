/** Tests of src/live/files and of the commands that write the page. */
import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { keptAgentPath } from "../../cli/agent.ts";
import { UserError } from "../../src/core/errors.ts";
import { bundledScripts } from "../../src/live/files/bundle.ts";
import { sourceHash } from "../../src/live/files/source_hash.ts";
import { assertRefused, golden, namesIn } from "../e2e/command_line.ts";
import { agentrlHere, commandTest } from "../e2e/in_process.ts";
import { withFolder } from "../files/with_folder.ts";
import { testGpu } from "../gpu/gpu_test_device.ts";

Deno.test("sourceHash() is of the files that an entry needs, and of no others", () => {
  const hash = sourceHash(["src/live/replay.ts"]);
  assertEquals(hash, sourceHash(["src/live/replay.ts"]));
  // It imports types from there, and nothing from the page.
  assertEquals(hash, sourceHash(["src/live/replay.ts", "src/live/messages.ts"]));
  assert(hash !== sourceHash(["src/live/replay.ts", "src/live/page.ts"]));
});

Deno.test("bundledScripts() keeps scripts by their sources, mends what is damaged, and runs in no document", () =>
  withFolder(async (folder) => {
    Deno.writeTextFileSync(`${folder}/scripts-0123456789abcdef.json`, "{}");
    const { worker } = await bundledScripts(folder);
    const [name = "", ...others] = namesIn(folder);
    assertEquals(others, []);
    assert(/^scripts-[0-9a-f]{16}\.json$/.test(name) && !name.includes("0123456789abcdef"), name);
    new Function(worker); // Throws a SyntaxError where module syntax is left.
    const path = `${folder}/${name}`;
    Deno.writeTextFileSync(path, JSON.stringify({ page: "kept", worker: "kept" }));
    assertEquals((await bundledScripts(folder)).worker, "kept");
    Deno.writeTextFileSync(path, '{"page": "half of');
    assertEquals((await bundledScripts(folder)).worker, worker);
  }));

Deno.test("bundledScripts() says what is missing where there is no bundler, or esbuild cannot be fetched", async () => {
  const own = Object.getOwnPropertyDescriptor(Deno, "bundle");
  const replaced = (value: unknown) =>
    Object.defineProperty(Deno, "bundle", { value, configurable: true });
  try {
    replaced(() => Promise.reject(new Error("Failed loading @esbuild/linux-x64")));
    const offline = await assertRejects(() => bundledScripts(undefined), UserError);
    assertStringIncludes(offline.message, "esbuild, which Deno fetches from npm once (Failed");
    replaced(undefined);
    const old = await assertRejects(() => bundledScripts(undefined), UserError);
    assertStringIncludes(old.message, "has no bundler");
    assertEquals([offline.exitCode, old.exitCode], [4, 4]);
  } finally {
    if (own) Object.defineProperty(Deno, "bundle", own);
  }
});

/** Lets commands keep things in a folder, where a base agent lies already. */
async function withKept(work: (folder: string) => Promise<void>): Promise<void> {
  await withFolder(async (folder) => {
    Deno.env.set("AGENTRL_LIVE", `${folder}/kept/live`);
    Deno.env.set("AGENTRL_AGENTS", `${folder}/kept/agents`);
    try {
      Deno.mkdirSync(`${folder}/kept/agents`, { recursive: true });
      const { description } = (await testGpu()).adapter;
      Deno.copyFileSync(golden("model.safetensors"), keptAgentPath(description) ?? "");
      await work(folder);
    } finally {
      Deno.env.delete("AGENTRL_LIVE");
      Deno.env.delete("AGENTRL_AGENTS");
    }
  });
}

commandTest(
  "live writes a page whole or not at all, and lab links to the one beside its report",
  () =>
    withKept(async (folder) => {
      const out = `${folder}/page.html`;
      const args = ["live", "--out", out, "--fault", "none", "--steps", "1"];
      const first = await agentrlHere([...args, "--json"]);
      assertEquals(first.code, 0, first.stderr);
      const { sizeBytes, settings } = JSON.parse(first.stdout);
      assertEquals(sizeBytes, Deno.statSync(out).size);
      assertEquals(settings, { fault: "none", seed: 0, steps: 1 });
      assertEquals(namesIn(folder), ["kept", "page.html"]);
      const kept = () =>
        namesIn(`${folder}/kept/live`).map((name) => [
          name,
          Deno.statSync(`${folder}/kept/live/${name}`).mtime?.getTime(),
        ]);
      const before = kept();
      const again = await agentrlHere(args);
      assertStringIncludes(again.stdout, "replaces the earlier page");
      assertEquals([kept(), before.length], [before, 2]);

      Deno.writeTextFileSync(out, "<p>mine</p>");
      assertRefused(await agentrlHere(args), {
        code: 2,
        sentence: /is not a live page of agentrl/,
      });
      assertEquals(Deno.readTextFileSync(out), "<p>mine</p>");

      const lab = [...["lab", "estimator", "--quick", "--out", `${folder}/lab`]];
      await agentrlHere(lab);
      const report = () => Deno.readTextFileSync(`${folder}/lab/report.html`);
      assert(!report().includes("live.html"));
      Deno.renameSync(out, `${folder}/lab/live.html`);
      await agentrlHere(lab);
      assert(!report().includes("live.html"), "a page of somebody else's");
      Deno.removeSync(`${folder}/lab/live.html`);
      const beside = await agentrlHere([
        "live",
        "--out",
        `${folder}/lab/live.html`,
        "--fault",
        "none",
        "--steps",
        "1",
      ]);
      assertEquals(beside.code, 0, beside.stderr);
      await agentrlHere(lab);
      assert(report().includes('href="live.html"'), "no link");
    }),
  { env: true },
);
