// self_test: arithmetic whose results are known, so that an adapter that computes wrongly is refused at start
//   numbers_32   [32]      in   inputs of products and softmax
//   probe_12     [12]      in   inputs of the probes (src/gpu/arithmetic.ts)
//   table_64     [64, 4]   in   what the dispatch before wrote
//   copy_64      [64, 4]   out  what the next dispatch reads
//   result_64x16 [64, 16]  out  bits: exp(0), x − x, fma, softmax, log-sum-exp, hash, table, loop, then 8 probes of
//                               what the compiler makes of products and sums, which may differ and are reported
// 64 invocations do the same on their own numbers; sums ascend. Inputs come from parameters, so that nothing is folded.
// Reference: src/gpu/self_test.ts computes the same in float64. Source: the assumptions that the other kernels make.
struct Params { zero: f32, factor: f32, loop_count: u32 }
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> numbers_32: array<f32>;
@group(0) @binding(2) var<storage, read> probe_12: array<f32>;
@group(0) @binding(3) var table_64: texture_storage_2d<rgba32float, read>;
@group(0) @binding(4) var copy_64: texture_storage_2d<rgba32float, write>;
@group(0) @binding(5) var<storage, read_write> result_64x16: array<u32>;

const LOGITS = 8u;

fn logit(i: u32, j: u32) -> f32 {
  var sum = 0.0;
  for (var k = 0u; k < 4u; k++) {
    sum = fma(numbers_32[4u * j + k], numbers_32[(i + k) % 32u], sum);
  }
  return sum;
}

// (probability of logit 0, log-sum-exp)
fn softmax(i: u32) -> vec2f {
  var maximum = logit(i, 0u);
  for (var j = 1u; j < LOGITS; j++) {
    maximum = max(maximum, logit(i, j));
  }
  var sum = 0.0;
  for (var j = 0u; j < LOGITS; j++) {
    sum += exp(logit(i, j) - maximum);
  }
  return vec2f(exp(logit(i, 0u) - maximum) / sum, maximum + log(sum));
}

// The finalizer of MurmurHash3.
fn hash(i: u32) -> u32 {
  var h = i * 0x9e3779b1u;
  h = (h ^ (h >> 16u)) * 0x85ebca6bu;
  h = (h ^ (h >> 13u)) * 0xc2b2ae35u;
  return h ^ (h >> 16u);
}

// A linear congruential generator after loop_count steps: a loop that is cut short ends elsewhere.
fn looped(i: u32) -> u32 {
  var state = i;
  for (var step = 0u; step < params.loop_count; step++) {
    state = state * 1664525u + 1013904223u;
  }
  return state;
}

// What a + b loses by rounding; where sums are reassociated, 0.
fn two_sum_loss(a: f32, b: f32) -> f32 {
  let sum = a + b;
  let b_kept = sum - a;
  return (a - (sum - b_kept)) + (b - b_kept);
}

// 0 where x is rounded before it is subtracted: the maximum is x, which no compiler can know.
fn own_difference(x: f32) -> f32 {
  return x - max(x, probe_12[11]);
}

// Products and sums without the fma that kernels write: the one text that a compiler may contract.
fn probe_arithmetic(i: u32, at: u32) {
  let a = probe_12[0];
  let b = probe_12[1];
  let x = f32(i) + 3.0;
  result_64x16[at] = bitcast<u32>(a * b + probe_12[2]);
  result_64x16[at + 1u] = bitcast<u32>(fma(a, b, probe_12[2]));
  result_64x16[at + 2u] = bitcast<u32>(own_difference(a * b));
  result_64x16[at + 3u] = bitcast<u32>(fma(a, b, -(a * b)));
  result_64x16[at + 4u] = bitcast<u32>((probe_12[3] + probe_12[4]) + (probe_12[5] + probe_12[6]));
  result_64x16[at + 5u] = bitcast<u32>(two_sum_loss(probe_12[7], probe_12[8]));
  result_64x16[at + 6u] = bitcast<u32>(probe_12[7] + (probe_12[9] + probe_12[10]));
  let hidden = abs(own_difference(numbers_32[i % 32u] / x)) + abs(own_difference(log(x)));
  result_64x16[at + 7u] = bitcast<u32>(hidden);
}

@compute @workgroup_size(64)
fn self_test(@builtin(global_invocation_id) id: vec3u) {
  let i = id.x;
  let x = numbers_32[i % 32u];
  let probability = softmax(i);
  textureStore(copy_64, operand_row(i, 1u), vec4f(f32(i), x, -x, params.factor * f32(i)));
  let read = textureLoad(table_64, operand_row(63u - i, 1u));
  let at = 16u * i;
  result_64x16[at] = bitcast<u32>(exp(params.zero * f32(i)));
  result_64x16[at + 1u] = bitcast<u32>(x - numbers_32[(i + 32u) % 32u]);
  result_64x16[at + 2u] = bitcast<u32>(fma(params.factor + f32(i), params.factor - f32(i), f32(i * i)));
  result_64x16[at + 3u] = bitcast<u32>(probability.x);
  result_64x16[at + 4u] = bitcast<u32>(probability.y);
  result_64x16[at + 5u] = hash(i);
  result_64x16[at + 6u] = bitcast<u32>(read.x + (read.y + read.z) + read.w);
  result_64x16[at + 7u] = looped(i);
  probe_arithmetic(i, at + 8u);
}
