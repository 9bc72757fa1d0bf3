/** Tests of what is said of an adapter behind OpenGL, to which Deno falls back in silence. */
import { assert } from "@std/assert";
import { seemsOpenGl } from "../../src/gpu/device.ts";

Deno.test("seemsOpenGl() tells OpenGL's optional features from those of others", () => {
  assert(seemsOpenGl(new Set(["depth-clip-control", "timestamp-query", "clip-distances"])));
  for (const name of ["shader-f16", "bgra8unorm-storage", "rg11b10ufloat-renderable"]) {
    assert(!seemsOpenGl(new Set(["depth-clip-control", name])), name);
  }
});
