import { type ErrorCode, Failure, type Operation, operations, warning } from "@dataq/contract";
import type { Answer, Source, Sources } from "../src/sources/source.ts";

/**
 * A source that does what the query says, because no real one fails on demand. The first parameter is `<what>` or
 * `<what> <anything>`: found, short (found, valid for ten minutes), empty, missing, lacking, past_end, warned,
 * fail:<code>, throw, hang.
 */
export class ScriptedSources implements Sources {
  /** How often a source was asked. */
  runs = 0;
  /** IDs of the records of every list that is found; "1" by default. */
  ids: readonly string[] = ["1"];
  /** The state of the data. Answers about an older one are not cached for a newer one. */
  version = "1";
  /** Called while a source runs, before it answers. */
  onRun: () => Promise<void> | void = () => {};

  find(name: string): Source | undefined {
    const list: readonly Operation[] = operations;
    const operation = list.find((one) => one.name === name);
    if (!operation) return undefined;
    return {
      version: async () => this.version,
      // `found 23` has 23 priced units.
      ...(operation.pricedPer && {
        count: async (params) => Number(/ (\d+)/.exec(Object.values(params)[0] ?? "")?.[1] ?? 1),
      }),
      run: async (params, _page, { signal }) => {
        this.runs += 1;
        await this.onRun();
        const value = Object.values(params)[0] ?? "found";
        const [what = "found"] = value.split(" ");
        if (what.startsWith("fail:"))
          throw new Failure(what.slice(5) as ErrorCode, { operation: name, retry_after: 1 });
        if (what === "throw") throw new Error("a fault of ours");
        if (what === "hang")
          await new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
        return answerOf(what, operation, this.ids);
      },
    };
  }
}

function answerOf(what: string, operation: Operation, ids: readonly string[]): Answer {
  const outcomes = {
    empty: "empty",
    missing: "not_found",
    lacking: "insufficient_elements",
    past_end: "past_end",
  } as const;
  const outcome = what in outcomes ? outcomes[what as keyof typeof outcomes] : "found";
  const recordOf = (id: string) => ({ id, source: { name: "scripted", kind: "sample" } });
  const hasData = outcome === "found" || outcome === "insufficient_elements";
  return {
    outcome,
    ...(operation.kind === "single"
      ? hasData && { record: recordOf("1") }
      : { records: hasData ? ids.map(recordOf) : [] }),
    total: outcome === "past_end" ? 5 : hasData ? 1 : 0,
    totalRelation: "eq",
    // The word looks like the member of an answer that holds the warnings.
    warnings: what === "warned" ? [warning("words_not_found", { words: [',"warnings":[', "望远镜"] })] : [],
    ...(what === "short" && { cacheS: 600 }),
    ...(operation.summary && { summary: summaryOf(operation, hasData ? 1 : 0) }),
  };
}

function summaryOf({ name }: Operation, count: number): object {
  return name === "legal_citation_check"
    ? { date: "2026-03-10", citations: count, with_problems: 0, not_checked: 0 }
    : { listed: count > 0, record_count: count };
}
