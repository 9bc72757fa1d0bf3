/** Tests of what commands say where Deno falls back to OpenGL, as it does in silence without a Vulkan driver. */
import { assertEquals, assertStringIncludes } from "@std/assert";
import { withFolder } from "../files/with_folder.ts";
import { agentrl, golden } from "./command_line.ts";

Deno.test("`info` and a command that computes say that the adapter is OpenGL's, and only then", () =>
  withFolder(async (folder) => {
    const score = ["score", "--checkpoint", golden("model.safetensors")]
      .concat("--batch", golden("batch.safetensors"), "--out", `${folder}/scores.safetensors`);
    for (const [backend, isOpenGl] of [["gl", true], ["vulkan", false]] as const) {
      const env = { DENO_WEBGPU_BACKEND: backend };
      const info = await agentrl(["info", "--json"], env);
      if (isOpenGl && info.code !== 0) {
        // A machine without libraries of OpenGL has no fallback that could be silent.
        assertStringIncludes(info.stderr, "Found no WebGPU adapter");
        return;
      }
      const adapter: { openGl: boolean; adapter: string } = JSON.parse(info.stdout);
      assertEquals(adapter.openGl, isOpenGl);
      const { stderr } = await agentrl(score, env);
      const notice = "agentrl: this adapter seems to be driven through OpenGL";
      assertEquals(stderr.includes(notice), isOpenGl, stderr);
    }
    const { stdout } = await agentrl(["info"], { DENO_WEBGPU_BACKEND: "gl" });
    assertStringIncludes(stdout, "through OpenGL");
    assertStringIncludes(stdout, "install the GPU's Vulkan driver");
  }));
