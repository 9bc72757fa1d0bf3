// sum_of_parts: the one order in which four partial sums are added.
fn sum_of_parts(v: vec4f) -> f32 {
  return (v.x + v.y) + (v.z + v.w);
}
