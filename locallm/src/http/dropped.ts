import type { FastifyReply } from "fastify";
import type { Dropped } from "./run-turn.ts";

/** Reports dropped messages and tokens in a header, for answers without a field for them. */
export function tellDropped(reply: FastifyReply, dropped: Dropped): void {
  reply.header("x-truncated", `messages=${dropped.messages}, tokens=${dropped.tokens}`);
}
