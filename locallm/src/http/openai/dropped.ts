import type { FastifyReply } from "fastify";
import type { Dropped } from "../turn.ts";

/** OpenAI's shape has no place for it, and nothing is left out silently. */
export function tellDropped(reply: FastifyReply, dropped: Dropped): void {
  reply.header("x-truncated", `messages=${dropped.messages}, tokens=${dropped.tokens}`);
}
