// stored_logprob_forward: over segments of 2,048 entries of a slice of the head, z_v = (h·W_v)/temperature, in one
// pass: maximum m, Σ exp(z − m), Σ (z − m)·exp(z − m), and h·W_v of the chosen token. The logits are never stored.
//   h_ND        [N, D]      in   hidden states after the last norm
//   w           texels      in   the slice: entries slice_entry and on, from texel0 (see stored_weights.wgsl)
//   target_N    [N]         in   the chosen token of each row
//   segments    [S, N, 4]   out  (m, sum, moment, chosen logit or -1e30), merged by logprob_merge
// One invocation owns a block of rows and a segment; entries ascend. A slice begins with a whole segment.
// A dispatch adds entries first_entry..first_entry + entry_count − 1 of each segment to what those before it left.
// Reference: src/reference/stored_weights.ts. Source: Milakov and Gimelshein 2018.
struct Params {
  row_count: u32, width8: u32, slice_entry: u32, slice_count: u32, texel0: u32,
  inverse_temperature: f32, first_entry: u32, entry_count: u32,
}
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var h_ND: texture_storage_2d<rgba32float, read>;
@group(0) @binding(2) var w: texture_storage_2d<rgba32uint, read>;
@group(0) @binding(3) var<storage, read> target_N: array<u32>;
@group(0) @binding(4) var<storage, read_write> segments: array<vec4f>;

override LANES: u32 = 32;
var<private> softmax: array<OnlineSoftmax, BLOCK_ROWS>;
var<private> chosen: array<f32, BLOCK_ROWS>;
var<private> targets: array<u32, BLOCK_ROWS>;
var<private> column0: u32;
var<private> row0: u32;

fn load_x(at: vec2u) -> vec4f { return textureLoad(h_ND, at); }
fn load_texel(at: vec2u) -> vec4u { return textureLoad(w, at); }

fn take_logit(r: u32, column: u32, logit: f32) {
  if (column < params.slice_count) {
    softmax[r] = add_logit(softmax[r], logit, params.inverse_temperature);
    chosen[r] = select(chosen[r], logit, params.slice_entry + column == targets[r]);
  }
}

fn store_vec4(n: u32, c: u32, sum: vec4f) {
  let r = n - row0;
  let column = column0 + 4u * c;
  take_logit(r, column, sum.x);
  take_logit(r, column + 1u, sum.y);
  take_logit(r, column + 2u, sum.z);
  take_logit(r, column + 3u, sum.w);
}

// What the dispatches before this one made of the row's segment; beyond row_count the last row repeats.
fn resume_row(r: u32, segment: u32) {
  let held = segments[segment * params.row_count + min(row0 + r, params.row_count - 1u)];
  softmax[r] = OnlineSoftmax(held.x, held.y, held.z);
  chosen[r] = held.w;
}

@compute @workgroup_size(LANES)
fn stored_logprob_forward(@builtin(global_invocation_id) id: vec3u) {
  row0 = BLOCK_ROWS * id.x;
  if (row0 >= params.row_count) { return; }
  let segment = params.slice_entry / SEGMENT + id.y;
  set_rows(row0, params.row_count, 2u * params.width8);
  for (var r = 0u; r < BLOCK_ROWS; r++) { // unrolled
    softmax[r] = empty_softmax();
    chosen[r] = -1e30;
    if (params.first_entry > 0u) { resume_row(r, segment); }
    targets[r] = target_N[min(row0 + r, params.row_count - 1u)];
  }
  let start = id.y * SEGMENT + params.first_entry;
  let end = min(min(start + params.entry_count, (id.y + 1u) * SEGMENT), params.slice_count);
  for (column0 = start; column0 < end; column0 += BLOCK_COLUMNS) {
    set_stored_columns(column0, params.slice_count, params.texel0, params.width8);
    clear_block();
    accumulate_stored(params.width8);
    store_block(row0, params.row_count);
  }
  for (var r = 0u; r < BLOCK_ROWS; r++) { // unrolled
    if (row0 + r < params.row_count) {
      segments[segment * params.row_count + row0 + r] =
        vec4f(softmax[r].maximum, softmax[r].sum, softmax[r].moment, chosen[r]);
    }
  }
}
