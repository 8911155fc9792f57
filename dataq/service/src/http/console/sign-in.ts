import { Failure } from "@dataq/contract";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { writeAudit } from "../../accounts/audit.ts";
import { ADDRESS_HEADER, AUTH_PATH, INNER_ORIGIN } from "../../people/auth-names.ts";
import { authorOf } from "../caller.ts";
import { headersOf } from "../credentials.ts";
import type { HttpParts } from "../parts.ts";
import { assertOwnPage } from "./origin.ts";
import { assertMaySignUp, type SignUpSettings } from "./sign-up-limits.ts";

/** Forwards sign-up, sign-in and related requests to better-auth. */
export function addSignInRoutes(
  app: FastifyInstance,
  parts: Pick<HttpParts, "people" | "database" | "clock" | "limiter">,
  settings: SignUpSettings,
): void {
  app.route<{ Params: { "*": string } }>({
    method: ["GET", "POST"],
    url: `${AUTH_PATH}/*`,
    handler: async (request, reply) => {
      assertOwnPage(request);
      // Single sign-on goes through `sso.ts` only.
      if (/^(?:sign-in\/social|callback\/.*)$/.test(request.params["*"]))
        throw new Failure("no_such_route", { method: request.method, path: request.url.slice(0, 200) });
      if (request.params["*"] === "sign-up/email") await assertMaySignUp(parts, request, settings);
      const auth = await parts.people.auth();
      const answer = await auth.handler(innerRequest(request));
      if (doors.has(request.params["*"])) await noteSignIn(parts, request, answer);
      await sendAnswer(request, reply, await maskUnverified(answer));
      return reply;
    },
  });
}

/** The routes that start a session. */
const doors: ReadonlySet<string> = new Set([
  "sign-in/email",
  "two-factor/verify-totp",
  "two-factor/verify-backup-code",
  "local-link/enter",
]);

/**
 * The right password of an unverified address gets the same error as a wrong one. Otherwise somebody could sign up with
 * an address, sign in, and learn from the error whether the address was known before.
 */
async function maskUnverified(answer: Response): Promise<Response> {
  if (answer.status !== 403) return answer;
  const { code } = (await answer.clone().json()) as { code?: string };
  if (code !== "EMAIL_NOT_VERIFIED") return answer;
  return Response.json(wrongPassword, { status: 401 });
}

/** better-auth's own error. */
const wrongPassword = { message: "Invalid email or password", code: "INVALID_EMAIL_OR_PASSWORD" };

/**
 * Writes sign-ins to the audit log. For a failed sign-in, writes only the route, because the input may
 * contain a password.
 */
async function noteSignIn(
  { people, ...parts }: Pick<HttpParts, "people" | "database" | "clock">,
  request: FastifyRequest<{ Params: { "*": string } }>,
  answer: Response,
): Promise<void> {
  const by = request.params["*"];
  const author = authorOf(parts, request);
  if (answer.status === 401 || answer.status === 403) {
    await writeAudit(parts.database, author, "login.failure", by, null, null);
    return;
  }
  // Before the two-factor code is entered there is a cookie, but no session.
  const cookies = answer.headers.getSetCookie().map((cookie) => cookie.split(";", 1)[0]!);
  const cookie = cookies.findLast((one) => one.startsWith("dataq.session_token="));
  const found = cookie === undefined ? undefined : await people.find(new Headers({ cookie }));
  if (!found) return;
  const id = `user_${found.person.id}`;
  await writeAudit(parts.database, { ...author, actor: id }, "login.success", id, null, { by });
}

/** A request for better-auth, with a fixed origin and the address of the caller. */
export function innerRequest(
  request: FastifyRequest,
  url = request.url,
  body = request.body as Buffer | undefined,
): Request {
  const headers = headersOf(request);
  headers.set(ADDRESS_HEADER, request.ip);
  headers.set("origin", INNER_ORIGIN);
  headers.delete("referer");
  headers.delete("host");
  headers.delete("content-length");
  return new Request(INNER_ORIGIN + url, {
    method: request.method,
    headers,
    ...(request.method !== "GET" && body && { body: new Uint8Array(body) }),
  });
}

async function sendAnswer(request: FastifyRequest, reply: FastifyReply, answer: Response): Promise<void> {
  await passCookies(request, reply, answer);
  reply.code(answer.status);
  reply.type(answer.headers.get("content-type") ?? "application/json");
  reply.send(Buffer.from(await answer.arrayBuffer()));
}

/** Sends the cookies of an answer on. Throws if better-auth refuses to work or fails. */
export async function passCookies(
  request: FastifyRequest,
  reply: FastifyReply,
  answer: Response,
): Promise<void> {
  if (answer.status === 429) {
    const waitS = Number(answer.headers.get("x-retry-after")) || 60;
    throw new Failure("rate_limited", { retry_after: waitS });
  }
  if (answer.status >= 500) throw new Failure("internal_error", {}, new Error(await answer.text()));
  const isSecure = request.headers["x-forwarded-proto"] === "https" || request.protocol === "https";
  for (const cookie of answer.headers.getSetCookie())
    reply.header("set-cookie", isSecure ? `${cookie}; Secure` : cookie);
  reply.header("cache-control", "no-store");
}
