// peak_read: the sum of what each invocation reads: the bytes a second that the adapter can stream from an operand
//   data_R4  [R, 4]  in   read once, R = C·loads
//   sum_C4   [C, 4]  out  the sum over an invocation's loads
// C invocations read `loads` vec4 each (a multiple of 4), `load_step` apart; neighbours begin `lane_step` apart. Steps
// (LANES, 1) let neighbours share a line of memory, as GPUs want; (1, loads) gives each invocation a run of its own.
// Sums of every fourth load ascend; then (0 + 1) + (2 + 3).
// Reference: tests/bench/peak_test.ts. Source: McCalpin's STREAM, reads alone.
struct Params { loads: u32, load_step: u32, lane_step: u32 }
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var data_R4: texture_storage_2d<rgba32float, read>;
@group(0) @binding(2) var<storage, read_write> sum_C4: array<vec4f>;

override LANES = 64u;

@compute @workgroup_size(LANES)
fn peak_read(
  @builtin(workgroup_id) group: vec3u,
  @builtin(local_invocation_index) lane: u32,
) {
  let step = params.load_step;
  var at = group.x * LANES * params.loads + lane * params.lane_step;
  var sum0 = vec4f();
  var sum1 = vec4f();
  var sum2 = vec4f();
  var sum3 = vec4f();
  for (var k = 0u; k < params.loads; k += 4u) {
    sum0 += textureLoad(data_R4, operand_flat(at));
    sum1 += textureLoad(data_R4, operand_flat(at + step));
    sum2 += textureLoad(data_R4, operand_flat(at + 2u * step));
    sum3 += textureLoad(data_R4, operand_flat(at + 3u * step));
    at += 4u * step;
  }
  sum_C4[group.x * LANES + lane] = (sum0 + sum1) + (sum2 + sum3);
}
