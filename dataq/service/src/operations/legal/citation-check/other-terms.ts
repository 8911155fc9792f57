import { type Comparison, type Piece, type Words, wordsOf } from "./compare.ts";

/**
 * A sentence that has an article nearly word for word, but another term in the place of one of the article's: 国务院 for
 * 全国人民代表大会, 作出 for 收到. Or a term that narrows or widens the rule is added or left out: 重大 before 过失.
 */
export function otherTerm(
  said: Words,
  article: Words,
  { pieces, similarity }: Comparison,
): readonly Piece[] | undefined {
  if (said.units.length < shortestSentence || similarity < leastSimilarity) return undefined;
  const list = pieces.map((piece) => ({ ...piece, units: wordsOf(piece.text).units }));
  for (const [place, piece] of list.entries()) {
    const next = list[place + 1];
    if (list[place - 1] !== undefined && list[place - 1]!.kind !== "same") continue;
    const isChange = piece.kind === "missing" && next?.kind === "added";
    const [left, right] = [list[place - 1], list[place + (isChange ? 2 : 1)]];
    if (!isHeldBy(left, right)) continue;
    if (isChange) {
      // Words over a mark are another wording of the sentence, not another term.
      if (mark.test(piece.text) || mark.test(next.text)) continue;
      if (isClause(piece.text, article.text) || isClause(next.text, said.text)) continue;
      if (startsClause(next.text, said.text) !== startsClause(piece.text, article.text)) continue;
      if (!isOtherTerm(piece.units, next.units, article)) continue;
      return [piece, next].map(({ kind, text }) => ({ kind, text }));
    }
    if (left === undefined || right === undefined || !qualifiers.has(piece.units)) continue;
    if (Math.min(left.units.length, right.units.length) < leastOnBothSides) continue;
    return [{ kind: piece.kind, text: piece.text }];
  }
  return undefined;
}

/** Whether words are a whole clause: then it is another one, or the writer's own. */
function isClause(words: string, text: string): boolean {
  const at = text.indexOf(words);
  if (at === -1) return false;
  const [before, after] = [text[at - 1], text[at + words.length]];
  return (before === undefined || mark.test(before)) && (after === undefined || mark.test(after));
}

function startsClause(words: string, text: string): boolean {
  const at = text.indexOf(words);
  return at <= 0 || mark.test(text[at - 1] as string);
}

interface Unit extends Piece {
  readonly units: string;
}

/** Whether the words on both sides show that the same place is meant. */
function isHeldBy(left: Unit | undefined, right: Unit | undefined): boolean {
  const [before, after] = [left?.units.length ?? 0, right?.units.length ?? 0];
  return before + after >= leastBeside && Math.max(before, after) >= leastOnOneSide;
}

function isOtherTerm(theirs: string, mine: string, article: Words): boolean {
  if (mine.length > longestTerm || theirs.length > longestTerm) return false;
  // What is denied is compared where it stands.
  if (denial.test(theirs) !== denial.test(mine)) return false;
  const [a, b] = [plain(theirs), plain(mine)];
  if (a.length < 2 || b.length < 2 || a.includes(b) || b.includes(a)) return false;
  const [who, whom] = [theirs, mine].map((words) => words.replaceAll(beside, "")) as [string, string];
  if (everyday.test(whom) && party.test(who)) return false;
  if (!isSameClass(a, b, theirs, mine)) return false;
  // The writer took the word from another place of the article.
  return !article.units.includes(mine) && /\p{Script=Han}/u.test(a) && !isNumber(a) && !isNumber(b);
}

/**
 * Whether both name a thing of one class, of which a rule has one: an authority, a party, an event, a quantity. Other
 * words may be just the writer's.
 */
function isSameClass(a: string, b: string, theirs: string, mine: string): boolean {
  if (
    /[一二三四五六七八九十百千万]+(?:[个日年月倍元名人次天]|分之|周岁|小时)/.test(a) ||
    qualifiers.has(a) ||
    qualifiers.has(b)
  )
    return true;
  if (anyParty.test(whole(mine)) || anyParty.test(whole(theirs))) return false;
  return classes.some((each) => each.test(whole(theirs)) && each.test(whole(mine)));
}

function whole(words: string): string {
  return words.replaceAll(beside, "");
}

const anyParty = /^(?:双方|各方|当事人|一方|对方|其|他人|本人|自己|权利人|义务人|相关方|有关方面)$/;
const classes: readonly RegExp[] = [
  /(?:机关|部门|政府|委员会|法院|检察院|国务院|大会|机构|局|院|常委会|村民会议|居民会议)$/,
  /(?:人|者|股东|董事|监事|经理|债权人|合伙人|职工|会员|股东会|董事会|监事会|配偶|父母|子女)$/,
  /^(?:之日|自)?(?:作出|收到|接到|送达|成立|生效|届满|申请|签订|交付|登记|公告|发生|知道|支付|受理|提出|订立|完成|终止|解除|到期|发布|公布|颁发|取得)/,
  /(?:作出|收到|接到|送达|成立|生效|届满|申请|签订|交付|登记|公告|发生|支付|受理|订立|完成|终止|解除|到期)$/,
  /(?:书面|口头|公开|不公开)/,
  /(?:有期徒刑|无期徒刑|死刑|拘役|管制|拘留|罚款|罚金|警告|没收财产|责令改正|吊销[^,]*)$/,
  /(?:权|罪|税|费|罚)$/,
  /(?:所在地|住所地|行为地|履行地|登记地|居所地|营业地|结果地)$/,
];

function isNumber(text: string): boolean {
  return /^[零一二两三四五六七八九十百千万亿半第条款项]+$/.test(text);
}

/** Without the words that a writer may exchange freely, and with one word for those that say the same. */
function plain(units: string): string {
  let text = units.replaceAll("两", "二");
  for (const [words, one] of sameWords) text = text.replaceAll(words, one);
  return text.replaceAll(free, "");
}
/** Who it is in the case, for whom the law names: 银行 for 金融机构. */
const everyday =
  /^[该本我贵]?(?:(?:保险|信托|证券|快递|物业|劳务)?公司|银行|平台|网站|app|商场|酒店|宾馆|餐厅|学校|医院|开发商|商家|店铺|厂家|工厂|企业|单位|房东|租客|业主|员工|职工|工人|夫妻|丈夫|妻子|孩子|子女|老人|家长|司机|乘客|医生|律师|代理人|顾客|用户|客户|买家|卖家)$/i;
const denial = /不[得能应可予]|无[须需]|禁止/;
const party = /(?:人|者|方|机构|单位|企业|组织|公司|公民|主体|一方|当事人)$/;

const mark = /[,，。;；:：、\n]/;
const free =
  /人民|或者|以及|应当|必须|需要|但是|可以|有权|能够|以内|之内|进行|予以|给予|有关|相关|[的之其该此本所应须需可能得或及和与并且者于在由对向就按被将把内]/g;
const sameWords: readonly (readonly [RegExp, string])[] = [
  [/要求/g, "请求"],
  [/给付|偿付/g, "支付"],
  [/期限|时限/g, "期间"],
  [/期满/g, "届满"],
  [/损害/g, "损失"],
  [/订立/g, "签订"],
  [/知悉|得知/g, "知道"],
  [/告知/g, "通知"],
  [/款项|金额|数额/g, "款"],
  [/履行/g, "执行"],
  [/负担|负有/g, "承担"],
  [/案件/g, "案"],
  [/提起/g, "提出"],
  [/计算|起算/g, "算"],
  [/之日起|之日后|以后|之后|日起/g, "后"],
];

const qualifiers = new Set([
  "书面",
  "重大",
  "严重",
  "全体",
  "全部",
  "部分",
  "连续",
  "故意",
  "直接",
  "口头",
  "公开",
  "必须",
  "一致",
]);
const shortestSentence = 12;
const leastSimilarity = 0.8;
/** Words beside a party. */
const beside = /将|或者?|应当?|必?须|不[得能应]?|可以?|能|未|给予|予以|依照|按照?|请求|要求/g;
const leastBeside = 8;
const leastOnOneSide = 4;
const leastOnBothSides = 3;
const longestTerm = 8;
