import { parallelStreams } from "../testing/speed/parallel-streams.ts";

/** The servers run with four slots. */
export const figure = parallelStreams(4, "Four streams, total");
