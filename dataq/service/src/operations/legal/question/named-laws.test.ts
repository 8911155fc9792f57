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
])("%j names a law that is not held", (text, notHeld) => {
  expect(names.find(text)).toMatchObject({ laws: [], notHeld });
});

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
