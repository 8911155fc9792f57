import type { FastifyReply } from "fastify";
import type { Dropped } from "./run-turn.ts";

/** Reports what was dropped in a header, for answers that have no field for it. */
export function tellDropped(reply: FastifyReply, dropped: Dropped): void {
  reply.header("x-truncated", `messages=${dropped.messages}, tokens=${dropped.tokens}`);
}
