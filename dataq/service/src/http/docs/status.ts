import { operations } from "@dataq/contract";
import type { Sent, status } from "@dataq/contract/wire";
import type { VectorSchedule, VectorState } from "../../background/vectors/schedule.ts";
import { lastRuns } from "../../importer/runs.ts";
import { findTarget } from "../../operations/imports.ts";
import { corpusOf } from "../../operations/registry.ts";
import { sampleCorpus } from "../../operations/sample-corpora.ts";
import type { CallHealth } from "../../query/health.ts";
import { sizeWithout } from "../../search/contents.ts";
import type { SearchIndex } from "../../search/search-index.ts";
import type { HttpParts } from "../parts.ts";
import { windowBody } from "../routes/admin/maintenance.ts";
import { answeredBy } from "./offer.ts";

type StatusParts = Pick<HttpParts, "database" | "pipeline" | "maintenance"> & {
  readonly index: SearchIndex;
  readonly vectors: Pick<VectorSchedule, "state"> | undefined;
  readonly health: CallHealth;
};

/** The data sets of generated records that fill up an operation's index. */
function generatedDatasets(operation: string): readonly string[] {
  const { fill } = findTarget(corpusOf(operation));
  return fill === undefined ? [] : [fill.dataset];
}

/** Every operation with the source of its answers, its index, if it has one, and what is being built. */
export async function statusOf(parts: StatusParts): Promise<Sent<typeof status>> {
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
      ...(await healthOf(parts, name)),
      overdue: state?.next_refresh_at ? Date.parse(state.next_refresh_at) + 86_400_000 < now : false,
    };
  };
  return {
    maintenance: windowBody(await parts.maintenance.current()),
    operations: await Promise.all(operations.map(({ name }) => stateOf(name))),
  };
}

async function healthOf({ health }: StatusParts, operation: string) {
  const { state, answered } = await health.of(operation);
  return { health: state, answered };
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
