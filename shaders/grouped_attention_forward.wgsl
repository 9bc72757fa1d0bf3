// grouped_attention_forward: o[n] = Σ_j softmax_j(q[n]·k[j]·scale)·v[j] over cached tokens j ≤ n of the same sequence
//   q_NHK        [N, H, K]   in       queries
//   key_cache    [C, G·K]    in       keys: H/G query heads share one; value_cache likewise
//   token_N4     [N, 4]      in       (id, position, first, cache row): its keys are cache rows first..its own
//   state_NHK    [N, H, K]   in, out  Σ exp(s − m)·v over the segments before; sums_NH their m and Σ exp(s − m)
//   o_NHK        [N, H, K]   out      read by a product
// One invocation owns SHARED_HEADS heads of one group, of one token in one segment of 512 positions, counted from the
// sequence's begin: keys ascend in it, and a dispatch a segment merges it behind those before: no bit depends on how a
// sequence is cut. Loops over a head are written out, so that it lies in registers and a key is fetched once for all.
// Reference: src/reference/grouped_attention.ts. Source: Ainslie et al. 2023 (grouped queries), Dao et al. 2022.
struct Params { row_count: u32, head_count: u32, group_count: u32, segment: u32, scale: f32 }
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var q_NHK: texture_storage_2d<rgba32float, read>;
@group(0) @binding(2) var key_cache: texture_storage_2d<rgba32float, read>;
@group(0) @binding(3) var value_cache: texture_storage_2d<rgba32float, read>;
@group(0) @binding(4) var<storage, read> token_N4: array<vec4u>;
@group(0) @binding(5) var<storage, read_write> state_NHK: array<vec4f>;
@group(0) @binding(6) var<storage, read_write> sums_NH: array<vec2f>;
@group(0) @binding(7) var o_NHK: texture_storage_2d<rgba32float, write>;

override LANES: u32 = 32;
const KEY_SEGMENT = 512u;
// A head's vec4, and heads that one invocation owns.
const HEAD_WIDTH4 = 2u;
const SHARED_HEADS = 1u;
const SHARED_WIDTH4 = SHARED_HEADS * HEAD_WIDTH4;
var<private> query: array<vec4f, SHARED_WIDTH4>;
var<private> weighted: array<vec4f, SHARED_WIDTH4>;
var<private> maximum: array<f32, SHARED_HEADS>;
var<private> sum: array<f32, SHARED_HEADS>;
var<private> keep: array<f32, SHARED_HEADS>;
var<private> p: array<f32, SHARED_HEADS>;
// Each head's place among all heads of all tokens. Where a group has no further head its last one repeats.
var<private> head_at: array<u32, SHARED_HEADS>;

// Where a head begins in a row of queries or outputs.
fn row_of_head(h: u32, n: u32) -> vec2u {
  return operand_row(n, params.head_count * HEAD_WIDTH4) +
    vec2u((head_at[h] - n * params.head_count) * HEAD_WIDTH4, 0u);
}

fn begin_heads(n: u32) {
  for (var h = 0u; h < SHARED_HEADS; h++) { // unrolled
    maximum[h] = -1e30; // Finite, and so low that its weight is exactly 0.
    sum[h] = 0.0;
    let at = row_of_head(h, n);
    for (var c = 0u; c < HEAD_WIDTH4; c++) { // unrolled
      query[HEAD_WIDTH4 * h + c] = textureLoad(q_NHK, at + vec2u(c, 0u));
      weighted[HEAD_WIDTH4 * h + c] = vec4f(0.0);
    }
  }
}

// A key in front of which all others are seen; q·k in four partial sums.
fn attend(at: vec2u) {
  var parts: array<vec4f, SHARED_HEADS>;
  for (var h = 0u; h < SHARED_HEADS; h++) { // unrolled
    parts[h] = vec4f(0.0);
  }
  for (var c = 0u; c < HEAD_WIDTH4; c++) { // unrolled
    let key = textureLoad(key_cache, at + vec2u(c, 0u));
    for (var h = 0u; h < SHARED_HEADS; h++) { // unrolled
      parts[h] = fma(query[HEAD_WIDTH4 * h + c], key, parts[h]);
    }
  }
  for (var h = 0u; h < SHARED_HEADS; h++) { // unrolled
    let product = sum_of_parts(parts[h]);
    let higher = max(maximum[h], product * params.scale);
    keep[h] = exp(maximum[h] - higher);
    p[h] = exp(fma(product, params.scale, -higher));
    maximum[h] = higher;
    sum[h] = fma(sum[h], keep[h], p[h]);
  }
  for (var c = 0u; c < HEAD_WIDTH4; c++) { // unrolled
    let value = textureLoad(value_cache, at + vec2u(c, 0u));
    for (var h = 0u; h < SHARED_HEADS; h++) { // unrolled
      weighted[HEAD_WIDTH4 * h + c] = fma(vec4f(p[h]), value, weighted[HEAD_WIDTH4 * h + c] * keep[h]);
    }
  }
}

// Puts the segments before in front of this one.
fn merge_earlier() {
  for (var h = 0u; h < SHARED_HEADS; h++) { // unrolled
    let earlier = sums_NH[head_at[h]];
    let higher = max(earlier.x, maximum[h]);
    keep[h] = exp(earlier.x - higher);
    p[h] = exp(maximum[h] - higher);
    maximum[h] = higher;
    sum[h] = fma(earlier.y, keep[h], sum[h] * p[h]);
    for (var c = 0u; c < HEAD_WIDTH4; c++) { // unrolled
      weighted[HEAD_WIDTH4 * h + c] = fma(
        state_NHK[head_at[h] * HEAD_WIDTH4 + c], vec4f(keep[h]), weighted[HEAD_WIDTH4 * h + c] * p[h]
      );
    }
  }
}

// For the segments behind.
fn keep_state() {
  for (var h = 0u; h < SHARED_HEADS; h++) { // unrolled
    sums_NH[head_at[h]] = vec2f(maximum[h], sum[h]);
    for (var c = 0u; c < HEAD_WIDTH4; c++) { // unrolled
      state_NHK[head_at[h] * HEAD_WIDTH4 + c] = weighted[HEAD_WIDTH4 * h + c];
    }
  }
}

fn store_outputs(n: u32) {
  for (var h = 0u; h < SHARED_HEADS; h++) { // unrolled
    let weight = 1.0 / sum[h];
    let at = row_of_head(h, n);
    for (var c = 0u; c < HEAD_WIDTH4; c++) { // unrolled
      textureStore(o_NHK, at + vec2u(c, 0u), weighted[HEAD_WIDTH4 * h + c] * weight);
    }
  }
}

@compute @workgroup_size(LANES)
fn grouped_attention_forward(@builtin(global_invocation_id) id: vec3u) {
  let group_heads = params.head_count / params.group_count;
  let runs = (group_heads + SHARED_HEADS - 1u) / SHARED_HEADS;
  let i = grid_place(id, LANES);
  let n = i / (params.group_count * runs);
  let group = i / runs % params.group_count;
  if (n >= params.row_count) { return; }
  let token = token_N4[n];
  let last = token.y / KEY_SEGMENT;
  if (params.segment > last) { return; }
  for (var h = 0u; h < SHARED_HEADS; h++) { // unrolled
    let head = min(i % runs * SHARED_HEADS + h, group_heads - 1u);
    head_at[h] = n * params.head_count + group * group_heads + head;
  }
  begin_heads(n);
  let begin = token.z + params.segment * KEY_SEGMENT;
  let end = min(begin + KEY_SEGMENT, token.w + 1u);
  for (var j = begin; j < end; j++) {
    attend(operand_row(j, params.group_count * HEAD_WIDTH4) + vec2u(group * HEAD_WIDTH4, 0u));
  }
  if (params.segment > 0u) { merge_earlier(); }
  if (params.segment == last) {
    store_outputs(n);
  } else {
    keep_state();
  }
}
