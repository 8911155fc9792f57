import type { FastifyInstance } from "fastify";
import type { Parts } from "../parts.ts";
import { countTokensRoute } from "./count-tokens.ts";
import { messagesRoute } from "./messages.ts";

/** Anthropic's routes. `/v1/models` answers in the client's format: see `http/openai/models.ts`. */
export function anthropicRoutes(app: FastifyInstance, parts: Parts): void {
  messagesRoute(app, parts);
  countTokensRoute(app, parts);
}
