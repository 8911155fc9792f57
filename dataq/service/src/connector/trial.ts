import type { Bilingual, Params } from "@dataq/contract";
import type { Found, Send, VendorAnswer, VendorRequest } from "./adapter.ts";
import { NotReadable } from "./adapter.ts";
import type { ContractParts } from "./contract.ts";
import { exchange, reasonOf } from "./exchange.ts";
import { masked } from "./masking.ts";

/** One request and its answer, without credentials and what was made from them. */
export interface Exchange {
  readonly request: Omit<VendorRequest, "secrets" | "isFree">;
  readonly status: number | null;
  readonly ms: number;
  /** The beginning of the answer's text; null if there was no answer. */
  readonly answer: string | null;
}

/** The whole conversation for one answer, shown to the operator. */
export interface Trial {
  readonly exchanges: readonly Exchange[];
  readonly found: Found | null;
  /** Why the answer could not be read; null if it was read. */
  readonly why: Bilingual | null;
}

/** Asks the vendor once, bypassing cache, limits and breaker. Errors are part of the result. */
export async function tryContract(
  { adapters, secrets: credentials }: ContractParts,
  operation: string,
  params: Params,
  limitMs: number,
): Promise<Trial> {
  const seen: { request: VendorRequest; answer: VendorAnswer | null; ms: number }[] = [];
  const signal = AbortSignal.timeout(limitMs);
  const send: Send = async (request) => {
    const started = performance.now();
    const entry = { request, answer: null as VendorAnswer | null, ms: 0 };
    seen.push(entry);
    try {
      entry.answer = await exchange(request, signal);
      return entry.answer;
    } finally {
      entry.ms = Math.round(performance.now() - started);
    }
  };
  let found: Found | null = null;
  let why: Bilingual | null = null;
  try {
    const adapter = adapters.find((each) => each.operation === operation);
    found = (await adapter?.ask(params, send)) ?? null;
    if (found !== null && "why" in found) ({ why } = found);
  } catch (error) {
    why = whyNot(error, limitMs);
  }
  const secrets = [...credentials, ...seen.flatMap(({ request }) => request.secrets ?? [])];
  const hide = (text: string) => masked(text, secrets);
  return {
    exchanges: seen.map(({ request, answer, ms }) => ({
      request: {
        method: request.method,
        url: hide(request.url),
        headers: Object.fromEntries(
          Object.entries(request.headers).map(([name, value]) => [name, hide(value)]),
        ),
        ...(request.body !== undefined && { body: hide(request.body) }),
      },
      status: answer?.status ?? null,
      ms,
      answer: answer === null ? null : hide(answer.text.slice(0, longestAnswer)),
    })),
    found,
    why: why && { en: hide(why.en), zh: hide(why.zh) },
  };
}

const longestAnswer = 20_000;

function whyNot(error: unknown, limitMs: number): Bilingual {
  if (error instanceof NotReadable) return error.why;
  return (error as Error).name === "TimeoutError"
    ? { en: `The vendor did not answer in ${limitMs} ms.`, zh: `供应商在 ${limitMs} 毫秒内没有响应。` }
    : {
        en: `The vendor cannot be reached: ${reasonOf(error)}.`,
        zh: `无法连接供应商：${reasonOf(error)}。`,
      };
}
