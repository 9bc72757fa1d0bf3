// grid: the place of an invocation in a list that may take more workgroups than the 65,535 of one dimension:
// workgroups of `lanes` invocations lie in rows of GRID_GROUPS (`gridGroups` in src/kernels/operands.ts).
const GRID_GROUPS = 32768u;

fn grid_place(id: vec3u, lanes: u32) -> u32 {
  return id.y * GRID_GROUPS * lanes + id.x;
}
