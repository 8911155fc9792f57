import { parallelStreams } from "../testing/speed/parallel-streams.ts";

/** The servers run with 16 slots. */
export const figure = parallelStreams(16, "Sixteen streams, total");
