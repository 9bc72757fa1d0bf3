/** Tests of src/run/checks_file.ts. */
import { assertEquals, assertThrows } from "@std/assert";
import { UserError } from "../../src/core/errors.ts";
import type { CheckResult } from "../../src/diagnose/invariant.ts";
import { readChecks, writeChecks } from "../../src/run/checks_file.ts";
import { withFolder } from "../files/with_folder.ts";

const RESULT: CheckResult = {
  id: 2,
  name: "sampler = trainer log-prob",
  value: 0.5,
  relation: "<=",
  bound: 0,
  boundReason: "nothing rounds",
  verdict: "violated",
  reason: "largest difference",
};

Deno.test("readChecks() gives what writeChecks() wrote, a value that is not a number as null", () =>
  withFolder((folder) => {
    const path = `${folder}/checks.json`;
    const apart: CheckResult = {
      ...RESULT,
      id: 9,
      value: null,
      verdict: "not-applicable",
      lack: "setting",
    };
    writeChecks(path, [RESULT, apart, { ...RESULT, value: NaN }]);
    assertEquals(readChecks(path), [RESULT, apart, { ...RESULT, value: null }]);
    const [key] = Object.keys(JSON.parse(Deno.readTextFileSync(path)).checks[0])
      .filter((name) => name.startsWith("bound_"));
    assertEquals(key, "bound_reason");
  }));

Deno.test("readChecks() names the key of what is not a verdict", () =>
  withFolder((folder) => {
    const path = `${folder}/checks.json`;
    Deno.writeTextFileSync(path, JSON.stringify({ checks: [{ ...RESULT, verdict: "fine" }] }));
    assertThrows(() => readChecks(path), UserError, "checks.0.");
  }));
