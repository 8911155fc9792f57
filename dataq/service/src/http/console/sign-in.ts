import { Failure } from "@dataq/contract";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { ADDRESS_HEADER, AUTH_PATH, INNER_ORIGIN } from "../../people/auth-names.ts";
import type { People } from "../../people/people.ts";
import { headersOf } from "../credentials.ts";
import { assertOwnPage } from "./origin.ts";

/** Sign-up, sign-in and all that belongs to them, passed on to better-auth. */
export function addSignInRoutes(app: FastifyInstance, people: People): void {
  app.route<{ Params: { "*": string } }>({
    method: ["GET", "POST"],
    url: `${AUTH_PATH}/*`,
    handler: async (request, reply) => {
      assertOwnPage(request);
      const auth = await people.auth();
      const answer = await auth.handler(innerRequest(request));
      await sendAnswer(request, reply, answer);
      return reply;
    },
  });
}

/** The request as better-auth may see it: one fixed origin, and the address as the socket told it. */
function innerRequest(request: FastifyRequest): Request {
  const headers = headersOf(request);
  headers.set(ADDRESS_HEADER, request.ip);
  headers.set("origin", INNER_ORIGIN);
  headers.delete("referer");
  headers.delete("host");
  headers.delete("content-length");
  const body = request.body as Buffer | undefined;
  return new Request(INNER_ORIGIN + request.url, {
    method: request.method,
    headers,
    ...(request.method !== "GET" && body && { body: new Uint8Array(body) }),
  });
}

async function sendAnswer(request: FastifyRequest, reply: FastifyReply, answer: Response): Promise<void> {
  if (answer.status === 429) {
    const waitS = Number(answer.headers.get("x-retry-after")) || 60;
    throw new Failure("rate_limited", { retry_after: waitS });
  }
  if (answer.status >= 500) throw new Failure("internal_error", {}, new Error(await answer.text()));
  const isSecure = request.headers["x-forwarded-proto"] === "https" || request.protocol === "https";
  for (const cookie of answer.headers.getSetCookie())
    reply.header("set-cookie", isSecure ? `${cookie}; Secure` : cookie);
  reply.code(answer.status).header("cache-control", "no-store");
  reply.type(answer.headers.get("content-type") ?? "application/json");
  reply.send(Buffer.from(await answer.arrayBuffer()));
}
