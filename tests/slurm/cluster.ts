/** A real Slurm of one node on the loopback, for the time of a test: munge, a controller and a node daemon, as root. */

/** Starts a program, waits for its end, and returns what it printed. @throws {Error} When it fails. */
export async function call(program: string, args: readonly string[], env = {}): Promise<string> {
  const { code, stdout, stderr } = await new Deno.Command(program, { args: [...args], env })
    .output();
  const decoder = new TextDecoder();
  if (code === 0) return decoder.decode(stdout).trim();
  throw new Error(`${program} ${args.join(" ")} ended with ${code}: ${decoder.decode(stderr)}`);
}

/** Waits until something holds. @throws {Error} After `limitMs`. */
export async function until(
  what: string,
  holds: () => boolean | Promise<boolean>,
  limitMs = 120_000,
): Promise<void> {
  for (const deadline = Date.now() + limitMs; Date.now() < deadline;) {
    if (await holds()) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`waited in vain for ${what}`);
}

/** The priority of `high` takes the node from jobs in `low`, which are requeued. */
function configuration(folder: string, host: string): string {
  return `ClusterName=agentrl
SlurmctldHost=${host}(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
StateSaveLocation=${folder}/state
SlurmdSpoolDir=${folder}/spool
SlurmctldPidFile=${folder}/slurmctld.pid
SlurmdPidFile=${folder}/slurmd.pid
SlurmctldLogFile=${folder}/slurmctld.log
SlurmdLogFile=${folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
ReturnToService=2
MpiDefault=none
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
NodeName=${host} NodeAddr=127.0.0.1 CPUs=2 State=UNKNOWN
PartitionName=low Nodes=${host} Default=YES MaxTime=INFINITE State=UP PriorityTier=1 PreemptMode=REQUEUE
PartitionName=high Nodes=${host} MaxTime=INFINITE State=UP PriorityTier=10 PreemptMode=OFF
`;
}

/** A running Slurm. */
export class Cluster implements AsyncDisposable {
  readonly #folder: string;
  /** What its programs need to find it. */
  readonly env: Readonly<Record<string, string>>;

  private constructor(folder: string) {
    this.#folder = folder;
    this.env = { SLURM_CONF: `${folder}/slurm.conf` };
  }

  /** Starts it. @throws {Error} Where Slurm or munge is not installed, or this is not root. */
  static async start(): Promise<Cluster> {
    const folder = Deno.makeTempDirSync({ prefix: "slurm-" });
    for (const name of ["state", "spool"]) Deno.mkdirSync(`${folder}/${name}`);
    Deno.writeTextFileSync(`${folder}/slurm.conf`, configuration(folder, Deno.hostname()));
    const cluster = new Cluster(folder);
    // The daemon of munge stays: other tests of this machine may use it.
    const start = "pidof munged >/dev/null || { mkdir -p /run/munge && chown munge /run/munge && " +
      "su munge -s /bin/sh -c munged; }";
    await call("sh", ["-c", start]);
    await cluster.startController();
    await call("slurmd", [], cluster.env);
    await until("the node", async () => /idle/.test(await cluster.call("sinfo", ["-h"])));
    return cluster;
  }

  /** Starts the controller, or starts it again: it finds its jobs in its own files. */
  async startController(): Promise<void> {
    await call("slurmctld", [], this.env);
    await until("the controller", async () => {
      try {
        await this.call("scontrol", ["ping"]);
        return true;
      } catch {
        return false;
      }
    });
  }

  /**
   * Waits until the controller has written down what it does now. It does so every few seconds: one that is killed before forgets
   * which tasks run, starts them again, and takes the node that refuses them out of service.
   */
  async saved(): Promise<void> {
    const path = `${this.#folder}/state/job_state`;
    const writtenMs = () => {
      try {
        return Deno.statSync(path).mtime?.getTime() ?? 0;
      } catch {
        return 0;
      }
    };
    // What is written first may have been gathered before; a job that comes and goes has it written once more.
    for (let round = 0; round < 2; round++) {
      const beforeMs = writtenMs();
      const job = await this.call("sbatch", [
        "--parsable",
        "--hold",
        "--output=/dev/null",
        "--wrap=true",
      ]);
      await this.call("scancel", [job]);
      await until("the controller's state", () => writtenMs() > beforeMs);
    }
  }

  /** Kills the controller with a signal that it cannot hear. */
  killController(): void {
    Deno.kill(Number(Deno.readTextFileSync(`${this.#folder}/slurmctld.pid`)), "SIGKILL");
  }

  /** Starts one of Slurm's programs. */
  call(program: string, args: readonly string[]): Promise<string> {
    return call(program, args, this.env);
  }

  /** The tasks in the queue: `12_3 RUNNING`. */
  async queue(): Promise<string[]> {
    const text = await this.call("squeue", ["-h", "--array", "--format=%F_%K %T"]);
    return text === "" ? [] : text.split("\n");
  }

  /** Ends all jobs and both daemons. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.call("scancel", ["--user=root"]);
    await until("an empty queue", async () => (await this.queue()).length === 0);
    for (const name of ["slurmd", "slurmctld"]) {
      Deno.kill(Number(Deno.readTextFileSync(`${this.#folder}/${name}.pid`)), "SIGTERM");
    }
    await new Promise((resolve) => setTimeout(resolve, 1000));
    Deno.removeSync(this.#folder, { recursive: true });
  }
}
