import { carriersOf, Failure, findCarrier, type Params } from "@dataq/contract";

/**
 * The carrier of a call: the one that it names, or else the likeliest by the form of the number. Undefined if
 * none fits.
 */
export function carrierOf(params: Params) {
  const candidates = carriersOf(params["express_no"] ?? "");
  const named = params["carrier"] === undefined ? undefined : findCarrier(params["carrier"]);
  const carrier = named ?? candidates[0];
  return carrier === undefined ? undefined : { carrier, candidates };
}

/** Some carriers require the last four digits of a phone number. */
export function demandPhoneTail(carrier: { code: string; name: string }, params: Params): void {
  if (!["shunfeng", "shunfengkuaiyun", "zhongtong"].includes(carrier.code)) return;
  if (params["phone_tail"] !== undefined) return;
  throw phoneTailNeeded(carrier.name);
}

export function phoneTailNeeded(carrierName: string): Failure {
  return new Failure("verification_required", {
    carrier: carrierName,
    param: "params.phone_tail",
    details: [
      {
        param: "params.phone_tail",
        code: "missing",
        message: `${carrierName} requires params.phone_tail`,
        fix: "send the last four digits of the receiver's or sender's phone number",
        fixZh: "请发送收件人或寄件人电话的后四位",
      },
    ],
  });
}

/** Cache time in seconds. It is longer for a delivered parcel, which no longer changes. */
export function cacheOf(parcel: { readonly signed: boolean }): number {
  return parcel.signed ? 604_800 : 1_800;
}
