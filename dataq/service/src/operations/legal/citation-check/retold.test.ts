import { readFileSync } from "node:fs";
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

const partners = "新合伙人对入伙前合伙企业的债务承担无限连带责任。";
const checkups = "职业健康检查费用由用人单位承担。用人单位不得安排有职业禁忌的劳动者从事其所禁忌的作业。";
const liberty = "侵犯公民人身自由的，每日赔偿金按照国家上年度职工日平均工资计算。";
const endorsement = "背书不得附有条件。背书时附有条件的，所附条件不具有汇票上的效力。";
const support = "赡养人不得以放弃继承权或者其他理由，拒绝履行赡养义务。";
const pregnancy =
  "女职工在怀孕以及依法享受产假期间，劳动（聘用）合同或者服务协议期满的，劳动（聘用）合同或者服务协议期限自动延续至产假结束。";
const tours =
  "未达到约定人数的，可以解除合同。但是，境内旅游应当至少提前七日通知旅游者，出境旅游应当至少提前三十日通知旅游者。";
const licence = "行政机关应当在有效期届满前作出是否准予延续的决定；逾期未作决定的，视为准予延续。";
const succession = "法定继承，适用被继承人死亡时经常居所地法律，但不动产法定继承，适用不动产所在地法律。";
const felons =
  "有下列情形之一的，不予颁发律师执业证书：\n（一）无民事行为能力的；\n（二）受过刑事处罚的，但过失犯罪的除外。";
const partnersCount = "有限合伙企业由二个以上五十个以下合伙人设立；但是，法律另有规定的除外。";
const gifts =
  "赠与人在赠与财产的权利转移之前可以撤销赠与。\n经过公证的赠与合同或者依法不得撤销的赠与合同，不适用前款规定。";
const accounts = "金融机构不得为身份不明的客户提供服务或者与其进行交易，不得为客户开立匿名账户或者假名账户。";
const permit = "建设单位应当自领取施工许可证之日起三个月内开工。";
const holders = "限制民事行为能力人在票据上签章的，其签章无效，但是不影响其他签章的效力。";
const mandate = "委托人或者受托人可以随时解除委托合同。有偿委托合同的解除方应当赔偿对方的直接损失。";

const disclaimer = "拍卖人、委托人在拍卖前声明不能保证拍卖标的的真伪或者品质的，不承担瑕疵担保责任。";
const offices = "董事、高级管理人员不得兼任监事。";
const instalments =
  "买受人未支付到期价款的数额达到全部价款的五分之一，经催告后在合理期限内仍未支付到期价款的，出卖人可以解除合同。";
const openings = "公众聚集场所未经消防救援机构许可的，不得投入使用、营业。";
const fine = "由人民法院判决给予五百元以上五百万元以下的赔偿。";
const netting = "依照前款规定进行的净额结算，不因交易任何一方依法进入破产程序而中止、无效或者撤销。";
const deeds = "对经公证的债权文书，债务人不履行的，债权人可以依法向有管辖权的人民法院申请执行。";
const boxes =
  "收货人应当在非集装箱货物交付的次日起连续七日内或者集装箱货物交付的次日起连续十五日内，提交书面通知。";

const say = (said: string, article: string) =>
  contradiction(wordsOf(said), wordsOf(article), { cells: 100_000 })?.map(
    ({ kind, text }) => `${kind} ${text}`,
  );

const told: readonly (readonly [said: string, article: string, pieces: readonly string[]])[] = [
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
  ["新合伙人对入伙前的债务仅以其认缴的出资额为限承担责任", partners, ["missing 连带", "added 出资额为限"]],
  ["职业健康检查的费用由劳动者自行承担", checkups, ["missing 由用人单位承担", "added 由劳动者承担"]],
  [
    "赔偿金按照本人被羁押前的日平均工资计算",
    liberty,
    ["missing 国家上年度职工日平均工资", "added 本人被羁押前的日平均工资"],
  ],
  ["背书附有条件的,该背书无效", endorsement, ["missing 所附条件不具有汇票上的效力", "added 该背书无效"]],
  [
    "赡养人放弃继承权的,可以不再履行赡养义务",
    support,
    [`missing ${support.replaceAll(/[，。]/g, "")}`, "added 可以不再履行赡养义务"],
  ],
  [
    "女职工怀孕期间劳动合同期满的,用人单位可以终止合同",
    pregnancy,
    [`missing ${pregnancy.slice(35, -1).replaceAll(/[（）]/g, "")}`, "added 用人单位可以终止合同"],
  ],
  ["出境团未达到约定人数的,旅行社提前七日通知即可解除合同", tours, ["added 七日", "missing 三十日"]],
  ["逾期未作决定的,视为不予延续", licence, ["missing 准", "added 不"]],
  [
    "不动产法定继承适用被继承人死亡时经常居所地法律",
    succession,
    ["missing 适用不动产所在地", "added 适用被继承人死亡时经常居所地"],
  ],
  [
    "受过刑事处罚的人,包括过失犯罪的,均不予颁发律师执业证书",
    felons,
    ["missing 过失犯罪除外", "added 过失犯罪的"],
  ],
  ["合伙人人数为二个以上一百个以下", partnersCount, ["added 一百个", "missing 五十个"]],
  [
    "赠与合同经过公证的,赠与人在权利转移前仍可以撤销",
    gifts,
    ["missing 不适用前款规定", "added 赠与人在权利转移前仍可以撤销"],
  ],
  [
    "作此声明的拍卖人仍应承担瑕疵担保责任",
    disclaimer,
    ["missing 不承担瑕疵担保责任", "added 作此声明的拍卖人仍应承担瑕疵担保责任"],
  ],
  [
    "可以董事身份兼任该公司监事",
    offices,
    ["missing 董事高级管理人员不得兼任监事", "added 可以董事身份兼任该公司监事"],
  ],
  [
    "达到全部价款的五分之一的,出卖人无须催告即可解除合同",
    instalments,
    ["missing 经催告后在合理期限内仍未支付到期价款的", "added 出卖人无须催告即可解除合同"],
  ],
  [
    "并未要求公众聚集场所在营业前取得消防救援机构许可",
    openings,
    ["missing 公众聚集场所未经消防救援机构许可的", "added 并未要求公众聚集场所在营业前取得消防救援机构许可"],
  ],
  ["五百元以上五十万元以下的幅度内判赔", fine, ["added 五十万元", "missing 五百万元"]],
];

test.each(told)("told: %s", (said, article, expected) => {
  expect(say(said, article)).toEqual(expected);
});

const notTold: readonly (readonly [said: string, article: string])[] = [
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
  // Another word for the party, and what the writer adds.
  ["银行不得为身份不明的客户提供服务,也不得开立匿名账户", accounts],
  ["禁止金融机构为客户开立匿名账户或者假名账户", accounts],
  ["领取施工许可证后应当在三个月内开工", permit],
  ["限制行为能力人在汇票上签章的,其签章无效,但不影响其他人签章的效力", holders],
  ["委托人可以随时解除委托合同,但有偿委托的解除方应当赔偿对方的直接损失", mandate],
  ["本案的关键在于,委托人或者受托人可以随时解除委托合同,这一点对方并无异议", mandate],
  ["新合伙人对入伙前合伙企业的债务承担连带责任", partners],
  ["出境旅游至少提前三十日通知,境内旅游至少提前七日通知", tours],
  ["按主协议进行的净额结算,不因交易一方进入破产程序而中止、无效或者被撤销", netting],
  ["赋予强制执行效力的债权文书,债务人不履行的,债权人可以向有管辖权的人民法院申请执行,无须另行起诉", deeds],
  ["收货人应当在集装箱货物交付的次日起连续十五日内提交书面通知", boxes],
  // About something else.
  ["双方应当在十五日内办理变更登记", majority],
];

test.each(notTold)("not told: %s", (said, article) => {
  expect(say(said, article)).toBeUndefined();
});

test("sentences that people wrote are told or not told as they were judged", () => {
  // Of the sentences in proof/strangers and proof/opinions that are judged rightly, those that try different rules.
  const written: readonly { said: string; article: string; told: string[] | null }[] = JSON.parse(
    readFileSync(new URL("../../../../test/retold-sentences.json", import.meta.url), "utf8"),
  );
  for (const { said, article, told } of written)
    expect([said, say(said, article) ?? null]).toEqual([said, told]);
});

/** The same said among other words, and in other signs. */
const pads: readonly ((said: string) => string)[] = [
  (said) => `${said},故应予支持`,
  (said) => said.replaceAll(",", "，"),
  (said) => ` ${said} `,
  (said) => `${said}。原告的请求应予支持。`,
  (said) => `依照该条规定,${said}`,
  (said) => said.replaceAll("人民法院", "法院").replaceAll("或者", "或"),
  (said) => `本案的关键在于,${said},这一点对方并无异议`,
];

test("what is not told is not told whatever stands beside it", () => {
  const wrong = notTold.flatMap(([said, article]) =>
    pads.flatMap((pad) => (say(pad(said), article) === undefined ? [] : [pad(said)])),
  );
  expect(wrong).toEqual([]);
});

test("what is told is told in other signs, and if the writer goes on", () => {
  for (const [said, article, pieces] of told)
    for (const pad of pads.slice(0, 3)) {
      const found = say(pad(said), article);
      // With more words beside it, another part of this article is the nearer one.
      if (article === licence) expect([pad(said), found !== undefined]).toEqual([pad(said), true]);
      else expect([pad(said), found]).toEqual([pad(said), pieces]);
    }
});

test("no sentence is held against an article that says something else", () => {
  const all = [...told, ...notTold];
  const articles = [...new Set(all.map(([, article]) => article))];
  const accused = all.flatMap(([said, own], at) =>
    [1, 7, 13, 22, 31].flatMap((step) => {
      const other = articles[(at + step) % articles.length]!;
      // Both are about a notice within days.
      const isKin = [notice, boxes].includes(own) && [notice, boxes].includes(other);
      return other === own || isKin || say(said, other) === undefined ? [] : [`${said}: ${other}`];
    }),
  );
  expect(accused).toEqual([]);
});
