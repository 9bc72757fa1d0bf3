/** Tests of the manifest of an Indexed Job: what it holds, held to Kubernetes' own schema, and flags that it refuses. */
import { assertEquals, assertThrows } from "@std/assert";
import { kubernetesJob, type KubernetesOptions } from "../../../cli/sweep/kubernetes.ts";
import { UserError } from "../../../src/core/errors.ts";
import type { JobRecord } from "../../../src/sweep/job_record.ts";

const RECORD: JobRecord = {
  ...{ name: "kubernetes-1", version: 1, engine: "kubernetes", time: "2026-01-01T00:00:00.000Z" },
  ...{ jobId: null, chunk: 4, cells: Array.from({ length: 10 }, (_, i) => `${i}`) },
};
const OPTIONS: KubernetesOptions = {
  ...{ image: "registry.example/agentrl:1", claim: "sweeps", mount: "/sweeps" },
  ...{ cpu: "500m", memory: "4Gi", gpus: 1, limit: 2 },
};

function manifest(options: Partial<KubernetesOptions> = {}, sweepName = "LR_and.clip") {
  return kubernetesJob(RECORD, {
    options: { ...OPTIONS, ...options },
    sweepName,
    folder: "/sweeps/sweep lr",
    extra: ["--claim-timeout=90"],
  });
}

Deno.test("kubernetesJob() is an Indexed Job: a pod a chunk, the claim mounted, resources as given", () => {
  const { metadata, spec } = manifest();
  assertEquals(metadata.name, "agentrl-lr-and-clip-kubernetes-1");
  assertEquals(
    [spec.completionMode, spec.completions, spec.parallelism],
    ["Indexed", 3, 2],
  );
  const { containers: [container], volumes, restartPolicy } = spec.template.spec;
  assertEquals(container.command, [
    "sh",
    "-c",
    "exec agentrl sweep '/sweeps/sweep lr' --job=kubernetes-1 --claim-timeout=90 " +
    '--task="$JOB_COMPLETION_INDEX"',
  ]);
  assertEquals<unknown>(container.resources, {
    requests: { cpu: "500m", memory: "4Gi" },
    limits: { memory: "4Gi", "nvidia.com/gpu": "1" },
  });
  assertEquals(volumes, [{ name: "sweep", persistentVolumeClaim: { claimName: "sweeps" } }]);
  assertEquals([container.volumeMounts[0].mountPath, restartPolicy], ["/sweeps", "Never"]);
  assertEquals(manifest({ limit: undefined }).spec.parallelism, 3);
  const { name } = manifest({}, "x".repeat(48)).metadata;
  // A pod's name adds its index and a suffix.
  assertEquals([/-kubernetes-1$/.test(name), `${name}-99999-abcde`.length <= 63], [true, true]);
});

Deno.test("kubernetesJob() refuses what Kubernetes would", () => {
  const refused = (options: Partial<KubernetesOptions>, sentence: string) =>
    assertThrows(() => manifest(options), UserError, sentence);
  refused({ claim: "My_Claim" }, "--claim must be the name of a persistent volume claim");
  refused({ mount: "sweeps" }, "--mount must be an absolute path");
  refused(
    { memory: "4 GB" },
    '--memory must be a quantity of Kubernetes, such as 2, 500m or 4Gi, found "4 GB"',
  );
  refused({ cpu: "two" }, "--cpu must be a quantity");
  refused({ image: "a b" }, "--image must be the name of an image");
});

/** Among our imports the package would come with every command. */
const VALIDATE = `import { Job } from "npm:kubernetes-models@4.5.1/batch/v1";
for (const job of JSON.parse(Deno.args[0])) {
  try {
    new Job(job).validate();
    console.log("valid");
  } catch (error) {
    console.log(String(error));
  }
}`;

Deno.test("kubernetesJob() passes the schema of Kubernetes, and a manifest with a mistake does not", async () => {
  const job = manifest();
  const wrong = { ...job, spec: { ...job.spec, completions: "3" } };
  const jobs = [job, manifest({ cpu: undefined, memory: undefined, gpus: undefined }), wrong];
  const script = Deno.makeTempFileSync({ suffix: ".ts" });
  Deno.writeTextFileSync(script, VALIDATE);
  try {
    const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
      args: ["run", "-A", "--quiet", "--no-config", "--no-lock", script, JSON.stringify(jobs)],
      cwd: Deno.makeTempDirSync(),
    }).output();
    const decoder = new TextDecoder();
    assertEquals(code, 0, `Cannot bring kubernetes-models: ${decoder.decode(stderr)}`);
    const [first, second, third = ""] = decoder.decode(stdout).split("\n");
    assertEquals([first, second, /completions/.test(third)], ["valid", "valid", true], third);
  } finally {
    Deno.removeSync(script);
  }
});
