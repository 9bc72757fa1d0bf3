/** A second compiler reads every kernel: Chromium's Tint, which refuses what naga lets pass. */
import { assert, assertEquals } from "@std/assert";
import { withBrowser } from "../e2e/browser.ts";
import { withFolder } from "../files/with_folder.ts";
import { compileInPage } from "./compile_in_page.ts";
import { kernelForms } from "./kernel_forms.ts";

/** Lets a barrier stand after a break on what may differ between lanes. */
const NON_UNIFORM = `
@group(0) @binding(1) var<storage, read_write> y: array<u32>;
var<private> live: u32;
@compute @workgroup_size(8)
fn broken(@builtin(local_invocation_index) lane: u32) {
  live = lane;
  for (var i = 0u; i < 8u; i++) {
    if (live == 0u) { break; }
    workgroupBarrier();
  }
  y[lane] = live;
}`;

Deno.test("Chromium's compiler has nothing to say about any kernel, in textures and in buffers", async () => {
  const forms = await kernelForms();
  assert(forms.length >= 100, `only ${forms.length} forms were found`);
  await withFolder((folder) =>
    withBrowser(async (browser) => {
      const path = `${folder}/empty.html`;
      Deno.writeTextFileSync(path, "<!doctype html><title>empty</title>");
      const broken = { title: "broken", entryPoint: "broken", code: NON_UNIFORM };
      const { adapter, complaints } = await compileInPage(browser, {
        forms: [...forms, broken],
        url: `file://${path}`,
      });
      assertEquals(adapter, "google swiftshader");
      assertEquals(complaints.filter((text) => !text.startsWith("broken")), []);
      assert(complaints.some((text) => text.includes("uniform control flow")), "it reads closely");
    }, { webGpu: true })
  );
});
