import { z } from "zod";
import { meaning } from "../../bilingual.ts";
import { defineOperation } from "../../operation.ts";
import { record } from "../../provenance.ts";
import { carrierCodes, expressNumber, findCarrier } from "../../values/express-number.ts";
import { bad, parameter } from "../../values/reading.ts";
import { word } from "../../words/word.ts";

export const parcelStates = [
  "pending",
  "collected",
  "in_transit",
  "out_for_delivery",
  "delivered",
  "exception",
  "returning",
  "returned",
  "refused",
  "transferred",
  "customs",
  "customs_exception",
  "cancelled",
] as const;

export const cloudExpressTracking = defineOperation({
  name: "cloud_express_tracking",
  domain: "cloud",
  olderType: "express",
  title: { en: "Parcel tracking", zh: "快递查询" },
  description: {
    en: "Where a parcel is, for the major carriers. SF Express and ZTO require the last four digits of the phone number.",
    zh: "主要快递公司的物流轨迹。顺丰和中通需要手机号后四位。",
  },
  needs: { en: "a parcel tracking service such as kuaidi100", zh: "快递查询接口（如快递100）" },
  params: z.object({
    express_no: expressNumber({ en: "Parcel number", zh: "快递单号" }),
    carrier: parameter(
      {
        en: "Carrier code or name, if the parcel number does not identify it",
        zh: "单号无法判断时，快递公司的代码或名称",
      },
      { enum: carrierCodes },
      (raw) => {
        const found = raw.length > 100 ? undefined : findCarrier(raw.normalize("NFKC").trim());
        return found === undefined
          ? bad(
              "unknown_carrier",
              "is not a known carrier",
              "send a code such as shunfeng, or leave it out",
              "请发送如 shunfeng 的代码，或不填",
            )
          : { value: found.code };
      },
    ).optional(),
    phone_tail: parameter(
      { en: "Last four digits of the receiver's or sender's phone number", zh: "收件人或寄件人手机号后四位" },
      { pattern: "^[0-9]{4}$" },
      (raw) => {
        const value = raw.length > 20 ? "" : raw.normalize("NFKC").trim();
        return /^\d{4}$/.test(value)
          ? { value }
          : bad("format", "must have four digits", "send the last four digits", "请发送后四位");
      },
    ).optional(),
  }),
  record: record({
    express_no: z.string(),
    carrier_code: z.string(),
    carrier_name: z.string(),
    carrier_candidates: z.array(z.object({ code: z.string(), name: z.string() })).nullable(),
    state: z.enum(parcelStates),
    state_raw: z.string(),
    state_vocabulary: z.string(),
    signed: z.boolean(),
    signed_at: z.string().nullable(),
    origin: z.string().nullable(),
    destination: z.string().nullable(),
    eta: z.string().nullable(),
    last_event_at: z.string().nullable(),
    events: z
      .array(
        z.object({
          time: z.string(),
          state: z.enum(parcelStates).nullable(),
          description: z.string(),
          location: z.string().nullable(),
          area_code: z.string().nullable(),
        }),
      )
      .meta(meaning({ en: "Newest first", zh: "由新到旧" })),
    courier: z.object({ name: z.string().nullable(), phone_masked: z.string().nullable() }).nullable(),
  }),
  words: {
    express_no: word("Tracking number", "快递单号"),
    carrier_code: word("Carrier code", "快递公司代码"),
    carrier_name: word("Carrier", "快递公司"),
    carrier_candidates: word("Possible carriers of the number", "单号可能所属的快递公司"),
    "carrier_candidates.code": word("Carrier code", "快递公司代码"),
    "carrier_candidates.name": word("Carrier", "快递公司"),
    state: word("Parcel status", "物流状态"),
    state_raw: word("Original status of the source", "数据源的原始状态"),
    state_vocabulary: word("Code system of state_raw", "原始状态所用的代码体系"),
    signed: word("Whether the parcel was signed for", "是否签收"),
    signed_at: word("Signature time", "签收时间"),
    origin: word("From", "寄出地"),
    destination: word("To", "目的地"),
    eta: word("Estimated delivery", "预计送达"),
    last_event_at: word("Time of the last event", "最近动态时间"),
    time: word("When", "时间"),
    "events.state": word("Status after the event", "该动态的状态"),
    description: word("What happened", "动态内容"),
    location: word("Where", "地点"),
    area_code: word("Area code", "行政区划代码"),
    courier: word("Courier", "快递员"),
    "courier.name": word("Name", "姓名"),
    phone_masked: word("Phone number, masked", "电话（已脱敏）"),
  },
  kind: "single",
  paged: false,
  priceGroup: "standard",
  cacheS: 1_800,
  example: { express_no: "YT1000000000017" },
});
