/** Ids of the blocks of data in the page that its script reads. */
export const BLOCKS = {
  data: "live-data",
  faults: "live-faults",
  worker: "live-worker",
} as const;
