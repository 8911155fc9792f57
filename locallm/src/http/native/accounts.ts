import type { FastifyInstance } from "fastify";
import { LocallmError } from "../../wire/errors.ts";

const signing =
  "this server needs none: models are here without signing in. To limit who may use it, make API keys with locallm keys create; for a registry that requires credentials, use the file that LOCALLM_CREDENTIALS names";
const searching =
  "the search runs at ollama.com, and this server never asks it: give the model a tool of your own that searches";

/** What Ollama's programs ask ollama.com for through their server: who is signed in, and searches of its account. */
const calls: readonly [methods: ("GET" | "POST" | "DELETE")[], path: string, instead: string][] = [
  [["GET", "POST"], "/api/me", signing],
  [["GET", "POST"], "/api/signin", signing],
  [["GET", "POST"], "/api/signout", signing],
  [["DELETE"], "/api/user/keys/:key", signing],
  [["POST"], "/api/experimental/web_search", searching],
  [["POST"], "/api/experimental/web_fetch", searching],
];

/** Answers the calls that need an account with what to do instead. */
export function accountRoutes(app: FastifyInstance): void {
  for (const [method, url, instead] of calls)
    app.route({
      ...{ method, url },
      handler: async () => {
        throw new LocallmError("no_accounts", { instead });
      },
    });
}
