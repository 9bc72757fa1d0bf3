/** Shows that the interface serves an environment that has nothing to do with BugFix. */
import { assertEquals } from "@std/assert";
import { isCallComplete } from "../../src/gym/environment.ts";
import { decode, encode } from "../../src/gym/vocabulary.ts";
import { ThreeDoors } from "./three_doors.ts";

Deno.test("isCallComplete() ends a call at its last token or at its longest", () => {
  const { spec } = new ThreeDoors();
  assertEquals(isCallComplete(spec, []), false);
  assertEquals(isCallComplete(spec, encode("<call> read min")), false);
  assertEquals(isCallComplete(spec, encode("<call> </call>")), true);
  assertEquals(isCallComplete(spec, encode("</call>")), true);
  assertEquals(isCallComplete(spec, encode("pass pass pass pass")), true);
});

Deno.test("ThreeDoors rewards opening the door with the key and no other", () => {
  for (let task = 0; task < 3; task++) {
    const environment = new ThreeDoors();
    assertEquals(decode(environment.reset(task)), "<task> range");
    const peek = environment.step(encode("<call> read guard </call>"));
    assertEquals(decode(peek.observation), `<obs> ${task === 1 ? "pass" : "fail"} </obs>`);
    assertEquals(environment.step(encode("<call> submit guard </call>")), {
      observation: [],
      done: true,
    });
    assertEquals(environment.reward(), task === 1 ? 1 : 0);
    const { turns, malformed, stop, peeks } = environment.info();
    assertEquals({ turns, malformed, stop, peeks }, {
      turns: 2,
      malformed: 0,
      stop: "opened",
      peeks: 1,
    });
  }
});

Deno.test("ThreeDoors ends at its turn budget, also when every call was malformed", () => {
  const environment = new ThreeDoors();
  environment.reset(0);
  const done = [1, 2, 3, 4].map(() => environment.step(encode("<call> read </call>")).done);
  assertEquals(done, [false, false, false, true]);
  assertEquals([environment.reward(), environment.info().malformed], [0, 4]);
});
