import type { FastifyReply } from "fastify";
import type { Dropped } from "./run-turn.ts";

/** Nothing is left out silently, also where the answer itself has no place to say it. */
export function tellDropped(reply: FastifyReply, dropped: Dropped): void {
  reply.header("x-truncated", `messages=${dropped.messages}, tokens=${dropped.tokens}`);
}
