/** What can be read from a judgment's text and its court's name. */

export function courtLevel(court: string): "supreme" | "high" | "intermediate" | "basic" | "special" | null {
  if (court === "") return null;
  if (court.startsWith("最高")) return "supreme";
  if (/海事|铁路|知识产权|互联网|金融法院|军事/.test(court)) return "special";
  if (court.includes("高级")) return "high";
  return court.includes("中级") ? "intermediate" : "basic";
}

const province =
  /^(北京市|天津市|上海市|重庆市|(?:河北|山西|辽宁|吉林|黑龙江|江苏|浙江|安徽|福建|江西|山东|河南|湖北|湖南|广东|海南|四川|贵州|云南|陕西|甘肃|青海)省|内蒙古自治区|广西壮族自治区|西藏自治区|宁夏回族自治区|新疆维吾尔自治区)/;

export function courtPlace(court: string): { province: string | null; city: string | null } {
  const found = province.exec(court)?.[1] ?? null;
  const rest = court.slice(found?.length ?? 0);
  const city = /^([\p{Script=Han}]{2,10}?(?:市|自治州|地区|盟))/u.exec(rest)?.[1] ?? null;
  return { province: found, city: city ?? (found?.endsWith("市") ? found : null) };
}

/** Judges are named at the end, one per line or side by side. */
export function judgesIn(text: string): { name: string; role: string }[] {
  const tail = text.slice(-400);
  const pattern =
    /(审\s*判\s*长|代理审判员|助理审判员|审\s*判\s*员|人民陪审员|代书记员|书\s*记\s*员)[\s　:：]*([\p{Script=Han}·]{2,4}?)(?=[\s　]|$|审判|人民陪审|书记|代理|代书记|二〇|二○|二Ο|20\d\d)/gu;
  const found = [...tail.matchAll(pattern)].map(([, role = "", name = ""]) => ({
    name,
    role: role.replace(/\s/g, ""),
  }));
  return found.filter(({ name }, place) => found.findIndex((other) => other.name === name) === place);
}

/** Masks identity card and mobile phone numbers. */
export function masked(text: string): string {
  return text
    .replace(/(?<!\d)(\d{6})\d{8}(\d{3}[\dXx])(?!\d)/g, "$1********$2")
    .replace(/(?<!\d)(1[3-9]\d)\d{4}(\d{4})(?!\d)/g, "$1****$2");
}
