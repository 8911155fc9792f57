import type { FastifyInstance } from "fastify";
import type { Parts } from "../parts.ts";
import { chatCompletionsRoute } from "./chat-completions.ts";
import { modelRoutes } from "./models.ts";

/** Everything below `/v1`, in OpenAI's shape. */
export function openAiRoutes(app: FastifyInstance, parts: Parts): void {
  chatCompletionsRoute(app, parts);
  modelRoutes(app, parts);
}
