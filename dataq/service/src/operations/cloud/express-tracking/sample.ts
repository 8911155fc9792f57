import { chinaInstant, type Params } from "@dataq/contract";
import { type District, districts } from "../../../sample/districts.ts";
import { maskedName } from "../../../sample/names.ts";
import { asSample } from "../../../sample/provenance.ts";
import { Random } from "../../../sample/random.ts";
import { single } from "../../../sources/answers.ts";
import type { Answer, Source } from "../../../sources/source.ts";
import { cacheOf, carrierOf, demandPhoneTail } from "./carrier.ts";

/**
 * The only parcels for which samples answer: delivered, in transit, and with a carrier that requires the
 * phone number.
 */
export const parcelSamples: readonly Params[] = [
  { express_no: "YT1000000000017" },
  { express_no: "YT1000000000020" },
  { express_no: "YT1000000000031" },
  { express_no: "SF1234567890123", phone_tail: "1234" },
];

export const sampleParcels: Source = {
  version: async () => "sample-2",
  async run(params: Params): Promise<Answer> {
    const sample = parcelSamples.find(({ express_no }) => express_no === params["express_no"]);
    const found = carrierOf(params);
    if (sample === undefined || found?.carrier.code !== found?.candidates[0]?.code) return single(undefined);
    if (found === undefined) return single(undefined);
    demandPhoneTail(found.carrier, params);
    if (params["phone_tail"] !== undefined && params["phone_tail"] !== sample["phone_tail"])
      return single(undefined);
    const { source, ...fields } = parcel(params["express_no"] ?? "", found.carrier);
    const candidates = found.candidates.length > 1 ? found.candidates : null;
    return { ...single({ ...fields, carrier_candidates: candidates, source }), cacheS: cacheOf(fields) };
  },
};

/** The route of a parcel. Numbers that end in 0 are in transit, all others are delivered. */
export function parcel(number: string, carrier: { readonly code: string; readonly name: string }) {
  const random = new Random(`parcel ${number}`);
  const [from, to] = [random.pick(districts), random.pick(districts)];
  const start = Date.parse(random.day(2025, 2025)) + random.whole(0, 12) * 3_600_000;
  const isDelivered = !number.endsWith("0");
  const steps = way(from, to, random, isDelivered);
  let time = start;
  const events = steps.map(([state, description, location]) => {
    time += random.whole(60, 700) * 60_000;
    return {
      time: chinaInstant(new Date(time)),
      state,
      description,
      location,
      area_code: null,
    };
  });
  const last = events[events.length - 1];
  return asSample({
    id: `${carrier.code}:${number}`,
    express_no: number,
    carrier_code: carrier.code,
    carrier_name: carrier.name,
    state: isDelivered ? ("delivered" as const) : ("in_transit" as const),
    state_raw: isDelivered ? "3" : "0",
    state_vocabulary: "kuaidi100",
    signed: isDelivered,
    signed_at: isDelivered ? (last?.time ?? null) : null,
    origin: `${from.city}${from.name}`,
    destination: `${to.city}${to.name}`,
    eta: null,
    last_event_at: last?.time ?? null,
    events: events.reverse(),
    courier: isDelivered ? { name: maskedName(random), phone_masked: "138****0000" } : null,
  });
}

type Step = readonly ["collected" | "in_transit" | "out_for_delivery" | "delivered", string, string];

function way(from: District, to: District, random: Random, isDelivered: boolean): Step[] {
  const start: Step[] = [
    ["collected", `【${from.city}】快件已由示例网点揽收`, from.city],
    ["in_transit", `【${from.city}】快件离开示例分拨中心，发往${to.city}`, from.city],
  ];
  const middle = random.pick(districts).city;
  if (random.chance(0.5)) start.push(["in_transit", `【${middle}】快件到达示例转运中心`, middle]);
  if (!isDelivered) return start;
  return [
    ...start,
    ["in_transit", `【${to.city}】快件到达示例营业部`, to.city],
    ["out_for_delivery", `【${to.city}】快递员正在派件`, to.city],
    ["delivered", `【${to.city}】快件已签收`, to.city],
  ];
}
