/** The published build of Chart.js as text, to stand inside a report. */
import { Chart } from "chart.js";

/** Version of the build. */
export const CHART_JS_VERSION: string = Chart.version;

/**
 * Reads the one-file build that lies beside the module in the npm package. The import above is what brings the package
 * into Deno's cache; its list of exports does not name the build, so it is found by its place.
 *
 * @returns A script that defines `Chart`.
 * @throws {Deno.errors.NotFound} When a later version of the package has no such build.
 */
export function readChartJs(): string {
  const build = new URL("chart.umd.min.js", import.meta.resolve("chart.js"));
  // A source map would be looked for beside the report.
  return Deno.readTextFileSync(build).replace(/^\/\/# sourceMappingURL=.*$/m, "");
}
