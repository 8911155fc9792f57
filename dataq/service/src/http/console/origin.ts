import { Failure } from "@dataq/contract";
import type { FastifyRequest } from "fastify";

/**
 * Rejects what a page of another site could send with the visitor's cookie. The console's pages send a header that a form
 * cannot send, and that a script of another origin may only send if the service allows it, which it never does.
 */
export function assertOwnPage(request: FastifyRequest): void {
  const { origin, host } = request.headers;
  const site = request.headers["sec-fetch-site"];
  const isOwn =
    request.headers["x-console"] === "1" &&
    (site === undefined || site === "same-origin") &&
    (origin === undefined || originHost(origin) === host);
  if (!isOwn) throw new Failure("foreign_page");
}

function originHost(origin: string): string | undefined {
  return URL.canParse(origin) ? new URL(origin).host : undefined;
}
