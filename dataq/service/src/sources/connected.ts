import { Failure, findOperation, invalid, type Operation, type Params } from "@dataq/contract";
import type { Fields, Found } from "../connector/adapter.ts";
import type { Contract } from "../connector/contract.ts";
import { inEnglish } from "../importer/message.ts";
import { ownForm } from "../importer/own-form.ts";
import { provenanceOf } from "../importer/provenance.ts";
import { single, whole } from "./answers.ts";
import { type Joining, withOthers } from "./beside.ts";
import type { Answer, Page, Source, SourceContext } from "./source.ts";

/** What an operation adds to a vendor's answer. */
export interface FromVendor {
  /** Unifies what vendors write in many ways, such as dates and amounts. */
  readonly prepare?: (fields: Fields, asked: { readonly params: Params; readonly now: Date }) => Fields;
  /** Adds to the parameters of a call what requests to vendors need in another form. */
  readonly asked?: (params: Params) => Params;
  /** What a record means if it is not what was asked for. */
  readonly outcome?: (record: object) => Answer["outcome"];
  /** The list as an answer, with its summary. */
  readonly list?: (records: readonly object[], params: Params) => Answer;
  /** How long a record may be cached, in seconds. */
  readonly cacheS?: (record: object) => number;
  /** The error when the vendor requires more identification. */
  readonly verificationNeeded?: () => Failure;
}

/** An answer with less time left than this is not asked for from the next vendor. */
const LEAST_TIME_MS = 500;

/** How long a request waits for its turn while another vendor could answer. */
const PATIENCE_BESIDE_OTHERS_MS = 500;

/** The time of a caller who has named none. */
const USUAL_TIME_MS = 25_000;

/**
 * Answers an operation from vendors, in the operator's order. If one cannot answer, the next one is asked within the
 * caller's time, as long as what the vendors cost stays below the price of the call. A response that does not fit the
 * operation's record is a 502. With `joining`, the answer also has what imported records and vendors with `joins` know of
 * the same things.
 */
export function connected(
  operationName: string,
  contracts: readonly Contract[],
  adds: FromVendor = {},
  joining?: Joining,
): Source {
  const operation = findOperation(operationName) as Operation;
  const complete = ownForm(operation.name, (record) => record["id"] ?? Object.values(record)[1]);
  const recordOf = (contract: Contract, fields: Fields, params: Params, now: Date): object => {
    const { source, ...own } = fields;
    const mapped = complete(adds.prepare?.(own, { params, now }) ?? own);
    if (mapped === null || "problem" in mapped) {
      const why = mapped === null ? "no record" : inEnglish(mapped.problem);
      throw new Failure("upstream_error", { operation: operation.name }, new Error(why));
    }
    const publication = {
      name: contract.parts.publisher,
      kind: contract.parts.kind,
      url: urlOf(source),
      licence: contract.parts.licence,
      retrievedAt: now,
    };
    const isSearch = "highlights" in operation.record.shape;
    return {
      ...mapped.record,
      ...(isSearch && { highlights: [], score: null }),
      source: provenanceOf(publication, mapped.record, mapped.record.id),
    };
  };
  const answerOf = (contract: Contract, found: Found, params: Params, page: Page, now: Date): Answer => {
    if (found.outcome === "verification_required")
      throw adds.verificationNeeded?.() ?? new Failure("upstream_error", { operation: operation.name });
    if (found.outcome === "record") {
      const record = recordOf(contract, found.fields, params, now);
      const outcome = adds.outcome?.(record) ?? "found";
      return { ...single(record), outcome, ...(adds.cacheS && { cacheS: adds.cacheS(record) }) };
    }
    if (found.outcome === "records") {
      const records = found.list.map((fields) => recordOf(contract, fields, params, now));
      return adds.list?.(records, params) ?? listed(operation, records, found, page);
    }
    if (operation.kind === "single") return single(undefined);
    return adds.list?.([], params) ?? listed(operation, [], { total: 0 }, page);
  };
  const unsent = (contract: Contract, params: Params): string | undefined =>
    operation.paged
      ? Object.keys(params).find((name) => contract.adapter(operation.name)?.takes?.has(name) === false)
      : undefined;
  return {
    async check(params) {
      // A filter that is not sent would be ignored, and the answer would be wrong.
      const ignored = contracts.map((contract) => unsent(contract, params));
      if (ignored.every((name) => name !== undefined)) throw unsupported(ignored[0]!);
    },
    // Vendors do not announce changes; the cache time limits the age of answers.
    async version(sandbox) {
      const names = contracts.map(({ name, parts }) => (parts.joins === true ? `${name}+` : name));
      return [...names, ...(joining === undefined ? [] : [await joining.imported.version(sandbox)])].join(
        " ",
      );
    },
    async run(params: Params, page: Page, context: SourceContext): Promise<Answer> {
      const asked = operation.paged
        ? { ...params, page: String(page.page), page_size: String(page.pageSize) }
        : (adds.asked?.(params) ?? params);
      const until = context.until ?? Date.now() + USUAL_TIME_MS;
      const able = contracts.filter((contract) => unsent(contract, params) === undefined);
      let spentFen = 0;
      let failure: Failure | undefined;
      const failed = new Set<Contract>();
      for (const [place, contract] of able.entries()) {
        const leftMs = until - Date.now();
        const costFen = contract.costFen(operation.name);
        const isTooDear = context.priceFen !== undefined && spentFen + costFen > context.priceFen;
        if (place > 0 && (leftMs < LEAST_TIME_MS || isTooDear)) break;
        const isLast = place === able.length - 1;
        let answer: Answer;
        // An answer may take several requests.
        let paidFen = 0;
        try {
          const asking = {
            signal: context.signal,
            patienceMs: Math.max(0, isLast ? leftMs - LEAST_TIME_MS : PATIENCE_BESIDE_OTHERS_MS),
            requestId: context.requestId,
            paid: (fen: number) => (paidFen += fen),
          };
          answer = await contract.ask(operation.name, asked, asking, (found) =>
            answerOf(contract, found, params, page, context.now),
          );
        } catch (error) {
          if (!(error instanceof Failure) || !mayBeAnsweredByAnother.has(error.code)) throw error;
          if (context.signal.aborted) throw error;
          // A vendor that answered what cannot be used, or too late, has perhaps charged for it.
          if (error.code !== "unavailable") spentFen += paidFen;
          failed.add(contract);
          failure = worse(failure, error);
          continue;
        }
        if (joining === undefined) return answer;
        const others = contracts.filter(
          (each) => each !== contract && !failed.has(each) && mayJoin(each, operation),
        );
        return await withOthers(answer, joining, {
          ...{ operation, params, page, context, until, others },
          spentFen: spentFen + paidFen,
          async read(other, question, signal) {
            const asking = { signal, patienceMs: PATIENCE_BESIDE_OTHERS_MS, requestId: context.requestId };
            const told = (found: Found) => answerOf(other, found, params, page, context.now);
            return question === "same question"
              ? await other.ask(operation.name, params, asking, told)
              : await other.find(operation.name, question, asking, told);
          },
        });
      }
      throw failure ?? new Failure("unavailable", { operation: operation.name, retry_after: 1 });
    },
  };
}

/** A list with pages is asked for by numbers, which not every vendor can be; others are asked the same question. */
function mayJoin(contract: Contract, operation: Operation): boolean {
  const isAble = !operation.paged || contract.adapter(operation.name)?.byNumber !== undefined;
  return contract.parts.joins === true && isAble;
}

const mayBeAnsweredByAnother: ReadonlySet<string> = new Set([
  "upstream_error",
  "upstream_timeout",
  "unavailable",
]);

/** What the caller is told: to come again if one of the vendors will answer then, else what went wrong first. */
function worse(before: Failure | undefined, now: Failure): Failure {
  if (before === undefined) return now;
  const cause = new Error(`${reason(before)}; then ${reason(now)}`);
  const told = before.code !== "unavailable" && now.code === "unavailable" ? now : before;
  return new Failure(told.code, told.details, cause);
}

function reason({ cause, code }: Failure): string {
  return cause instanceof Error ? cause.message : code;
}

function urlOf(source: unknown): string | null {
  const url = (source as { url?: unknown } | undefined)?.url;
  return typeof url === "string" && /^https?:\/\//.test(url) ? url : null;
}

function unsupported(name: string): Failure {
  const param = `params.${name}`;
  return invalid(
    param,
    "unsupported",
    `${param} is not supported by the source that answers here`,
    "omit it",
    "请去掉该参数",
  );
}

function listed(
  operation: Operation,
  records: object[],
  { total, isAtLeast }: { readonly total: number; readonly isAtLeast?: boolean },
  page: Page,
): Answer {
  const answer = whole(records);
  const isPastEnd = operation.paged && records.length === 0 && page.page > 1;
  return {
    ...answer,
    total: operation.paged ? total : answer.total,
    ...(isAtLeast === true && { totalRelation: "gte" as const }),
    ...(isPastEnd && { outcome: "past_end" as const }),
  };
}
