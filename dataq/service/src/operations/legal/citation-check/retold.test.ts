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
const fraud =
  "一方以欺诈手段，使对方在违背真实意思的情况下订立的合同，受欺诈方有权请求人民法院或者仲裁机构予以撤销。";
const damages = "约定的违约金过分高于造成的损失的，人民法院或者仲裁机构可以根据当事人的请求予以适当减少。";
const court = "因合同纠纷提起的诉讼，由被告住所地或者合同履行地人民法院管辖。";
const ages = "结婚年龄，男不得早于二十二周岁，女不得早于二十周岁。";
const penalties =
  "违法行为轻微并及时改正，没有造成危害后果的，不予行政处罚。初次违法且危害后果轻微并及时改正的，可以不予行政处罚。";
const prosecutors =
  "前款规定的部门不提起诉讼的，人民检察院可以向人民法院提起诉讼。前款规定的部门提起诉讼的，人民检察院可以支持起诉。";
const trust = "委托人、受托人、受益人在境内进行信托活动，适用本法。";
const listed = "有下列情形之一的，应当报告：\n（一）担保超过净资产的百分之二十；\n（六）公司放弃债权。";

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
  [
    "一方以欺诈手段,使对方在违背真实意思的情况下订立的合同无效",
    fraud,
    [`missing ${fraud.slice(28, -1)}`, "added 无效"],
  ],
  [
    "约定的违约金过分高于造成的损失的,人民法院应当依职权予以适当减少",
    damages,
    [`missing ${damages.slice(17, -1)}`, "added 人民法院应当依职权予以适当减少"],
  ],
  ["因合同纠纷提起的诉讼,由原告住所地或者合同履行地人民法院管辖", court, ["missing 被告", "added 原告"]],
  ["出卖人应当在两个月以内书面通知买受人", notice, ["added 两个月", "missing 30日"]],
  ["结婚年龄,男不得早于二十周岁,女不得早于二十二周岁", ages, ["added 二十周岁", "missing 二十二周岁"]],
  [
    "违法行为轻微并及时改正,没有造成危害后果的,可以不予行政处罚",
    penalties,
    ["missing 不予行政处罚", "added 可以不予行政处罚"],
  ],
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
  // Both forms are in the article, a list is cut, or a list marker follows a number.
  ["前款规定的部门提起诉讼的,人民检察院可以支持起诉", prosecutors],
  ["委托人、受益人在境内进行信托活动,适用本法", trust],
  ["担保超过净资产的百分之二十", listed],
  ["违约金过分高于造成的损失的,人民法院可以予以适当减少", damages],
  ["一方以欺诈手段订立的合同,受欺诈方可以请求人民法院予以撤销", fraud],
  // About something else.
  ["双方应当在十五日内办理变更登记", majority],
])("not told: %s", (said, article) => {
  expect(say(said, article)).toBeUndefined();
});
