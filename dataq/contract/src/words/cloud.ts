import { type Words, word } from "./word.ts";

/** Parcels. */
export const cloud: Words = {
  express_no: word("Tracking number", "快递单号"),
  carrier_code: word("Code of the carrier", "快递公司代码"),
  carrier_name: word("Carrier", "快递公司"),
  carrier_candidates: word("Carriers that the number may belong to", "单号可能所属的快递公司"),
  "carrier_candidates.code": word("Code of the carrier", "快递公司代码"),
  "carrier_candidates.name": word("Carrier", "快递公司"),
  state: word("State of the parcel", "物流状态"),
  state_raw: word("State as the source writes it", "数据源的原始状态"),
  state_vocabulary: word("Whose words state_raw uses", "原始状态所用的代码体系"),
  signed: word("Whether it was signed for", "是否签收"),
  signed_at: word("When it was signed for", "签收时间"),
  origin: word("From", "寄出地"),
  destination: word("To", "目的地"),
  eta: word("Expected arrival", "预计送达"),
  last_event_at: word("Last event", "最近动态时间"),
  time: word("When", "时间"),
  "events.state": word("State after it", "该动态的状态"),
  description: word("What happened", "动态内容"),
  location: word("Where", "地点"),
  area_code: word("Code of the area", "行政区划代码"),
  courier: word("Courier", "快递员"),
  "courier.name": word("Name", "姓名"),
  phone_masked: word("Telephone, masked", "电话（已脱敏）"),
};
