import type { FastifyInstance } from "fastify";
import type { Parts } from "../parts.ts";
import { chatCompletionsRoute } from "./chat-completions.ts";
import { completionsRoute } from "./completions.ts";
import { embeddingsRoute } from "./embeddings.ts";
import { modelRoutes } from "./models.ts";
import { responsesRoute } from "./responses.ts";
import { storedResponsesRoutes } from "./stored-responses.ts";

/** All routes under `/v1`. */
export function openAiRoutes(app: FastifyInstance, parts: Parts): void {
  chatCompletionsRoute(app, parts);
  completionsRoute(app, parts);
  embeddingsRoute(app, parts);
  modelRoutes(app, parts);
  responsesRoute(app, parts);
  storedResponsesRoutes(app, parts);
}
