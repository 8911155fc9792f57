import { expect, test } from "vitest";
import { inChinese } from "./foreign-names.ts";
import { LawNames } from "./named-laws.ts";

const names = new LawNames(
  new Set([
    "民法典",
    "刑法",
    "公司法",
    "劳动合同法",
    "民事诉讼法",
    "未成年人保护法",
    "老年人权益保障法",
    "宪法",
  ]),
);

test.each<[string, string[], string]>([
  ["刑法盗窃罪", ["刑法"], "盗窃罪"],
  ["中华人民共和国刑法 第264条", ["刑法"], "第264条"],
  ["《中华人民共和国民法典》第577条", ["民法典"], "第577条"],
  ["民诉法 管辖", ["民事诉讼法"], "管辖"],
  ["民法典和劳动合同法 违约金", ["民法典", "劳动合同法"], "和 违约金"],
  ["未成年保护法第39条", ["未成年人保护法"], "第39条"],
  ["老年人保护法 18", ["老年人权益保障法"], "18"],
])("%j names %j", (text, laws, rest) => {
  expect(names.find(text)).toMatchObject({ laws, rest });
  expect(names.find(text)).not.toHaveProperty("notHeld");
});

test.each([
  ["民诉法解释 第九十条", "民事诉讼法解释"],
  ["旅游法 退款", "旅游法"],
  ["工伤保险条例 工伤认定", "工伤保险条例"],
  ["《婚姻法》第3条", "婚姻法"],
  ["从未有过法 第九条", "从未有过法"],
])("%j names a law that is not in the data", (text, notHeld) => {
  expect(names.find(text)).toMatchObject({ laws: [], notHeld });
});

test.each([
  ["民法通则 第135条", "民法通则"],
  ["民法总则", "民法总则"],
  ["日本民法 第709条", "日本民法"],
  ["继续公司法第一条", "继续公司法"],
  ["旧公司法 第20条", "旧公司法"],
  ["《公司法》司法解释三 第3条", "公司法司法解释三"],
  ["公司法司法解释(三) 第3条", "公司法司法解释(三)"],
  ["刑法修正案(十一) 第1条", "刑法修正案(十一)"],
  ["全国人大常委会关于修改《公司法》的决定 第一条", "全国人大常委会关于修改公司法的决定"],
  ["最高人民法院关于适用公司法若干问题的规定(五) 第三条", "最高人民法院关于适用公司法若干问题的规定(五)"],
  [
    "最高人民法院、最高人民检察院关于办理盗窃刑事案件适用法律若干问题的解释 第一条",
    "最高人民法院、最高人民检察院关于办理盗窃刑事案件适用法律若干问题的解释",
  ],
  ["实施《未成年人保护法》办法 第一条", "实施未成年人保护法办法"],
  ["民法典继承编解释(一) 第2条", "民法典继承编解释(一)"],
  ["民间借贷规定 第25条", "民间借贷规定"],
])("%j is not asked of the law whose name it contains", (text, notHeld) => {
  expect(names.find(text)).toMatchObject({ laws: [], notHeld });
});

const longNames = [
  "最高人民法院关于适用中华人民共和国公司法若干问题的规定(三)",
  "最高人民法院关于适用中华人民共和国民法典有关担保制度的解释",
  "公司法实施条例",
];
test.each([
  ["最高人民法院关于适用《中华人民共和国公司法》若干问题的规定(三) 第三条", longNames[0]],
  ["最高人民法院关于适用公司法若干问题的规定(三) 第三条", longNames[0]],
  ["最高人民法院关于适用〈中华人民共和国公司法〉若干问题的规定(三) 第三条", longNames[0]],
  ["民法典担保制度解释 第1条", longNames[1]],
])("%j is the text with that full name", (text, law) => {
  const held = new LawNames(new Set(["公司法", "民法典", ...longNames]));
  expect(held.find(text).laws).toEqual([law]);
});

test("a law that is not in the data is not read as its regulation", () => {
  const held = new LawNames(new Set(["合资经营企业法实施条例", "外商投资电信企业管理规定"]));
  expect(held.find("合资经营企业法 第4条")).toMatchObject({ laws: [], notHeld: "合资经营企业法" });
  expect(held.find("外商投资企业法 第1条")).toMatchObject({ laws: [], notHeld: "外商投资企业法" });
});

test.each(["根据刑法第264条", "盗窃罪刑法第264条", "我国民法典第1条", "违反公司法的 第20条"])(
  "%j names the law behind the words that lead to it",
  (text) => {
    expect(names.find(text).laws).toHaveLength(1);
  },
);

test.each(["公司法人 责任", "违法 解除", "有什么办法", "法院 执行", "方法专利", "合法 权益", "刑法学"])(
  "%j names no law",
  (text) => {
    expect(names.find(text)).toEqual({ laws: [], rest: text });
  },
);

test.each([
  ["civil code article 577", "《民法典》 第577条"],
  ["Article 39 of the Labor Contract Law", "第39条 《劳动合同法》"],
  ["PRC Company Law articles 20 and 21", "《公司法》 第20、21条"],
  ["civil code of the People's Republic of China 1043", "《民法典》 1043"],
  ["Anti-Monopoly Law 17", "《反垄断法》 17"],
  ["minfadian 577", "《民法典》 577"],
  ["min fa dian di 577 tiao", "《民法典》 第577条"],
  ["Xíngfǎ 264", "《刑法》 264"],
  ["nature communications", "nature communications"],
  ["computer law review", "computer law review"],
])("%j is %j in Chinese", (text, chinese) => {
  expect(inChinese(text)).toBe(chinese);
});
