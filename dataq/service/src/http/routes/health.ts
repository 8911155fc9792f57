import type { FastifyInstance } from "fastify";
import type { SearchIndex } from "../../search/search-index.ts";
import type { HttpParts } from "../parts.ts";

/** For monitoring: the process runs; it can serve. */
export function addHealthRoutes(
  app: FastifyInstance,
  parts: HttpParts & { readonly index: Pick<SearchIndex, "health"> },
): void {
  app.get("/healthz", async () => ({ status: "ok" }));

  app.get("/readyz", async () => {
    await parts.database.pool.query("select 1");
    const { trouble } = await parts.index.health();
    return { status: "ready", search: trouble === null ? "up" : "down" };
  });
}
