/**
 * agentrl/report: what is said about logs, token dumps and runs at a path, as data or as one HTML file. It is apart from the rest
 * of the API because it brings the readers of all formats, Chart.js and all experiments.
 *
 * @module
 */
export {
  judgeLogAt,
  type JudgeSettings,
  judgeTokensAt,
  type Said,
} from "./src/files/judge_path.ts";
export { reportOn } from "./src/report/files/report_on.ts";
