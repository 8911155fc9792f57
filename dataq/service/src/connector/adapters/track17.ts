import { carriersOf, findCarrier } from "@dataq/contract";
import { z } from "zod";
import type { Adapter, AdapterParts, Fields, Found, Refused, Send } from "../adapter.ts";
import { withoutPhones } from "./person.ts";
import { readJson } from "./read-json.ts";

/** How long 17TRACK usually needs for a number that it sees for the first time, in seconds. */
const FIRST_ANSWER_S = 60;

const text = z.string().nullish();
const rejected = z
  .array(z.object({ number: text, error: z.object({ code: z.number().int(), message: text }) }))
  .nullish();

const registered = z.object({
  code: z.number().int(),
  data: z.object({ accepted: z.array(z.object({ number: z.string() })).nullish(), rejected }).nullish(),
});

const event = z.object({
  time_iso: text,
  time_utc: text,
  description: text,
  location: text,
  sub_status: text,
  stage: text,
});
const place = z.object({ country: text, state: text, city: text }).nullish();
const tracked = z.object({
  code: z.number().int(),
  data: z
    .object({
      accepted: z
        .array(
          z.object({
            number: z.string(),
            track_info: z
              .object({
                latest_status: z.object({ status: z.string(), sub_status: text }).nullish(),
                shipping_info: z.object({ shipper_address: place, recipient_address: place }).nullish(),
                tracking: z
                  .object({
                    providers: z
                      .array(
                        z.object({
                          provider: z.object({ name: text }).nullish(),
                          events: z.array(event).nullish(),
                        }),
                      )
                      .nullish(),
                  })
                  .nullish(),
              })
              .nullish(),
          }),
        )
        .nullish(),
      rejected,
    })
    .nullish(),
});
type Tracked = NonNullable<NonNullable<z.infer<typeof tracked>["data"]>["accepted"]>[number];

/** The number is registered already. */
const KNOWN_ALREADY = -18019901;
/** What 17TRACK's table of errors means for a call; other codes are errors of ours. */
const meanings: Readonly<Record<number, "not_found" | "verification_required" | Refused["reason"]>> = {
  [-18010001]: "refused",
  [-18010002]: "refused",
  [-18010003]: "busy",
  [-18010004]: "refused",
  [-18010005]: "refused",
  // The number has the wrong form, or its carrier cannot be told.
  [-18010012]: "not_found",
  [-18019903]: "not_found",
  [-18010020]: "verification_required",
  [-18019907]: "limited",
  [-18019908]: "out_of_money",
  [-18019909]: "not_yet",
};

/** A number is registered first, which costs; then its track is read. */
export function track17({ operation, base, credentials }: AdapterParts): Adapter {
  const headers = { "17token": credentials["token"] ?? "", "content-type": "application/json" };
  const post = (send: Send, path: string, number: string, tail: string | undefined, isFree: boolean) =>
    send({
      method: "POST",
      url: `${base}/${path}`,
      headers,
      body: JSON.stringify([{ number, ...(tail && { phone_number_last_4: tail }) }]),
      ...(isFree && { isFree }),
    });
  return {
    operation,
    async ask(params, send) {
      const number = params["express_no"] ?? "";
      const first = await post(send, "register", number, params["phone_tail"], false);
      const entered = readJson(first, registered);
      if ("found" in entered) return entered.found;
      const refusal = entered.value.data?.rejected?.[0]?.error;
      if (entered.value.code !== 0) return refusalOf(entered.value.code, "");
      if (refusal !== undefined && refusal.code !== KNOWN_ALREADY)
        return refusalOf(refusal.code, refusal.message ?? "");
      const second = await post(send, "gettrackinfo", number, undefined, true);
      const told = readJson(second, tracked);
      if ("found" in told) return told.found;
      const { code, data } = told.value;
      if (code !== 0) return refusalOf(code, "");
      const denied = data?.rejected?.[0]?.error;
      const found = data?.accepted?.find((each) => each.number === number);
      if (found === undefined)
        return refusalOf(denied?.code ?? 0, denied?.message ?? "no such number in the answer");
      return read(found, params["express_no"] ?? "", params["carrier"], refusal === undefined);
    },
  };
}

function refusalOf(code: number, message: string): Found {
  const meaning = meanings[code];
  if (meaning === "not_found" || meaning === "verification_required") return { outcome: meaning };
  const why = { en: `${code} ${message}`.trim(), zh: `${code} ${message}`.trim() };
  if (meaning === undefined) return { outcome: "wrong", why };
  const retryAfterS = meaning === "not_yet" ? FIRST_ANSWER_S : undefined;
  return { outcome: "unavailable", reason: meaning, why, retryAfterS };
}

function read({ track_info }: Tracked, number: string, wanted: string | undefined, isNew: boolean): Found {
  const status = track_info?.latest_status;
  if (!status || status.status === "NotFound") {
    if (!isNew) return { outcome: "not_found" };
    const why = { en: "the number was registered just now", zh: "单号刚刚登记，结果尚未返回" };
    return { outcome: "unavailable", reason: "not_yet", why, retryAfterS: FIRST_ANSWER_S };
  }
  const state = stateOf(status.status, status.sub_status);
  if (state === undefined) {
    const why = { en: `the status ${status.status} is unknown`, zh: `状态 ${status.status} 未知` };
    return { outcome: "wrong", why };
  }
  const providers = track_info?.tracking?.providers ?? [];
  const events = providers
    .flatMap(({ events: each }) => each ?? [])
    .flatMap((each): Fields[] => {
      const time = each.time_iso ?? each.time_utc;
      if (!time) return [];
      return [
        {
          time,
          state: stateOf(each.stage ?? "", each.sub_status) ?? null,
          description: withoutPhones(each.description ?? ""),
          location: each.location ?? null,
          area_code: null,
        },
      ];
    })
    .toSorted((a, b) => Date.parse(String(b["time"])) - Date.parse(String(a["time"])));
  const candidates = carriersOf(number);
  const carrier = (wanted === undefined ? undefined : findCarrier(wanted)) ?? candidates[0];
  const isSigned = state === "delivered";
  const { shipper_address: from, recipient_address: to } = track_info?.shipping_info ?? {};
  return {
    outcome: "record",
    fields: {
      id: `${carrier?.code ?? "auto"}:${number}`,
      express_no: number,
      carrier_code: carrier?.code ?? "auto",
      carrier_name: providers[0]?.provider?.name ?? carrier?.name ?? "未知",
      carrier_candidates: candidates.length > 1 ? candidates : null,
      state,
      state_raw: status.sub_status ?? status.status,
      state_vocabulary: "17track",
      signed: isSigned,
      signed_at: isSigned ? (events[0]?.["time"] ?? null) : null,
      origin: placeOf(from),
      destination: placeOf(to),
      last_event_at: events[0]?.["time"] ?? null,
      events,
    },
  };
}

/** A finer status wins over its main status. */
function stateOf(status: string, finer: string | null | undefined): string | undefined {
  return states[finer ?? ""] ?? states[status];
}

const states: Readonly<Record<string, string>> = {
  InfoReceived: "pending",
  InTransit: "in_transit",
  InTransit_PickedUp: "collected",
  InTransit_CustomsProcessing: "customs",
  InTransit_CustomsRequiringInformation: "customs_exception",
  AvailableForPickup: "in_transit",
  OutForDelivery: "out_for_delivery",
  Delivered: "delivered",
  DeliveryFailure: "exception",
  DeliveryFailure_Rejected: "refused",
  Exception: "exception",
  Exception_Returning: "returning",
  Exception_Returned: "returned",
  Exception_Rejected: "refused",
  Exception_Cancel: "cancelled",
  Expired: "exception",
};

function placeOf(
  place:
    | {
        country?: string | null | undefined;
        state?: string | null | undefined;
        city?: string | null | undefined;
      }
    | null
    | undefined,
): string | null {
  return [place?.country, place?.state, place?.city].filter(Boolean).join(" ") || null;
}
