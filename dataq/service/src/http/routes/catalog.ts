import { Failure, invalid, operations } from "@dataq/contract";
import type { Sent, status } from "@dataq/contract/wire";
import type { FastifyInstance } from "fastify";
import type { VectorSchedule, VectorState } from "../../background/vectors/schedule.ts";
import { lastRuns } from "../../importer/runs.ts";
import { findTarget } from "../../operations/imports.ts";
import { corpusOf } from "../../operations/registry.ts";
import { sampleCorpus } from "../../operations/sample-corpora.ts";
import { sizeWithout } from "../../search/contents.ts";
import type { SearchIndex } from "../../search/search-index.ts";
import { answeredBy, type Offer } from "../docs/offer.ts";
import type { HttpParts } from "../parts.ts";

/** What the service offers, and the state of its data. All public: nothing here concerns an account. */
export function addCatalogRoutes(
  app: FastifyInstance,
  parts: Pick<HttpParts, "database" | "pipeline"> & {
    readonly index: SearchIndex;
    readonly vectors: Pick<VectorSchedule, "state"> | undefined;
    readonly offer: () => Promise<Offer>;
  },
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

  app.get("/v1/status", async () => ({ data: await statusOf(parts) }));
}

/** The data sets of generated records that fill up an operation's index. */
function generatedDatasets(operation: string): readonly string[] {
  const { fill } = findTarget(corpusOf(operation));
  return fill === undefined ? [] : [fill.dataset];
}

/** Every operation with the source of its answers, its index, if it has one, and what is being built. */
async function statusOf(
  parts: Pick<HttpParts, "database" | "pipeline"> & {
    readonly index: SearchIndex;
    readonly vectors: Pick<VectorSchedule, "state"> | undefined;
  },
): Promise<Sent<typeof status>> {
  const running = (await lastRuns(parts.database.reads.recent)).filter(({ state }) => state === "running");
  const now = Date.now();
  const stateOf = async (name: string) => {
    const corpus = corpusOf(name);
    const { data, coverage } = await answeredBy(parts, name);
    // The corpus that answers: the operation's own index, which generated records may fill up, or separate
    // samples.
    const own = data === "imported" || data === "sample" ? await parts.index.state(corpus) : undefined;
    const state = own ?? (data === "sample" ? await parts.index.state(sampleCorpus(corpus)) : undefined);
    const real =
      own === undefined ? 0 : sizeWithout(await parts.index.contents(corpus), generatedDatasets(name));
    const run = running.find(({ target }) => target === corpus);
    return {
      operation: name,
      data,
      newest_day: coverage?.newest_day ?? null,
      coverage,
      index: state ?? null,
      generated: (state?.size ?? 0) - real,
      building: run === undefined ? null : buildingOf(run.done, run.total),
      // A refresh that is a day overdue shows operators that the schedule is not running.
      vectors: vectorsOf(parts.vectors?.state(name)),
      overdue: state?.next_refresh_at ? Date.parse(state.next_refresh_at) + 86_400_000 < now : false,
    };
  };
  return { operations: await Promise.all(operations.map(({ name }) => stateOf(name))) };
}

/** Null if the operation is not searched by meaning, or has no records yet. */
function vectorsOf(state: VectorState | undefined) {
  if (state === undefined || (state.total === 0 && !state.isFailing)) return null;
  const { done, total, isFailing } = state;
  return { done, total, state: isFailing ? "failing" : done === total ? "ready" : "building" } as const;
}

function buildingOf(done: number, total: number | null) {
  const of = total === null ? "" : `/${total.toLocaleString("en")}`;
  return { done, total, text: `building ${done.toLocaleString("en")}${of}` };
}
