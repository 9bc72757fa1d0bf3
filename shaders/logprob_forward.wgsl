// logprob_forward: over one segment of 2,048 vocabulary entries, z_v = (h·W_v + b_v)/temperature, in one pass:
// maximum m, Σ exp(z − m), Σ (z − m)·exp(z − m), and h·W_v + b_v of the chosen token. The logits are never stored.
//   h_ND        [N, D]      in   hidden states after the last layernorm
//   w           [W]         in   all parameters; head [V, D] at vec4 weight_offset4, its bias [V] right behind it
//   target_N    [N]         in   the chosen token of each row
//   segments    [S, N, 4]   out  (m, sum, moment, chosen logit or -1e30), merged by logprob_merge
// One invocation owns a block of rows and a segment; entries ascend. The length of a segment decides the bits.
// A dispatch adds entries first_entry..first_entry + entry_count − 1 of each segment to what those before it left.
// Reference: src/reference/logprob.ts. Source: Milakov and Gimelshein 2018.
struct Params {
  row_count: u32, width4: u32, vocab_size: u32, weight_offset4: u32,
  inverse_temperature: f32, first_entry: u32, entry_count: u32,
}
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var h_ND: texture_storage_2d<rgba32float, read>;
@group(0) @binding(2) var w: texture_storage_2d<rgba32float, read>;
@group(0) @binding(3) var<storage, read> target_N: array<u32>;
@group(0) @binding(4) var<storage, read_write> segments: array<vec4f>;

override LANES: u32 = 16;
var<private> softmax: array<OnlineSoftmax, BLOCK_ROWS>;
var<private> chosen: array<f32, BLOCK_ROWS>;
var<private> targets: array<u32, BLOCK_ROWS>;
var<private> column0: u32;
var<private> bias: array<vec4f, BLOCK_COLUMNS4>;
var<private> row0: u32;

fn load_x(at: vec2u) -> vec4f { return textureLoad(h_ND, at); }
fn load_w(at: vec2u) -> vec4f { return textureLoad(w, at); }

// Written without a branch: one for each of a block's entries made this kernel the slowest to compile.
fn take_logit(r: u32, entry: u32, product: f32, bias_entry: f32) {
  let is_entry = entry < params.vocab_size;
  let logit = product + bias_entry;
  let held = softmax[r];
  let added = add_logit(held, logit, params.inverse_temperature);
  softmax[r].maximum = select(held.maximum, added.maximum, is_entry);
  softmax[r].sum = select(held.sum, added.sum, is_entry);
  softmax[r].moment = select(held.moment, added.moment, is_entry);
  chosen[r] = select(chosen[r], logit, is_entry && entry == targets[r]);
}

fn store_vec4(n: u32, c: u32, sum: vec4f) {
  let r = n - row0;
  let entry = column0 + 4u * c;
  take_logit(r, entry, sum.x, bias[c].x);
  take_logit(r, entry + 1u, sum.y, bias[c].y);
  take_logit(r, entry + 2u, sum.z, bias[c].z);
  take_logit(r, entry + 3u, sum.w, bias[c].w);
}

// What the dispatches before this one made of the row's segment; beyond row_count the last row repeats.
fn resume_row(r: u32, segment: u32) {
  let held = segments[segment * params.row_count + min(row0 + r, params.row_count - 1u)];
  softmax[r] = OnlineSoftmax(held.x, held.y, held.z);
  chosen[r] = held.w;
}

@compute @workgroup_size(LANES)
fn logprob_forward(@builtin(global_invocation_id) id: vec3u) {
  row0 = BLOCK_ROWS * id.x;
  if (row0 >= params.row_count) { return; }
  set_rows(row0, params.row_count, params.width4);
  for (var r = 0u; r < BLOCK_ROWS; r++) { // unrolled
    softmax[r] = empty_softmax();
    chosen[r] = -1e30;
    if (params.first_entry > 0u) { resume_row(r, id.y); }
    targets[r] = target_N[min(row0 + r, params.row_count - 1u)];
  }
  let bias_offset4 = params.weight_offset4 + params.vocab_size * params.width4;
  let start = id.y * SEGMENT + params.first_entry;
  let end = min(min(start + params.entry_count, (id.y + 1u) * SEGMENT), params.vocab_size);
  for (column0 = start; column0 < end; column0 += BLOCK_COLUMNS) {
    set_columns(column0, params.vocab_size, params.weight_offset4, params.width4);
    for (var c = 0u; c < BLOCK_COLUMNS4; c++) { // unrolled
      bias[c] = textureLoad(w, operand_flat(bias_offset4 + column0 / 4u + c));
    }
    clear_block();
    accumulate_rows(params.width4);
    store_block(row0, params.row_count);
  }
  for (var r = 0u; r < BLOCK_ROWS; r++) { // unrolled
    if (row0 + r < params.row_count) {
      segments[id.y * params.row_count + row0 + r] =
        vec4f(softmax[r].maximum, softmax[r].sum, softmax[r].moment, chosen[r]);
    }
  }
}
