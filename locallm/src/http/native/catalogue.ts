import type { FastifyInstance } from "fastify";
import { catalogue, roughlyNeededBytes } from "../../sources/catalogue.ts";
import type { Parts } from "../parts.ts";

/**
 * `GET /api/catalogue`: models to begin with, and which of them fit this machine's memory. Ollama has no such route.
 * `needs` and `available` are bytes of memory; what idle models hold counts as available.
 */
export function catalogueRoute(app: FastifyInstance, parts: Parts): void {
  app.get("/api/catalogue", () => {
    const held = parts.scheduler.view().residents.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
    const available = parts.scheduler.loadableBytes() + held;
    return {
      memory: { available },
      models: catalogue.map((one) => {
        const needs = roughlyNeededBytes(one);
        return {
          name: one.name,
          pull: one.from,
          size: one.sizeBytes,
          parameter_size: one.parameters,
          context_length: one.contextLength,
          capabilities: one.capabilities,
          license: one.license,
          use: one.use,
          needs,
          fits: needs <= available,
        };
      }),
    };
  });
}
