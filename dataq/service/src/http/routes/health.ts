import type { FastifyInstance } from "fastify";
import type { HttpParts } from "../parts.ts";

/** For monitoring: the process runs; it can serve. */
export function addHealthRoutes(app: FastifyInstance, parts: HttpParts): void {
  app.get("/healthz", async () => ({ status: "ok" }));

  app.get("/readyz", async () => {
    await parts.database.pool.query("select 1");
    return { status: "ready" };
  });
}
