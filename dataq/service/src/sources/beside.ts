import { Failure, type Operation, type Params, warning } from "@dataq/contract";
import type { Contract } from "../connector/contract.ts";
import { single } from "./answers.ts";
import { alike, type Identities, joined, type Published } from "./joining.ts";
import type { OptionalSource } from "./layered.ts";
import type { Answer, Page, SourceContext } from "./source.ts";

/** What is joined to the answers of vendors. */
export interface Joining {
  readonly identities: Identities;
  readonly imported: OptionalSource;
}

/** A question that a vendor has answered. */
export interface Answered {
  readonly operation: Operation;
  readonly params: Params;
  readonly page: Page;
  readonly context: SourceContext;
  /** Until when the caller waits, in milliseconds since 1970. */
  readonly until: number;
  /** What the vendors were paid for this call so far, in fen. */
  readonly spentFen: number;
  /** The vendors that may be asked for what they know of it, in the operator's order. */
  readonly others: readonly Contract[];
  /** What a vendor answered, as records. */
  read(contract: Contract, asked: "same question" | readonly string[], signal: AbortSignal): Promise<Answer>;
}

/** An answer that is ready does not wait longer for what others know. */
const LONGEST_MS = 3_000;

/** The time that is left for the answer itself. */
const RESERVE_MS = 500;

/** How long an answer is kept if somebody did not say what they know, in seconds. */
const KEPT_WITHOUT_S = 600;

/**
 * Adds to an answer what imported records and other vendors know of the same things. The records and their order stay
 * those of the answer; where it found nothing, imported records answer. Others are asked by number, all at once, within
 * the caller's time and as long as all vendors together cost no more than the call brings. Whoever fails is named.
 */
export async function withOthers(
  answer: Answer,
  { identities, imported }: Joining,
  asked: Answered,
): Promise<Answer> {
  const { operation, params, page, context } = asked;
  const isSingle = operation.kind === "single";
  if (!isSingle && answer.total === 0) {
    const held = await imported.run(params, page, { ...context, withoutGenerated: true });
    return held.total === 0 || held.sample === true ? answer : held;
  }
  const own = (isSingle ? [answer.record] : (answer.records ?? [])).filter(
    (each) => each !== undefined,
  ) as Published[];
  const wanted = [
    ...new Set(own.length > 0 ? own.flatMap(identities) : isSingle ? identities(asNumber(params)) : []),
  ];
  if (wanted.length === 0) return answer;
  const [held = [], ...told] = await Promise.all([
    imported.known?.(wanted),
    ...payable(asked).map((contract) => toldBy(contract, operation.paged ? wanted : "same question", asked)),
  ]);
  const silent = told.flatMap((each) => ("silent" in each ? [each.silent] : []));
  const others = [...held, ...told.flatMap((each) => ("records" in each ? each.records : []))] as Published[];
  const isOwn = new Set(own);
  const records = alike(
    [...own, ...others.filter((each) => identities(each).some((one) => wanted.includes(one)))],
    identities,
  )
    .filter((group) => own.length === 0 || group.some((each) => isOwn.has(each)))
    .map((group) => oneOf(group));
  const more = {
    ...(silent.length > 0 && {
      warnings: [...answer.warnings, warning("not_joined", { publishers: silent })],
      cacheS: Math.min(answer.cacheS ?? operation.cacheS, KEPT_WITHOUT_S),
    }),
  };
  if (!isSingle) return { ...answer, records, ...more };
  return { ...answer, ...single(records[0]), ...more };
}

/** Highlights and score belong to the record that was found first. */
function oneOf(group: readonly Published[]): Published {
  const [first] = group as [Published];
  if (group.length === 1) return first;
  const { source, ...fields } = joined(group);
  const { highlights, score } = first;
  return { ...fields, ...(highlights !== undefined && { highlights, score }), source } as Published;
}

/** The parameters of an operation that asks for one thing by its number. */
function asNumber(params: Params): Published {
  return { ...params, id: "" } as unknown as Published;
}

/** Those whose cost the call still brings. */
function payable({ others, operation, context, spentFen }: Answered): Contract[] {
  let fen = spentFen;
  return others.filter((contract) => {
    const cost = contract.costFen(operation.name);
    if (context.priceFen !== undefined && fen + cost > context.priceFen) return false;
    fen += cost;
    return true;
  });
}

async function toldBy(
  contract: Contract,
  question: "same question" | readonly string[],
  { until, context, read }: Answered,
): Promise<{ readonly records: readonly object[] } | { readonly silent: string }> {
  const leftMs = Math.min(LONGEST_MS, until - Date.now() - RESERVE_MS);
  if (leftMs <= 0) return { silent: contract.parts.publisher };
  try {
    const signal = AbortSignal.any([context.signal, AbortSignal.timeout(leftMs)]);
    const { record, records = [] } = await read(contract, question, signal);
    return { records: record === undefined ? records : [record] };
  } catch (error) {
    if (!(error instanceof Failure) || context.signal.aborted) throw error;
    return { silent: contract.parts.publisher };
  }
}
