import { createHash } from "node:crypto";
import { carriersOf, findCarrier, instantInChina, type Params } from "@dataq/contract";
import { z } from "zod";
import { type Adapter, type AdapterParts, type Found, jsonOf, refusalByStatus } from "../adapter.ts";
import { withoutPhones } from "./person.ts";

/** kuaidi100's real-time query (`poll/query.do`): a signed form, and one answer for every carrier. */
export function kuaidi100({ operation, base, credentials }: AdapterParts): Adapter {
  const { customer = "", key = "" } = credentials;
  return {
    operation,
    async ask(params, send) {
      const param = JSON.stringify({
        com: carrierOf(params).code,
        num: params["express_no"],
        phone: params["phone_tail"] ?? "",
        resultv2: "4",
        show: "0",
        order: "desc",
      });
      const sign = createHash("md5")
        .update(param + key + customer)
        .digest("hex")
        .toUpperCase();
      const answer = await send({
        method: "POST",
        url: base,
        headers: { "content-type": "application/x-www-form-urlencoded" },
        body: new URLSearchParams({ customer, sign, param }).toString(),
        secrets: [sign],
      });
      return refusalByStatus(answer) ?? read(jsonOf(answer), params);
    },
  };
}

const refusal = z.object({
  result: z.literal(false),
  returnCode: z.string(),
  message: z.string().optional(),
});

const track = z.object({
  state: z.coerce.string(),
  com: z.string().nullish(),
  nu: z.string().nullish(),
  ischeck: z.coerce.string().nullish(),
  data: z.array(
    z.object({
      time: z.string().nullish(),
      ftime: z.string().nullish(),
      context: z.string(),
      areaName: z.string().nullish(),
      areaCode: z.string().nullish(),
      location: z.string().nullish(),
      statusCode: z.coerce.string().nullish(),
    }),
  ),
});

function read(body: unknown, params: Params): Found {
  const refused = refusal.safeParse(body);
  if (refused.success) return refusalOf(refused.data.returnCode, refused.data.message ?? "");
  const parsed = track.safeParse(body);
  if (!parsed.success) {
    const why = { en: "the answer has an unknown format", zh: "响应的结构无法识别" };
    return { outcome: "wrong", why };
  }
  const { state, com, data } = parsed.data;
  const carrier = findCarrier(com ?? "") ?? carrierOf(params);
  const events = data.map((event) => ({
    time: instant(event.ftime ?? event.time ?? ""),
    state: event.statusCode ? (stateOf(event.statusCode) ?? null) : null,
    description: withoutPhones(event.context),
    location: event.areaName ?? event.location ?? null,
    area_code: event.areaCode ?? null,
  }));
  const known = stateOf(state);
  if (known === undefined || events.some(({ time }) => time === null)) {
    const why = {
      en: `the answer has the unknown state ${state}, or a time that cannot be read`,
      zh: `状态 ${state} 未知，或时间无法识别`,
    };
    return { outcome: "wrong", why };
  }
  events.sort((a, b) => (String(a.time) < String(b.time) ? 1 : -1));
  const isSigned = known === "delivered";
  const candidates = carriersOf(params["express_no"] ?? "");
  return {
    outcome: "record",
    fields: {
      id: `${carrier.code}:${params["express_no"]}`,
      express_no: params["express_no"],
      carrier_code: carrier.code,
      carrier_name: carrier.name,
      carrier_candidates: candidates.length > 1 ? candidates : null,
      state: known,
      state_raw: state,
      state_vocabulary: "kuaidi100",
      signed: isSigned,
      signed_at: isSigned ? (events[0]?.time ?? null) : null,
      last_event_at: events[0]?.time ?? null,
      events,
    },
  };
}

function refusalOf(code: string, message: string): Found {
  if (code === "500") return { outcome: "not_found" };
  if (code === "408") return { outcome: "verification_required" };
  const why = { en: `${code} ${message}`, zh: `${code} ${message}` };
  // The caller cannot fix the signature, the contract or the balance.
  const reason = ({ "502": "busy", "503": "refused", "600": "refused", "601": "out_of_money" } as const)[
    code
  ];
  if (reason !== undefined) return { outcome: "unavailable", reason, why };
  return { outcome: "wrong", why };
}

function carrierOf(params: Params): { readonly code: string; readonly name: string } {
  const named = params["carrier"] === undefined ? undefined : findCarrier(params["carrier"]);
  return named ?? carriersOf(params["express_no"] ?? "")[0] ?? { code: "auto", name: "未知" };
}

/**
 * Converts a code. There are codes for the state of the parcel (0 to 14), and finer codes that begin with
 * them.
 */
function stateOf(code: string): string | undefined {
  return (
    states[code] ??
    (code.length >= 3 ? (states[finer[code] ?? code.slice(0, code.length - 2)] ?? undefined) : undefined)
  );
}

const states: Readonly<Record<string, string>> = {
  "0": "in_transit",
  "1": "collected",
  "2": "exception",
  "3": "delivered",
  "4": "returned",
  "5": "out_for_delivery",
  "6": "returning",
  "7": "transferred",
  "8": "customs",
  "10": "customs",
  "11": "customs",
  "12": "customs",
  "13": "customs_exception",
  "14": "refused",
  "101": "pending",
  "102": "pending",
  "401": "cancelled",
};

const finer: Readonly<Record<string, string>> = { "1001": "0", "1002": "0", "1003": "0" };

/** Converts 2024-03-01 12:30:00, which is China time. */
function instant(text: string): string | null {
  const [, date, time] = /^(\d{4}-\d{2}-\d{2})[ T](\d{2}:\d{2}:\d{2})$/.exec(text) ?? [];
  return date === undefined || time === undefined ? null : instantInChina(date, time);
}
