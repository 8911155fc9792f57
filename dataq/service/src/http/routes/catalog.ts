import { Failure, invalid } from "@dataq/contract";
import type { Sent, status } from "@dataq/contract/wire";
import type { FastifyInstance } from "fastify";
import type { Offer } from "../docs/offer.ts";

/** What the service offers, and the state of its data. All public: nothing here concerns an account. */
export function addCatalogRoutes(
  app: FastifyInstance,
  parts: { readonly offer: () => Promise<Offer>; readonly status: () => Promise<Sent<typeof status>> },
): void {
  const { offer } = parts;
  app.get<{ Querystring: { format?: unknown } }>("/v1/catalog", async (request) => {
    const { format } = request.query;
    if (format === undefined) return { data: (await offer()).entries() };
    if (format === "openai-tools") return (await offer()).tools();
    throw invalid(
      "format",
      "unknown",
      "format must be openai-tools",
      "send openai-tools, or omit it",
      "请使用 openai-tools，或去掉该参数",
    );
  });

  app.get<{ Params: { operation: string } }>("/v1/catalog/:operation", async (request) => {
    const name = request.params.operation.toLowerCase();
    const entry = (await offer()).entries().find(({ operation }) => operation === name);
    if (entry === undefined) throw new Failure("not_found", { what: "The operation" });
    return entry;
  });

  app.get("/capabilities.json", async () => (await offer()).capabilities());
  app.get("/openapi.json", async (_request, reply) =>
    reply.type("application/json").send((await offer()).openApi()),
  );
  app.get("/llms.txt", async (_request, reply) =>
    reply.type("text/plain; charset=utf-8").send((await offer()).llms()),
  );

  app.get("/v1/status", async () => ({ data: await parts.status() }));
}
