/** The safetensors format as bytes: named arrays of f32 or i32 behind a JSON header, parsed with no trust in the content. */
import { isRecord } from "../core/record.ts";
import { UserError } from "../core/errors.ts";
import { suggestName } from "../core/nearest.ts";

/** One array, outermost axis first; `data` holds the product of `shape` values. */
export type Tensor =
  | { readonly dtype: "F32"; readonly shape: readonly number[]; readonly data: Float32Array }
  | { readonly dtype: "I32"; readonly shape: readonly number[]; readonly data: Int32Array };

/** The content of a safetensors file. */
export interface TensorFile {
  /** The arrays by name, in the order of the file. */
  readonly tensors: ReadonlyMap<string, Tensor>;
  /** Free texts by name. */
  readonly metadata: Readonly<Record<string, string>>;
}

/** Both dtypes that this project reads whole, and writes, have this size. */
const VALUE_BYTES = 4;

/** What may stand in a file: dtypes and the bytes of their values. */
export type DtypeBytes = Readonly<Record<string, number>>;

const WHOLE_DTYPES: DtypeBytes = { F32: VALUE_BYTES, I32: VALUE_BYTES };

/** The header's length comes first, as a little-endian 64-bit integer. */
const LENGTH_BYTES = 8;

/** The bytes that say how long the header is, and the first of the header. */
export const SAFETENSORS_START_BYTES = LENGTH_BYTES + 1;

/** A header of 16 MiB describes some 200,000 tensors; a longer one is damage or an attack on the reader's memory. */
const MAX_HEADER_BYTES = 16 * 2 ** 20;

/** Describes a tensor before its data is looked at. */
export interface TensorEntry {
  readonly name: string;
  readonly dtype: string;
  readonly shape: readonly number[];
  /** Offsets into the data section, in bytes: where the tensor begins, and the first byte after it. */
  readonly begin: number;
  readonly end: number;
}

type Refuse = (reason: string) => UserError;

function refuser(fileName: string): Refuse {
  return (reason) => new UserError(`Cannot read ${fileName}: ${reason}`);
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}

/** A found value for an error sentence: short, on one line, and without a descent into nested lists. */
function show(value: unknown): string {
  const isNested = typeof value === "object" && value !== null &&
    !(Array.isArray(value) && value.every((item) => typeof item !== "object"));
  const text = isNested ? "of nested values" : JSON.stringify(value) ?? "missing";
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}

/**
 * Finds a key that one JSON object holds twice, which JSON.parse would pass over in silence. Texts are skipped whole, so
 * that braces and colons inside them do not count; only a text before a colon is a key.
 *
 * The patterns match a few characters at a time: one pattern for a whole text overflows the stack at some megabytes.
 */
function findDuplicateKey(json: string): string | undefined {
  const keysByDepth: Set<string>[] = [];
  const structure = /[{}"]/g;
  const escapeOrQuote = /\\.|"/g;
  const colon = /\s*:/y;
  for (let match = structure.exec(json); match !== null; match = structure.exec(json)) {
    if (match[0] === "{") keysByDepth.push(new Set());
    else if (match[0] === "}") keysByDepth.pop();
    else {
      escapeOrQuote.lastIndex = match.index + 1;
      while (escapeOrQuote.exec(json)?.[0] !== '"');
      structure.lastIndex = colon.lastIndex = escapeOrQuote.lastIndex;
      if (!colon.test(json)) continue;
      const name = String(JSON.parse(json.slice(match.index, escapeOrQuote.lastIndex)));
      const keys = keysByDepth.at(-1);
      if (keys?.has(name)) return name;
      keys?.add(name);
    }
  }
  return undefined;
}

/**
 * Where the header of a safetensors file ends, judged before any of it is parsed.
 *
 * @param start The first bytes of the file; {@linkcode SAFETENSORS_START_BYTES} of them are looked at.
 * @param options.fileName What error sentences call it.
 * @param options.sizeBytes Bytes of the whole file.
 * @returns The offset of the first byte behind the header.
 * @throws {UserError} When it is not a safetensors file, or its header is longer than the file or than 16 MiB.
 */
export function headerEnd(
  start: Uint8Array,
  { fileName, sizeBytes }: { readonly fileName: string; readonly sizeBytes: number },
): number {
  const refuse = refuser(fileName);
  if (sizeBytes < LENGTH_BYTES + 2 || start.length <= LENGTH_BYTES) {
    throw refuse(`it holds ${sizeBytes} bytes, too few for a safetensors file`);
  }
  const headerBytes = new DataView(start.buffer, start.byteOffset).getBigUint64(0, true);
  if (start[LENGTH_BYTES] !== "{".charCodeAt(0)) {
    throw refuse("it is not a safetensors file (no JSON header after 8 bytes)");
  }
  if (headerBytes > MAX_HEADER_BYTES) {
    throw refuse(`its header claims ${headerBytes} bytes; at most ${MAX_HEADER_BYTES} are allowed`);
  }
  const end = LENGTH_BYTES + Number(headerBytes);
  if (end > sizeBytes) {
    throw refuse(`it is truncated: its header needs ${end} bytes, the file holds ${sizeBytes}`);
  }
  return end;
}

function parseHeader(headerBytes: Uint8Array, refuse: Refuse): Readonly<Record<string, unknown>> {
  let header: unknown;
  let json: string;
  try {
    json = new TextDecoder("utf-8", { fatal: true }).decode(headerBytes);
    header = JSON.parse(json);
  } catch (error) {
    throw refuse(
      `its header is not valid JSON (${error instanceof Error ? error.message : error})`,
    );
  }
  if (!isRecord(header)) throw refuse("its header is not a JSON object");
  const duplicate = findDuplicateKey(json);
  if (duplicate !== undefined) throw refuse(`its header holds ${show(duplicate)} twice`);
  return header;
}

function parseMetadata(value: unknown, refuse: Refuse): Readonly<Record<string, string>> {
  if (value === undefined) return {};
  if (!isRecord(value) || Object.values(value).some((text) => typeof text !== "string")) {
    throw refuse("its __metadata__ must be an object of texts");
  }
  return value as Readonly<Record<string, string>>;
}

/** `BF16, F16 and F32`. */
function listDtypes(dtypes: DtypeBytes): string {
  const names = Object.keys(dtypes);
  return `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;
}

function parseEntry(
  name: string,
  value: unknown,
  { dtypes, refuse }: { readonly dtypes: DtypeBytes; readonly refuse: Refuse },
): TensorEntry {
  const label = `tensor ${show(name)}`;
  if (!isRecord(value)) throw refuse(`${label} is not described by an object`);
  const { dtype, shape, data_offsets: offsets } = value;
  const elementBytes = typeof dtype === "string" && Object.hasOwn(dtypes, dtype)
    ? dtypes[dtype]
    : undefined;
  if (typeof dtype !== "string" || elementBytes === undefined) {
    throw refuse(`${label} has dtype ${show(dtype)}; ${listDtypes(dtypes)} are allowed`);
  }
  if (!Array.isArray(shape) || !shape.every(isCount)) {
    throw refuse(`${label} has shape ${show(shape)}; integers of at least 0 are required`);
  }
  if (!Array.isArray(offsets) || offsets.length !== 2 || !offsets.every(isCount)) {
    throw refuse(`${label} has data_offsets ${show(offsets)}; two integers are required`);
  }
  const [begin, end] = offsets as [number, number];
  const sizeBytes = shape.reduce((product, size) => product * size, elementBytes);
  if (end - begin !== sizeBytes) {
    throw refuse(
      `${label} of shape [${
        show(shape).slice(1, -1)
      }] needs ${sizeBytes} bytes, its data_offsets span ${end - begin}`,
    );
  }
  return { name, dtype, shape, begin, end };
}

/** The format demands that the tensors cover the data section without overlap and without holes. */
function checkCoverage(entries: readonly TensorEntry[], dataBytes: number, refuse: Refuse): void {
  const sorted = [...entries].sort((a, b) => a.begin - b.begin || a.end - b.end);
  let covered = 0;
  for (const { name, begin, end } of sorted) {
    if (begin !== covered) {
      const what = begin < covered ? "overlaps another" : "leaves a hole before it";
      throw refuse(`tensor ${show(name)} ${what}: it begins at ${begin}, not at ${covered}`);
    }
    if (end > dataBytes) {
      throw refuse(
        `it is truncated: tensor ${show(name)} ends at byte ${end} of ${dataBytes} data bytes`,
      );
    }
    covered = end;
  }
  if (covered !== dataBytes) {
    throw refuse(`${dataBytes - covered} bytes after the last tensor belong to no tensor`);
  }
}

/** What the header says, held to the size of the file. */
interface Layout {
  readonly metadata: Readonly<Record<string, string>>;
  readonly entries: readonly TensorEntry[];
  /** Where the data begin, in bytes. */
  readonly dataStart: number;
}

/**
 * Parses the header of a safetensors file, so that one that cannot be right is refused before its data are read.
 *
 * @param start The file's first bytes, at least to the end of its header.
 * @param options.fileName What error sentences call it.
 * @param options.sizeBytes Bytes of the whole file.
 * @param options.dtypes What may stand in it (default F32 and I32).
 * @throws {UserError} As {@linkcode parseSafetensors}.
 */
export function parseLayout(
  start: Uint8Array,
  { fileName, sizeBytes, dtypes = WHOLE_DTYPES }: {
    readonly fileName: string;
    readonly sizeBytes: number;
    readonly dtypes?: DtypeBytes;
  },
): Layout {
  const refuse = refuser(fileName);
  const dataStart = headerEnd(start, { fileName, sizeBytes });
  const header = parseHeader(start.subarray(LENGTH_BYTES, dataStart), refuse);
  const metadata = parseMetadata(header.__metadata__, refuse);
  const entries = Object.entries(header)
    .filter(([name]) => name !== "__metadata__")
    .map(([name, value]) => parseEntry(name, value, { dtypes, refuse }));
  checkCoverage(entries, sizeBytes - dataStart, refuse);
  return { metadata, entries, dataStart };
}

/**
 * Parses a safetensors file. On hosts with little-endian numbers only (all that run WebGPU).
 *
 * @param bytes The whole file.
 * @param fileName What error sentences call it.
 * @returns The tensors as views of `bytes` where they lie at multiples of 4 bytes in its buffer, else as copies.
 * @throws {UserError} When the file is not a safetensors file, is truncated, has a header of more than 16 MiB, a name twice, another dtype
 * than F32 and I32, a shape that disagrees with the size, or offsets that overlap, leave holes or point outside.
 */
export function parseSafetensors(bytes: Uint8Array<ArrayBuffer>, fileName: string): TensorFile {
  const { metadata, entries, dataStart } = parseLayout(bytes, {
    fileName,
    sizeBytes: bytes.length,
  });
  const data = bytes.subarray(dataStart);
  const tensors = new Map<string, Tensor>();
  for (const { name, dtype, shape, begin, end } of entries) {
    const isAligned = (data.byteOffset + begin) % VALUE_BYTES === 0;
    const part = isAligned ? data.subarray(begin, end) : data.slice(begin, end);
    const range = [part.buffer, part.byteOffset, part.length / VALUE_BYTES] as const;
    tensors.set(
      name,
      dtype === "F32"
        ? { dtype, shape, data: new Float32Array(...range) }
        : { dtype: "I32", shape, data: new Int32Array(...range) },
    );
  }
  return { tensors, metadata };
}

/**
 * Serializes tensors as a safetensors file, in the order of the map. The same content gives the same bytes.
 *
 * @param file The tensors and free texts.
 * @returns The whole file; its data section begins at a multiple of 8 bytes.
 * @throws {RangeError} When a tensor's data does not fill its shape,
 * is called `__metadata__`, or the header would be longer than the reader allows.
 */
export function serializeSafetensors(
  { tensors, metadata }: TensorFile,
): Uint8Array<ArrayBuffer> {
  const header: [string, unknown][] = [];
  if (Object.keys(metadata).length > 0) header.push(["__metadata__", metadata]);
  let dataBytes = 0;
  for (const [name, { dtype, shape, data }] of tensors) {
    const valueCount = shape.reduce((product, size) => product * size, 1);
    if (name === "__metadata__") {
      throw new RangeError('Cannot serialize a tensor of the name "__metadata__": it is taken');
    }
    if (data.length !== valueCount) {
      throw new RangeError(
        `Cannot serialize tensor ${
          show(name)
        }: its shape [${shape}] needs ${valueCount} values, found ${data.length}`,
      );
    }
    const end = dataBytes + data.byteLength;
    header.push([name, { dtype, shape, data_offsets: [dataBytes, end] }]);
    dataBytes = end;
  }
  // Object.fromEntries would move names that look like integers to the front.
  const fields = header.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`);
  const json = new TextEncoder().encode(`{${fields.join(",")}}`);
  const headerBytes = Math.ceil(json.length / 8) * 8;
  if (headerBytes > MAX_HEADER_BYTES) {
    throw new RangeError(
      `Cannot serialize ${tensors.size} tensors: the header holds ${headerBytes} bytes, at most ${MAX_HEADER_BYTES} are allowed`,
    );
  }
  const bytes = new Uint8Array(LENGTH_BYTES + headerBytes + dataBytes);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(headerBytes), true);
  bytes.fill(" ".charCodeAt(0), LENGTH_BYTES, LENGTH_BYTES + headerBytes);
  bytes.set(json, LENGTH_BYTES);
  let offset = LENGTH_BYTES + headerBytes;
  for (const { data } of tensors.values()) {
    bytes.set(new Uint8Array(data.buffer, data.byteOffset, data.byteLength), offset);
    offset += data.byteLength;
  }
  return bytes;
}

/** What {@linkcode requireTensor} asks for. */
export interface TensorRequirement<Dtype extends Tensor["dtype"]> {
  /** The dtype. */
  readonly dtype: Dtype;
  /** The shape; a null stands for any size. */
  readonly shape: readonly (number | null)[];
  /** What error sentences call the file. */
  readonly fileName: string;
}

/**
 * Takes a tensor that must be there.
 *
 * @param file A parsed file.
 * @param name The tensor's name.
 * @returns The tensor.
 * @throws {UserError} When it is missing, or has another dtype or shape.
 */
export function requireTensor<Dtype extends Tensor["dtype"]>(
  file: TensorFile,
  name: string,
  { dtype, shape, fileName }: TensorRequirement<Dtype>,
): Extract<Tensor, { dtype: Dtype }> {
  const tensor = file.tensors.get(name);
  if (tensor === undefined) {
    const hint = suggestName(name, [...file.tensors.keys()].slice(0, 50));
    throw new UserError(`Cannot use ${fileName}: it holds no tensor "${name}"; ${hint}`);
  }
  const fits = tensor.shape.length === shape.length &&
    shape.every((size, axis) => size === null || size === tensor.shape[axis]);
  if (tensor.dtype !== dtype || !fits) {
    const wanted = shape.map((size) => size ?? "any").join(", ");
    throw new UserError(
      `Cannot use ${fileName}: tensor "${name}" is ${tensor.dtype} [${
        tensor.shape.join(", ")
      }], required is ${dtype} [${wanted}]`,
    );
  }
  return tensor as Extract<Tensor, { dtype: Dtype }>;
}
