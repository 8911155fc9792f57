import { parallelStreams } from "../testing/speed/parallel-streams.ts";

/** The servers run with 64 slots. */
export const figure = parallelStreams(64, "Sixty-four streams, total");
