/** The faults as causes: what rules each out, and what to do about it. */
import type { CauseRecord } from "../diagnose/triage/knowledge.ts";
import { type FaultName, FAULTS } from "./faults.ts";

/** Every fault as a cause. */
export const CAUSES: Readonly<Record<FaultName, CauseRecord>> = Object.fromEntries(
  Object.entries(FAULTS).map((
    [name, { summary, kind, ruledOutBy = [], explains, needs, advice }],
  ) =>
    [name, {
      summary,
      kind,
      ruledOutBy,
      ...(explains && { explains }),
      ...(needs && { needs }),
      advice,
    }] as const
  ),
) as Record<FaultName, CauseRecord>;
