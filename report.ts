/**
 * agentrl/report: one HTML file about runs, experiments and timings. It is apart from the rest of the API because it brings
 * Chart.js and all experiments.
 *
 * @module
 */
export { reportOn } from "./src/report/files/report_on.ts";
