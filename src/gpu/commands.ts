/** Recording: plans of dispatches prepared once, and command lists that replay them in one pass and one submit. */
import { checkDevice, type Gpu } from "./device.ts";
import { UserError } from "../core/errors.ts";
import { type Kernel, MAX_ITERATIONS, packParams } from "./kernel.ts";
import { readStaging, stagingFor } from "./readback.ts";
import type { Operand, Tensor } from "./tensor.ts";

/** Every uniform block starts at a multiple of this (the default minUniformBufferOffsetAlignment). */
const UNIFORM_STRIDE_BYTES = 256;
/** Uniform blocks that one submit can hold: 1 MiB of parameters. */
const UNIFORM_SLOTS = 4096;
/** WebGPU's default limit of workgroups per dimension. */
const MAX_WORKGROUPS = 65535;

/** What one dispatch needs at replay time, as a function of the size it is replayed with. */
export interface Launch {
  /** Values of the uniform parameters by name. */
  readonly params: Readonly<Record<string, number>>;
  /** Workgroups in each dimension, at most 65,535. */
  readonly workgroups: readonly [x: number, y?: number, z?: number];
  /** Sizes that the kernel's loops depend on and that are not parameters, by name (see `KernelSpec.iterations`). */
  readonly sizes?: Readonly<Record<string, number>>;
  /** How many times to dispatch with the same parameters (default 1; 0 skips it). */
  readonly times?: number;
}

/** One dispatch of a plan. */
export interface Step<Size> {
  /** The compiled kernel. */
  readonly kernel: Kernel;
  /** Its memory, bound once. */
  readonly bindGroup: GPUBindGroup;
  /** Parameters and workgroups for a size. */
  readonly launch: (size: Size) => Launch;
}

/** A prepared list of dispatches: kernels and bindings are fixed, parameters follow from a size. */
export class Plan<Size> {
  /** What was added, in order. */
  readonly steps: Step<Size>[] = [];
  readonly #gpu: Gpu;
  readonly #uniforms: GPUBuffer;

  /** Use `Commands.plan` instead. */
  constructor(gpu: Gpu, uniforms: GPUBuffer) {
    this.#gpu = gpu;
    this.#uniforms = uniforms;
  }

  /**
   * Adds a dispatch.
   * @param kernel The compiled kernel.
   * @param options.bindings Its tensors and operands by the names in the WGSL.
   * @param options.launch Parameters and workgroups for a size.
   * @throws {TypeError} When a binding is missing or of the wrong memory.
   */
  add(
    kernel: Kernel,
    options: {
      readonly bindings: Readonly<Record<string, Tensor | Operand>>;
      readonly launch: (size: Size) => Launch;
    },
  ): this {
    const resources = kernel.spec.bindings.map((binding, index) => ({
      binding: index + 1,
      resource: resourceOf(kernel, binding.name, options.bindings[binding.name]),
    }));
    const bindGroup = this.#gpu.device.createBindGroup({
      label: kernel.spec.name,
      layout: kernel.bindGroupLayout,
      entries: [
        { binding: 0, resource: { buffer: this.#uniforms, size: UNIFORM_STRIDE_BYTES } },
        ...resources,
      ],
    });
    this.steps.push({ kernel, bindGroup, launch: options.launch });
    return this;
  }

  /**
   * Adds the dispatches of another plan.
   * @param part The other plan; what is added to it later is not added here.
   * @param sizeOf The size that it is replayed with, from the size of this one.
   */
  append<Part>(part: Plan<Part>, sizeOf: (size: Size) => Part): this {
    this.steps.push(
      ...part.steps.map(({ launch, ...step }) => ({
        ...step,
        launch: (size: Size) => launch(sizeOf(size)),
      })),
    );
    return this;
  }
}

/**
 * Loop iterations that one invocation of a launch runs at most.
 * @throws {TypeError} When the launch leaves out what the kernel's loops depend on.
 */
export function iterationsOf(
  { spec, overrides }: Pick<Kernel, "spec" | "overrides">,
  { params, sizes }: Pick<Launch, "params" | "sizes">,
): number {
  return spec.iterations((name) => {
    const value = sizes?.[name] ?? params[name] ?? overrides[name];
    if (value === undefined) {
      throw new TypeError(
        `Cannot dispatch ${spec.name}: its loops depend on ${name}, which the launch does not state`,
      );
    }
    return value;
  });
}

/** Refuses what an adapter would not run, or not to its end. The only place that knows these limits. */
function checkLaunch(gpu: Gpu, kernel: Kernel, launch: Launch): void {
  const { name } = kernel.spec;
  const [x, y = 1, z = 1] = launch.workgroups;
  if (!(Math.max(x, y, z) <= MAX_WORKGROUPS)) {
    throw new UserError(
      `Cannot dispatch ${name}: ${x}×${y}×${z} workgroups, at most ${MAX_WORKGROUPS} a dimension are allowed; ` +
        "use smaller batches or a smaller model",
    );
  }
  if (!gpu.adapter.isSoftware) return;
  const iterations = iterationsOf(kernel, launch);
  if (!(iterations <= MAX_ITERATIONS)) {
    throw new UserError(
      `Cannot dispatch ${name}: one invocation would run ${iterations} loop iterations, but a software adapter ends loops ` +
        `silently after 65535, so that at most ${MAX_ITERATIONS} are allowed; use shorter episodes, smaller batches, or a ` +
        "smaller model",
    );
  }
}

function resourceOf(
  kernel: Kernel,
  name: string,
  bound: Tensor | Operand | undefined,
): GPUBindingResource {
  if (!bound) throw new TypeError(`Cannot bind ${kernel.spec.name}: ${name} is missing`);
  if ("texture" in bound && bound.texture) return bound.texture.createView();
  const tensor = "texture" in bound ? bound.tensor : bound;
  if (!tensor) throw new TypeError(`Cannot bind ${kernel.spec.name}: ${name} has no memory`);
  return { buffer: tensor.buffer, offset: tensor.offsetBytes, size: tensor.sizeBytes };
}

/** A range to read back after a submit. */
export interface ReadRequest {
  /** Where to read. */
  readonly tensor: Tensor;
  /** How much, a multiple of 4; 0 reads nothing. */
  readonly sizeBytes: number;
  /** From the start of the tensor; a multiple of 4 (default 0). */
  readonly offsetBytes?: number;
}

/** Records work for one device and submits it. Make one per `Gpu` and keep it: it owns the uniform memory. */
export class Commands {
  /** The device that it records for. */
  readonly gpu: Gpu;
  readonly #uniforms: GPUBuffer;
  readonly #blocks = new DataView(new ArrayBuffer(UNIFORM_SLOTS * UNIFORM_STRIDE_BYTES));
  #usedSlots = 0;
  #encoder: GPUCommandEncoder | undefined;
  #pass: GPUComputePassEncoder | undefined;

  /** Allocates 1 MiB of uniform memory. */
  constructor(gpu: Gpu) {
    this.gpu = gpu;
    this.#uniforms = gpu.device.createBuffer({
      label: "uniforms",
      size: UNIFORM_SLOTS * UNIFORM_STRIDE_BYTES,
      usage: GPUBufferUsage.UNIFORM | GPUBufferUsage.COPY_DST,
    });
  }

  /** An empty plan whose dispatches this command list can replay. */
  plan<Size>(): Plan<Size> {
    return new Plan<Size>(this.gpu, this.#uniforms);
  }

  /**
   * Writes host data to a tensor before everything that is not yet submitted: data that a recorded dispatch still needs
   * must be in another tensor.
   * @throws {RangeError} When the data is larger than the tensor.
   */
  write(
    tensor: Tensor,
    data: ArrayBufferView<ArrayBuffer>,
    offsetBytes = 0,
  ): void {
    if (offsetBytes + data.byteLength > tensor.sizeBytes) {
      throw new RangeError(
        `Cannot write ${data.byteLength} bytes at ${offsetBytes} of ${tensor.label}: it holds ${tensor.sizeBytes}`,
      );
    }
    this.gpu.device.queue.writeBuffer(tensor.buffer, tensor.offsetBytes + offsetBytes, data);
  }

  /**
   * Refuses a size that `replay` would refuse, before anything is recorded.
   * @throws {UserError} As `replay`.
   */
  check<Size>(plan: Plan<Size>, size: Size): void {
    for (const { kernel, launch } of plan.steps) checkLaunch(this.gpu, kernel, launch(size));
  }

  /**
   * Records every dispatch of a plan for a size.
   * @throws {UserError} When a dispatch exceeds 65,535 workgroups in a dimension, or a loop what a software adapter runs.
   */
  replay<Size>(plan: Plan<Size>, size: Size): void {
    if (this.#usedSlots + plan.steps.length > UNIFORM_SLOTS) this.submit();
    let pass = this.#openPass();
    for (const { kernel, bindGroup, launch } of plan.steps) {
      const launched = launch(size);
      const { params, workgroups: [x, y = 1, z = 1], times = 1 } = launched;
      if (times === 0 || x * y * z === 0) continue;
      checkLaunch(this.gpu, kernel, launched);
      if (this.#usedSlots === UNIFORM_SLOTS) { // A plan that is longer than the uniform memory.
        this.submit();
        pass = this.#openPass();
      }
      const offset = this.#usedSlots++ * UNIFORM_STRIDE_BYTES;
      packParams(kernel.spec, params, { view: this.#blocks, offset });
      pass.setPipeline(kernel.pipeline);
      pass.setBindGroup(0, bindGroup, [offset]);
      for (let i = 0; i < times; i++) pass.dispatchWorkgroups(x, y, z);
      this.gpu.counters.dispatches += times;
    }
  }

  /** Copies a range of one tensor to another. */
  copy(from: ReadRequest, to: Tensor, toOffsetBytes = 0): void {
    this.#openEncoder().copyBufferToBuffer(
      from.tensor.buffer,
      from.tensor.offsetBytes + (from.offsetBytes ?? 0),
      to.buffer,
      to.offsetBytes + toOffsetBytes,
      from.sizeBytes,
    );
  }

  /** Sets a tensor to zero. */
  clear(tensor: Tensor): void {
    this.#openEncoder().clearBuffer(tensor.buffer, tensor.offsetBytes, tensor.sizeBytes);
  }

  /** Brings a flat operand up to date with the tensor it copies; nothing to do in buffer memory. */
  refreshOperand(operand: Operand, from: Tensor): void {
    if (!operand.texture) return;
    const { width, height } = operand.texture;
    this.#openEncoder().copyBufferToTexture(
      {
        buffer: from.buffer,
        offset: from.offsetBytes,
        bytesPerRow: operand.textureRowBytes,
        rowsPerImage: height,
      },
      { texture: operand.texture },
      [width, height],
    );
  }

  /**
   * Records work in a pass of its own, with the device's time at its beginning and end.
   * @param timestamps Receives the two queries as u64; a buffer of its own with usage QUERY_RESOLVE.
   * @param record Replays plans; it must not submit or read, and a copy ends the pass.
   * @returns What `record` returned.
   */
  timedPass<T>(querySet: GPUQuerySet, timestamps: Tensor, record: () => T): T {
    this.#pass = this.#openEncoder().beginComputePass({
      timestampWrites: { querySet, beginningOfPassWriteIndex: 0, endOfPassWriteIndex: 1 },
    });
    const result = record();
    this.#openEncoder().resolveQuerySet(querySet, 0, 2, timestamps.buffer, timestamps.offsetBytes);
    return result;
  }

  /** Submits what was recorded; without any, does nothing. */
  submit(): void {
    const encoder = this.#encoder;
    if (!encoder) return;
    this.#pass?.end();
    this.#pass = undefined;
    this.#encoder = undefined;
    const { queue } = this.gpu.device;
    if (this.#usedSlots > 0) {
      queue.writeBuffer(
        this.#uniforms,
        0,
        this.#blocks.buffer,
        0,
        this.#usedSlots * UNIFORM_STRIDE_BYTES,
      );
    }
    this.#usedSlots = 0;
    queue.submit([encoder.finish()]);
    this.gpu.counters.submits++;
  }

  /**
   * Submits what was recorded and reads ranges back, all through one staging buffer.
   * @param whileRunning Work of the host, done between the submit and the wait for it; it must not submit or read.
   * @returns One ArrayBuffer per request, in their order.
   * @throws {DeviceLostError} When the device is gone; {Error} with the kernel's label when a command failed.
   */
  async read(
    requests: readonly ReadRequest[],
    whileRunning?: () => void,
  ): Promise<ArrayBuffer[]> {
    const total = requests.reduce((sum, request) => sum + request.sizeBytes, 0);
    if (total === 0) return requests.map(() => new ArrayBuffer(0));
    const staging = stagingFor(this.gpu, total);
    let offset = 0;
    for (const request of requests) {
      const encoder = this.#openEncoder();
      const start = request.tensor.offsetBytes + (request.offsetBytes ?? 0);
      if (request.sizeBytes > 0) {
        encoder.copyBufferToBuffer(
          request.tensor.buffer,
          start,
          staging.buffer,
          offset,
          request.sizeBytes,
        );
      }
      offset += request.sizeBytes;
    }
    this.submit();
    // Before the map: waiting for a primed buffer blocks the host.
    whileRunning?.();
    const bytes = await readStaging(this.gpu, staging, total);
    checkDevice(this.gpu);
    let from = 0;
    return requests.map(({ sizeBytes }) => bytes.slice(from, from += sizeBytes));
  }

  /** Frees the uniform memory; plans of these commands are then useless. Only for commands that a program outlives. */
  destroy(): void {
    this.submit();
    this.#uniforms.destroy();
  }

  #openEncoder(): GPUCommandEncoder {
    this.#pass?.end();
    this.#pass = undefined;
    this.#encoder ??= this.gpu.device.createCommandEncoder();
    return this.#encoder;
  }

  #openPass(): GPUComputePassEncoder {
    this.#encoder ??= this.gpu.device.createCommandEncoder();
    this.#pass ??= this.#encoder.beginComputePass();
    return this.#pass;
  }
}
