// grouped_attention_forward: o[n] = Σ_j softmax_j(q[n]·k[j]·scale)·v[j] over cached tokens j ≤ n of the same sequence
//   q_NHK        [N, H, K]   in       queries
//   key_cache    [C, G, K]   in       keys: H/G query heads share one; value_cache likewise
//   token_N4     [N, 4]      in       (id, position, first, cache row): its keys are cache rows first..its own
//   state_NHK    [N, H, K]   in, out  Σ exp(s − m)·v over the segments before; sums_NH their m and Σ exp(s − m)
//   o_NHK        [N, H, K]   out      read by a product
// One invocation owns one head of one token in one segment of 512 positions, counted from the sequence's begin: keys
// ascend in it, and a dispatch a segment merges it behind those before: no bit depends on how a sequence is cut.
// Reference: src/reference/grouped_attention.ts. Source: Ainslie et al. 2023 (grouped queries), Dao et al. 2022.
struct Params { row_count: u32, head_count: u32, group_count: u32, width4: u32, segment: u32, scale: f32 }
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> q_NHK: array<vec4f>;
@group(0) @binding(2) var<storage, read> key_cache: array<vec4f>;
@group(0) @binding(3) var<storage, read> value_cache: array<vec4f>;
@group(0) @binding(4) var<storage, read> token_N4: array<vec4u>;
@group(0) @binding(5) var<storage, read_write> state_NHK: array<vec4f>;
@group(0) @binding(6) var<storage, read_write> sums_NH: array<vec2f>;
@group(0) @binding(7) var o_NHK: texture_storage_2d<rgba32float, write>;

override LANES: u32 = 32;
const KEY_SEGMENT = 512u;
var<private> query_at: u32;
var<private> group_at: u32;
var<private> output_at: vec2u;

// HEAD_WIDTH4, but unknown to the compiler, which would write out loops over wide heads and take a minute for it.
fn head_width4() -> u32 { return min(HEAD_WIDTH4, params.width4); }

fn load_query(c: u32) -> vec4f { return q_NHK[query_at + c]; }
fn load_key(j: u32, c: u32) -> vec4f { return key_cache[j * params.group_count * HEAD_WIDTH4 + group_at + c]; }
fn load_value(j: u32, c: u32) -> vec4f { return value_cache[j * params.group_count * HEAD_WIDTH4 + group_at + c]; }
fn store_output(c: u32, value: vec4f) { textureStore(o_NHK, output_at + vec2u(c, 0u), value); }

// Puts the segments before in front of this one.
fn merge_earlier(earlier: vec2f) {
  let maximum = max(earlier.x, score_maximum);
  let keep = exp(earlier.x - maximum);
  let add = exp(score_maximum - maximum);
  score_maximum = maximum;
  score_sum = fma(earlier.y, keep, score_sum * add);
  for (var c = 0u; c < head_width4(); c++) { // unrolled if HEAD_WIDTH4 == 4
    head_output[c] = fma(state_NHK[query_at + c], vec4f(keep), head_output[c] * add);
  }
}

@compute @workgroup_size(LANES)
fn grouped_attention_forward(@builtin(global_invocation_id) id: vec3u) {
  let i = grid_place(id, LANES);
  let n = i / params.head_count;
  let head = i % params.head_count;
  if (n >= params.row_count) { return; }
  let token = token_N4[n];
  let last = token.y / KEY_SEGMENT;
  if (params.segment > last) { return; }
  query_at = i * HEAD_WIDTH4;
  group_at = head / (params.head_count / params.group_count) * HEAD_WIDTH4;
  output_at = operand_row(n, params.head_count * HEAD_WIDTH4) + vec2u(head * HEAD_WIDTH4, 0u);
  begin_attention();
  let begin = token.z + params.segment * KEY_SEGMENT;
  let end = min(begin + KEY_SEGMENT, token.w + 1u);
  for (var j = begin; j < end; j++) {
    attend(j, params.scale);
  }
  if (params.segment > 0u) { merge_earlier(sums_NH[i]); }
  if (params.segment == last) {
    finish_attention();
  } else {
    sums_NH[i] = vec2f(score_maximum, score_sum);
    for (var c = 0u; c < head_width4(); c++) { // unrolled if HEAD_WIDTH4 == 4
      state_NHK[query_at + c] = head_output[c];
    }
  }
}
