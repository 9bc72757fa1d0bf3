/** A second driver and a second compiler: sampler and forward agree on each, and both compilers have the same bits. */
import { assertEquals } from "@std/assert";
import { compilerFaults, driverFaults, ownFaults } from "./compare.ts";
import { measureInBrowser, measureInDeno, swiftShaderFile } from "./implementations.ts";

Deno.test("naga and Tint have the same bits on Chromium's driver, and sampler = forward on both", async () => {
  const deno = await measureInDeno("short", swiftShaderFile());
  const browser = await measureInBrowser("short");
  assertEquals([...ownFaults(deno), ...ownFaults(browser)], []);
  assertEquals(deno.adapter, "SwiftShader Device (Subzero)");
  assertEquals(browser.adapter, "google swiftshader");
  assertEquals(compilerFaults(deno, browser), []);

  // What is compared would show a difference.
  const other = { ...browser, episodes: { ...browser.episodes, forwardHash: "0" } };
  assertEquals(compilerFaults(deno, other).length, 1);
  const far = { ...browser.episodes, entropies: browser.episodes.entropies.map((h) => h + 1e-3) };
  assertEquals(driverFaults(deno, { ...browser, episodes: far }).length, 1);
});
