// rollout_advance: samples one token per slot from its logits and advances the slot (the layered decoder's last step)
//   logits_SV   [S, V]      in      before the temperature
//   slots       [S]         in out  see slots.wgsl, as are gym, episodes, queue and records
//   token_S4    [S, 4]      out     (id, position, 0, 0) of the token that each slot consumes next
// One invocation owns one slot; vocabulary entries ascend, in the segments of logprob_forward.
// Reference: src/reference/sample.ts. Source: inverse of the cumulative distribution (Devroye 1986, chapter III.2).
// start 1 only starts empty slots, before the first token.
struct Params {
  slot_count: u32, vocab_size: u32, start: u32, episode_count: u32, max_positions: u32, inverse_temperature: f32,
  key0: u32, key1: u32, resident: u32, max_turns: u32, call_end: u32, max_call_tokens: u32, row_words: u32,
  prompt_row: u32, call_row: u32, call_count: u32, transition_offset: u32, start_offset: u32,
}
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> logits_SV: array<f32>;
@group(0) @binding(2) var<storage, read_write> slots: array<Slot>;
@group(0) @binding(3) var<storage, read_write> token_S4: array<vec4u>;
@group(0) @binding(4) var<storage, read> gym: array<u32>;
@group(0) @binding(5) var<storage, read> episodes: array<vec2u>;
@group(0) @binding(6) var<storage, read_write> queue: array<atomic<u32>>;
@group(0) @binding(7) var<storage, read_write> records: array<vec2u>;

override LANES: u32 = 8;
var<private> logits_at: u32;

fn load_logit(v: u32) -> f32 { return logits_SV[logits_at + v] * params.inverse_temperature; }

@compute @workgroup_size(LANES)
fn rollout_advance(@builtin(global_invocation_id) id: vec3u) {
  let s = id.x;
  if (s >= params.slot_count) { return; }
  var slot = slots[s];
  if (params.start == 1u) {
    if (slot.status == SLOT_EMPTY) { slot = start_episode(slot); }
  } else if (slot.status == SLOT_RUNNING) {
    var sample = Sample(0u, 0.0);
    if (!has_forced_token(slot)) {
      logits_at = s * params.vocab_size;
      let word = threefry(vec2u(params.key0, params.key1), vec2u(episodes[slot.episode].y, slot.position + 1u)).x;
      sample = sample_token(params.vocab_size, uniform_of(word));
    }
    slot = advance_slot(slot, sample.token, sample.logp);
  }
  slots[s] = slot;
  // A slot that waits shows the token it has yet to consume: whatever is computed for it is computed again later.
  token_S4[s] = vec4u(slot.token, slot.position, 0u, 0u);
}
