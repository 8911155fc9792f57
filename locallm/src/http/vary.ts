import type { FastifyReply } from "fastify";

/** Adds request headers to `Vary`. Another part may have named some already. */
export function addVary(reply: FastifyReply, ...names: readonly string[]): FastifyReply {
  const before = reply.getHeader("vary");
  return reply.header("vary", [...(before === undefined ? [] : [String(before)]), ...names].join(", "));
}
