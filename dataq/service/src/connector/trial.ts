import type { Bilingual, Params } from "@dataq/contract";
import { exchange, reasonOf } from "./connector.ts";
import { masked } from "./masking.ts";
import type { Found, Trace, Vendor, VendorRequest } from "./vendor.ts";

/**
 * One call to a vendor, shown to the operator step by step: what was sent, what came back, and what was read from it.
 */
export interface Trial {
  /** The request, without credentials. */
  readonly request: VendorRequest;
  readonly status: number | null;
  readonly ms: number;
  /** The beginning of the answer's text, without credentials; null if there was no answer. */
  readonly answer: string | null;
  readonly found: Found | null;
  /** Where each field was read from; for a list, in its first record. */
  readonly trace: readonly Trace[];
  /** Why the answer could not be read; null if it was read. */
  readonly why: Bilingual | null;
}

/** Asks the vendor once, bypassing cache, limit and breaker. Errors are part of the result. */
export async function tryVendor(vendor: Vendor, params: Params, limitMs: number): Promise<Trial> {
  const sent = vendor.request(params);
  const hide = (text: string) => masked(text, vendor.secrets);
  const hideBoth = ({ en, zh }: Bilingual) => ({ en: hide(en), zh: hide(zh) });
  const request = {
    method: sent.method,
    url: hide(sent.url),
    headers: Object.fromEntries(Object.entries(sent.headers).map(([name, value]) => [name, hide(value)])),
    ...(sent.body !== undefined && { body: hide(sent.body) }),
  };
  const started = performance.now();
  const base = { request, trace: [], found: null };
  let exchanged: { status: number; text: string };
  try {
    exchanged = await exchange(sent, AbortSignal.timeout(limitMs));
  } catch (error) {
    const ms = Math.round(performance.now() - started);
    return { ...base, status: null, ms, answer: null, why: hideBoth(whyNot(error, limitMs)) };
  }
  const ms = Math.round(performance.now() - started);
  const { status, text } = exchanged;
  const seen = { ...base, status, ms, answer: hide(text.slice(0, longestAnswer)) };
  if (status < 200 || status > 299) {
    const why = { en: `The vendor answered with status ${status}.`, zh: `供应商返回状态码 ${status}。` };
    return { ...seen, why };
  }
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    return { ...seen, why: { en: "The answer is not JSON.", zh: "响应不是 JSON。" } };
  }
  const found = vendor.read(body, params);
  const why = "why" in found ? hideBoth(found.why) : null;
  return { ...seen, found, trace: vendor.trace?.(body) ?? [], why };
}

const longestAnswer = 20_000;

function whyNot(error: unknown, limitMs: number): Bilingual {
  return (error as Error).name === "TimeoutError"
    ? { en: `The vendor did not answer in ${limitMs} ms.`, zh: `供应商在 ${limitMs} 毫秒内没有响应。` }
    : {
        en: `The vendor cannot be reached: ${reasonOf(error)}.`,
        zh: `无法连接供应商：${reasonOf(error)}。`,
      };
}
