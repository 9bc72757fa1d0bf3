/** Tests of src/model/config.ts: the layout of the parameters, and the sizes that the kernels cannot compute. */
import { assertEquals, assertThrows } from "@std/assert";
import { checkConfig, parameterLayout, TINY_AGENT } from "../../src/model/config.ts";

Deno.test("parameterLayout() gives TinyAgent 157,244 parameters without gaps", () => {
  const { ranges, parameterCount } = parameterLayout(TINY_AGENT);
  assertEquals(parameterCount, 157_244);
  let end = 0;
  for (const { offset, length } of ranges) {
    assertEquals(offset, end);
    end += length;
  }
  assertEquals(end, parameterCount);
});

Deno.test("parameterLayout() aligns every weight to a vec4 and puts its bias right behind it", () => {
  const config = { vocabSize: 7, width: 96, headCount: 6, feedForwardWidth: 32, layerCount: 2 };
  const { ranges } = parameterLayout(config);
  ranges.forEach(({ name, offset }, i) => {
    assertEquals(offset % 4, 0, name);
    if (!name.endsWith(".bias")) return;
    assertEquals(ranges[i - 1]?.name, name.replace(".bias", ".weight"));
  });
});

Deno.test("checkConfig() refuses sizes that the kernels cannot compute, with the size found", () => {
  const cases = [
    [{ width: 72 }, "width 72"],
    [{ width: 0 }, "width is 0"],
    [{ feedForwardWidth: 250 }, "feedForwardWidth 250"],
    [{ headCount: 3 }, "64 over 3 heads"],
    [{ headCount: 32 }, "gives 2"],
    [{ width: 256, headCount: 1 }, "gives 256"],
    [{ vocabSize: 1 }, "vocabSize is 1"],
    [{ vocabSize: 60.5 }, "vocabSize is 60.5"],
    [{ layerCount: 257 }, "layerCount is 257"],
  ] as const;
  for (const [change, sentence] of cases) {
    assertThrows(() => checkConfig({ ...TINY_AGENT, ...change }), RangeError, sentence);
  }
});

Deno.test("checkConfig() allows every width and head count that the kernels are tested with", () => {
  for (const width of [32, 64, 96, 128]) {
    for (let headCount = 1; headCount <= 8; headCount++) {
      if (width % (4 * headCount) === 0) checkConfig({ ...TINY_AGENT, width, headCount });
    }
  }
});
