import { expect, test } from "vitest";
import { wordsOf } from "./compare.ts";
import { contradiction } from "./retold.ts";

const secondhand =
  "承租人经出租人同意，可以将租赁物转租给第三人。承租人未经出租人同意转租的，出租人可以解除合同。";
const noncompete =
  "在解除或者终止劳动合同后，前款规定的人员到与本单位有竞争关系的其他用人单位，从事同类业务的竞业限制期限，不得超过二年。";
const severance =
  "经济补偿按劳动者在本单位工作的年限，每满一年支付一个月工资的标准向劳动者支付。六个月以上不满一年的，按一年计算；不满六个月的，向劳动者支付半个月工资的经济补偿。";
const carriers = "用人单位招用人员，不得以是传染病病原携带者为由拒绝录用。";
const majority = "股东会作出修改公司章程的决议，应当经代表三分之二以上表决权的股东通过。";
const will = "打印遗嘱应当有两个以上见证人在场见证。遗嘱人和见证人应当在遗嘱每一页签名，注明年、月、日。";
const compensation = "增加赔偿的金额不足一千元的，为一千元。";
const notice = "出卖人应当在30日以内书面通知买受人。";

const say = (said: string, article: string) =>
  contradiction(wordsOf(said), wordsOf(article), { cells: 100_000 })?.map(
    ({ kind, text }) => `${kind} ${text}`,
  );

test.each([
  ["竞业限制期限最长为三年", noncompete, ["added 三年", "missing 二年"]],
  ["竞业限制期限最长为36个月", noncompete, ["added 36个月", "missing 二年"]],
  ["打印遗嘱有一名见证人在场见证即为有效", will, ["added 一名", "missing 两个"]],
  ["增加赔偿的金额不足五百元的,为五百元", compensation, ["added 五百元", "missing 一千元"]],
  ["修改公司章程的决议应当经代表过半数表决权的股东通过", majority, ["added 过半数", "missing 三分之二"]],
  ["出卖人应当在60天以内书面通知买受人", notice, ["added 60天", "missing 30日"]],
  ["承租人无须经出租人同意,可以将租赁物转租给第三人", secondhand, ["added 无须"]],
  ["用人单位招用人员,可以以是传染病病原携带者为由拒绝录用", carriers, ["missing 不得", "added 可以"]],
])("told: %s", (said, article, expected) => {
  expect(say(said, article)).toEqual(expected);
});

test.each([
  // The same in other units, words, order or notation.
  ["竞业限制期限最长为24个月", noncompete],
  ["竞业限制期限最长不超过两年", noncompete],
  ["打印遗嘱须有2名以上见证人在场见证", will],
  ["出卖人应当在三十天以内书面通知买受人", notice],
  ["修改章程须经代表2/3以上表决权的股东通过", majority],
  ["承租人未经出租人同意转租的,出租人有权解除合同", secondhand],
  ["用人单位不能以传染病病原携带者为由拒绝录用", carriers],
  // Facts of the case beside a rule.
  ["原告在被告处工作满五年,被告应支付经济补偿五个月工资", severance],
  ["经济补偿按工作年限,每满一年支付一个月工资的标准支付,原告工作八年,应得八个月工资", severance],
  ["承租人于三年前将租赁物转租给第三人", secondhand],
  // About something else.
  ["双方应当在十五日内办理变更登记", majority],
])("not told: %s", (said, article) => {
  expect(say(said, article)).toBeUndefined();
});
