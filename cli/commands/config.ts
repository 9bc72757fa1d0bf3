/** `agentrl config`: the keys of the training configuration, what each means, may hold, and who reads it. */
import { UserError } from "../../src/core/errors.ts";
import { suggestName } from "../../src/core/nearest.ts";
import { defineCommand } from "../command.ts";
import { describeKeys, keyRow } from "../config_table.ts";
import { formatTable } from "../flags.ts";

/** The command `config`. */
export const command = defineCommand({
  flags: {},
  positionals: ["[KEY…]"],
  choices: describeKeys().map(({ key }) => key),
  run(_flags, names) {
    const keys = describeKeys();
    const known = keys.map(({ key }) => key);
    const unknown = names.find((name) => !known.includes(name));
    if (unknown !== undefined) {
      throw new UserError(`unknown key "${unknown}": ${suggestName(unknown, known)}`);
    }
    const chosen = keys.filter(({ key }) => names.length === 0 || names.includes(key));
    const text = [
      ...formatTable(chosen.map(keyRow)),
      "",
      ...formatTable([
        ["set by", "cli/agentrl train --set lr=0.002, or --config FILE with a JSON object"],
        ["read by", "all algorithms where nothing else is said"],
      ]),
    ];
    return Promise.resolve({ document: { keys: chosen }, text: text.join("\n") });
  },
});
