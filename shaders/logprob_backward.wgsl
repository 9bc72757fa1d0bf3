// logprob_backward: dz_v = (dlogp·(1[v = target] − p_v) − dentropy·p_v·(log p_v + H))/temperature, for a range of v
//   h_ND        [N, D]   in   hidden states after the last layernorm
//   w           [W]      in   all parameters; head [V, D] at vec4 weight_offset4, its bias [V] right behind it
//   target_N    [N]      in   the chosen token of each row
//   result_N4   [N, 4]   in   (log-prob, entropy, lse, 0) of logprob_merge
//   dresult_N2  [N, 2]   in   gradients of log-prob and entropy
//   dz_NC       [N, C]   out  for entries first_entry..first_entry + C − 1; zeros beyond the vocabulary
// One invocation owns a block of rows × entries and recomputes their logits: of [N, V] only a tile [N, C] is stored.
// Reference: src/reference/logprob.ts. Source: the chain rule on log-softmax and on its entropy.
struct Params {
  row_count: u32, width4: u32, vocab_size: u32, weight_offset4: u32,
  inverse_temperature: f32, first_entry: u32, tile_width4: u32,
}
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var h_ND: texture_storage_2d<rgba32float, read>;
@group(0) @binding(2) var w: texture_storage_2d<rgba32float, read>;
@group(0) @binding(3) var<storage, read> target_N: array<u32>;
@group(0) @binding(4) var<storage, read> result_N4: array<vec4f>;
@group(0) @binding(5) var<storage, read> dresult_N2: array<vec2f>;
@group(0) @binding(6) var dz_NC: texture_storage_2d<rgba32float, write>;

override LANES: u32 = 16;
var<private> column4: u32;

fn load_x(at: vec2u) -> vec4f { return textureLoad(h_ND, at); }
fn load_w(at: vec2u) -> vec4f { return textureLoad(w, at); }

fn entry_gradient(n: u32, entry: u32, product: vec4f) -> vec4f {
  let bias_at = params.weight_offset4 + params.vocab_size * params.width4 + entry / 4u;
  let logit = product + textureLoad(w, operand_flat(bias_at));
  let result = result_N4[n];
  let log_p = fma(logit, vec4f(params.inverse_temperature), vec4f(-result.z));
  let entries = vec4u(entry, entry + 1u, entry + 2u, entry + 3u);
  let is_target = select(vec4f(0.0), vec4f(1.0), entries == vec4u(target_N[n]));
  let dz = logit_gradient(log_p, is_target, result, dresult_N2[n]);
  return select(vec4f(0.0), dz * params.inverse_temperature, entries < vec4u(params.vocab_size));
}

fn store_vec4(n: u32, c: u32, sum: vec4f) {
  let at = operand_row(n, params.tile_width4) + vec2u(column4 + c, 0u);
  textureStore(dz_NC, at, entry_gradient(n, params.first_entry + 4u * (column4 + c), sum));
}

@compute @workgroup_size(LANES)
fn logprob_backward(@builtin(global_invocation_id) id: vec3u) {
  let row0 = BLOCK_ROWS * id.x;
  column4 = BLOCK_COLUMNS4 * id.y;
  if (row0 >= params.row_count) { return; }
  set_rows(row0, params.row_count, params.width4);
  set_columns(params.first_entry + 4u * column4, params.vocab_size, params.weight_offset4, params.width4);
  clear_block();
  accumulate_rows(params.width4);
  store_block(row0, params.row_count);
}
