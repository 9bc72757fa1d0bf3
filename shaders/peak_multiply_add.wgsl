// peak_multiply_add: x ← fma(factor, x, addend), 4·loop_count times: the multiply-adds a second that the adapter can do
//   end_C4  [C, 4]  out  the sum of an invocation's three chains at their end
// C invocations, each with three independent chains of vec4: enough for the latency of the units and few enough for the
// 16 registers of a CPU that plays the GPU. Nothing but registers is touched inside the loop.
// A chain's order is its recurrence; the three ends are added ascending.
// Reference: tests/bench/peak_test.ts has the closed form. Source: Williams et al. 2009, "Roofline".
struct Params { factor: f32, addend: f32, loop_count: u32 }
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read_write> end_C4: array<vec4f>;

override LANES = 64u;

@compute @workgroup_size(LANES)
fn peak_multiply_add(@builtin(global_invocation_id) id: vec3u) {
  let factor = vec4f(params.factor);
  let addend = vec4f(params.addend);
  var x = vec4f(f32(id.x));
  var y = x + 1.0;
  var z = x + 2.0;
  for (var k = 0u; k < params.loop_count; k++) {
    x = fma(factor, x, addend);
    y = fma(factor, y, addend);
    z = fma(factor, z, addend);
    x = fma(factor, x, addend);
    y = fma(factor, y, addend);
    z = fma(factor, z, addend);
    x = fma(factor, x, addend);
    y = fma(factor, y, addend);
    z = fma(factor, z, addend);
    x = fma(factor, x, addend);
    y = fma(factor, y, addend);
    z = fma(factor, z, addend);
  }
  end_C4[id.x] = (x + y) + z;
}
