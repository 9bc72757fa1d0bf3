/** Kubernetes: the manifest of an Indexed Job, a chunk of cells a pod. Applying it is the user's. */
import { UserError } from "../../src/core/errors.ts";
import { commandLine } from "../../src/core/shell_words.ts";
import { type JobRecord, taskCount } from "../../src/sweep/job_record.ts";

/** What the user says of the pods. */
export interface KubernetesOptions {
  /** The image, in which the launcher is `agentrl` on the PATH. */
  readonly image: string;
  /** The persistent volume claim that holds the sweep's folder. */
  readonly claim: string;
  /** Where the claim is mounted. */
  readonly mount: string;
  readonly cpu: string | undefined;
  readonly memory: string | undefined;
  readonly gpus: number | undefined;
  /** Pods at the same time; undefined: all. */
  readonly limit: number | undefined;
}

/** How many times Kubernetes starts a pod again that died: a cell that fails is no death. */
const RESTARTS_A_TASK = 3;

/** Time to save between SIGTERM and SIGKILL. */
const GRACE_SECONDS = 120;

/** More than one of the device plugin's names exists; this is the one of most clusters. */
const GPU_RESOURCE = "nvidia.com/gpu";

/** With the job's number and a pod's index and suffix behind it, a name must stay below 63 characters. */
const MAX_NAME = 28;

/** A name as labels and objects may have it: lower case, digits and dashes. */
function objectName(text: string): string {
  const name = text.toLowerCase().replace(/[^a-z0-9-]+/g, "-").replace(/^-+/, "");
  return name.slice(0, MAX_NAME).replace(/-+$/, "");
}

const QUANTITY = /^\d+(?:\.\d+)?(?:m|[kMGTPE]i?)?$/;

function quantity(name: string, text: string | undefined): string | undefined {
  if (text === undefined || QUANTITY.test(text)) return text;
  throw new UserError(
    `--${name} must be a quantity of Kubernetes, such as 2, 500m or 4Gi, found "${text}"`,
  );
}

function requireOptions({ claim, mount, image }: KubernetesOptions): void {
  if (!/^[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?$/.test(claim)) {
    throw new UserError(
      `--claim must be the name of a persistent volume claim, found "${claim}": lower case letters, digits, dashes and dots`,
    );
  }
  if (!mount.startsWith("/") || mount.includes(":")) {
    throw new UserError(`--mount must be an absolute path without colons, found "${mount}"`);
  }
  if (/\s/.test(image)) {
    throw new UserError(`--image must be the name of an image, found "${image}"`);
  }
}

/**
 * The manifest of an Indexed Job.
 *
 * @param record The cells and their chunks.
 * @param options.folder The sweep's folder in the claim.
 * @returns Plain data, of the kind Job in batch/v1.
 * @throws {UserError} When a flag is not what Kubernetes takes.
 */
export function kubernetesJob(record: JobRecord, place: {
  readonly options: KubernetesOptions;
  readonly sweepName: string;
  readonly folder: string;
  readonly extra: readonly string[];
}) {
  const { options, sweepName, folder, extra } = place;
  requireOptions(options);
  const { image, claim, mount, gpus, limit } = options;
  const tasks = taskCount(record);
  const cpu = quantity("cpu", options.cpu);
  const memory = quantity("memory", options.memory);
  const requests = {
    ...(cpu !== undefined && { cpu }),
    ...(memory !== undefined && { memory }),
  };
  const limits = {
    ...(memory !== undefined && { memory }),
    ...(gpus !== undefined && { [GPU_RESOURCE]: String(gpus) }),
  };
  const work = commandLine(["agentrl", "sweep", folder, `--job=${record.name}`, ...extra]);
  const labels = { app: "agentrl", sweep: objectName(sweepName) };
  return {
    apiVersion: "batch/v1",
    kind: "Job",
    metadata: { name: `agentrl-${objectName(sweepName)}-${record.name}`, labels },
    spec: {
      completionMode: "Indexed",
      completions: tasks,
      parallelism: Math.min(tasks, limit ?? tasks),
      backoffLimit: RESTARTS_A_TASK * tasks,
      template: {
        metadata: { labels },
        spec: {
          restartPolicy: "Never",
          terminationGracePeriodSeconds: GRACE_SECONDS,
          containers: [{
            name: "cells",
            image,
            // The process itself hears the signals of its pod.
            command: ["sh", "-c", `exec ${work} --task="$JOB_COMPLETION_INDEX"`],
            resources: { requests, limits },
            volumeMounts: [{ name: "sweep", mountPath: mount }],
          }],
          volumes: [{ name: "sweep", persistentVolumeClaim: { claimName: claim } }],
        },
      },
    },
  };
}
