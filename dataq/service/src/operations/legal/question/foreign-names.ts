/** The laws that people ask for in English or in pinyin: key, English names, pinyin. */
const names: readonly (readonly [law: string, english: string, pinyin: string])[] = [
  ["宪法", "constitution|constitution law", "xianfa"],
  ["民法典", "civil code|civil law", "minfadian|minfa"],
  ["刑法", "criminal law|criminal code|penal code|penal law", "xingfa"],
  ["民事诉讼法", "civil procedure law|civil procedure code", "minshisusongfa|minsufa"],
  ["刑事诉讼法", "criminal procedure law|criminal procedure code", "xingshisusongfa|xingsufa"],
  [
    "行政诉讼法",
    "administrative procedure law|administrative litigation law",
    "xingzhengsusongfa|xingsongfa",
  ],
  [
    "行政处罚法",
    "administrative penalty law|administrative penalties law|administrative punishment law",
    "xingzhengchufafa",
  ],
  [
    "行政许可法",
    "administrative license law|administrative licensing law|administrative permission law",
    "xingzhengxukefa",
  ],
  ["行政复议法", "administrative reconsideration law|administrative review law", "xingzhengfuyifa"],
  [
    "行政强制法",
    "administrative compulsion law|administrative coercion law|administrative enforcement law",
    "xingzhengqiangzhifa",
  ],
  ["国家赔偿法", "state compensation law", "guojiapeichangfa"],
  [
    "治安管理处罚法",
    "public security administration punishments law|public security administration punishment law|public security administration penalties law",
    "zhianguanlichufafa",
  ],
  ["立法法", "legislation law", "lifafa"],
  ["公务员法", "civil servant law|civil servants law", "gongwuyuanfa"],
  ["监察法", "supervision law", "jianchafa"],
  ["劳动法", "labor law|labour law", "laodongfa"],
  ["劳动合同法", "labor contract law|labour contract law|employment contract law", "laodonghetongfa"],
  [
    "劳动争议调解仲裁法",
    "labor dispute mediation and arbitration law|labour dispute mediation and arbitration law",
    "laodongzhengyitiaojiezhongcaifa",
  ],
  ["社会保险法", "social insurance law", "shehuibaoxianfa"],
  ["就业促进法", "employment promotion law", "jiuyecujinfa"],
  ["工会法", "trade union law", "gonghuifa"],
  ["安全生产法", "work safety law|production safety law|safe production law", "anquanshengchanfa"],
  [
    "职业病防治法",
    "occupational disease prevention law|occupational diseases prevention and control law",
    "zhiyebingfangzhifa",
  ],
  ["公司法", "company law|companies law|corporate law", "gongsifa"],
  ["合伙企业法", "partnership enterprise law|partnership law", "hehuoqiyefa"],
  ["个人独资企业法", "sole proprietorship enterprise law|sole proprietorship law", "gerenduziqiyefa"],
  ["企业破产法", "enterprise bankruptcy law|bankruptcy law", "qiyepochanfa|pochanfa"],
  ["外商投资法", "foreign investment law", "waishangtouzifa"],
  ["民营经济促进法", "private economy promotion law|private sector promotion law", "minyingjingjicujinfa"],
  ["证券法", "securities law", "zhengquanfa"],
  ["证券投资基金法", "securities investment fund law", "zhengquantouzijijinfa"],
  ["商业银行法", "commercial bank law|commercial banks law|commercial banking law", "shangyeyinhangfa"],
  ["保险法", "insurance law", "baoxianfa"],
  ["票据法", "negotiable instruments law|negotiable instrument law|bills law", "piaojufa"],
  ["信托法", "trust law", "xintuofa"],
  ["海商法", "maritime law|maritime code|maritime commercial law", "haishangfa"],
  ["拍卖法", "auction law", "paimaifa"],
  ["招标投标法", "bidding law|tendering and bidding law|tender and bidding law", "zhaobiaotoubiaofa"],
  ["政府采购法", "government procurement law", "zhengfucaigoufa"],
  ["反垄断法", "anti-monopoly law|antimonopoly law|anti monopoly law|antitrust law", "fanlongduanfa"],
  [
    "反不正当竞争法",
    "anti-unfair competition law|anti unfair competition law|unfair competition law",
    "fanbuzhengdangjingzhengfa",
  ],
  ["反洗钱法", "anti-money laundering law|anti money laundering law", "fanxiqianfa"],
  [
    "反电信网络诈骗法",
    "anti-telecom and online fraud law|anti-telecom fraud law",
    "fandianxinwangluozhapianfa",
  ],
  [
    "消费者权益保护法",
    "consumer protection law|consumer rights protection law|consumer rights and interests protection law|protection of consumer rights and interests law|law on the protection of consumer rights and interests",
    "xiaofeizhequanyibaohufa|xiaofa",
  ],
  ["产品质量法", "product quality law", "chanpinzhiliangfa"],
  ["食品安全法", "food safety law", "shipinanquanfa"],
  ["药品管理法", "drug administration law|pharmaceutical administration law", "yaopinguanlifa"],
  ["电子商务法", "e-commerce law|ecommerce law|e commerce law|electronic commerce law", "dianzishangwufa"],
  ["电子签名法", "electronic signature law|e-signature law", "dianziqianmingfa"],
  ["广告法", "advertising law|advertisement law", "guanggaofa"],
  ["价格法", "price law|pricing law", "jiagefa"],
  ["旅游法", "tourism law", "lvyoufa|luyoufa"],
  ["个人信息保护法", "personal information protection law|pipl", "gerenxinxibaohufa"],
  ["数据安全法", "data security law|dsl", "shujuanquanfa"],
  ["网络安全法", "cybersecurity law|cyber security law|network security law", "wangluoanquanfa"],
  ["著作权法", "copyright law", "zhuzuoquanfa"],
  ["专利法", "patent law", "zhuanlifa"],
  ["商标法", "trademark law|trade mark law", "shangbiaofa"],
  ["道路交通安全法", "road traffic safety law|road traffic law", "daolujiaotonganquanfa|daojiaofa"],
  [
    "未成年人保护法",
    "protection of minors law|minors protection law|law on the protection of minors",
    "weichengnianrenbaohufa",
  ],
  ["预防未成年人犯罪法", "juvenile delinquency prevention law", "yufangweichengnianrenfanzuifa"],
  [
    "妇女权益保障法",
    "women's rights protection law|protection of women's rights and interests law|law on the protection of women's rights and interests",
    "funvquanyibaozhangfa|funuquanyibaozhangfa",
  ],
  [
    "老年人权益保障法",
    "elderly rights protection law|law on the protection of the rights and interests of the elderly",
    "laonianrenquanyibaozhangfa",
  ],
  [
    "残疾人保障法",
    "protection of disabled persons law|disabled persons protection law",
    "canjirenbaozhangfa",
  ],
  ["反家庭暴力法", "anti-domestic violence law|domestic violence law", "fanjiatingbaolifa"],
  ["义务教育法", "compulsory education law", "yiwujiaoyufa"],
  ["教育法", "education law", "jiaoyufa"],
  ["高等教育法", "higher education law", "gaodengjiaoyufa"],
  ["教师法", "teachers law|teacher law", "jiaoshifa"],
  ["律师法", "lawyers law|lawyer law", "lvshifa|lushifa"],
  ["公证法", "notary law|notarization law", "gongzhengfa"],
  ["仲裁法", "arbitration law", "zhongcaifa"],
  ["人民调解法", "people's mediation law", "renmintiaojiefa"],
  ["法律援助法", "legal aid law", "falvyuanzhufa|faluyuanzhufa"],
  [
    "涉外民事关系法律适用法",
    "law on the application of laws to foreign-related civil relations|foreign-related civil relations law",
    "shewaiminshiguanxifalvshiyongfa",
  ],
  ["土地管理法", "land administration law|land management law", "tudiguanlifa"],
  [
    "城市房地产管理法",
    "urban real estate administration law|urban real estate law|real estate law",
    "chengshifangdichanguanlifa",
  ],
  ["农村土地承包法", "rural land contract law|rural land contracting law", "nongcuntudichengbaofa"],
  ["城乡规划法", "urban and rural planning law|town and country planning law", "chengxiangguihuafa"],
  ["建筑法", "construction law|building law", "jianzhufa"],
  ["环境保护法", "environmental protection law", "huanjingbaohufa"],
  [
    "大气污染防治法",
    "air pollution law|atmospheric pollution law|air pollution prevention and control law",
    "daqiwuranfangzhifa",
  ],
  ["水污染防治法", "water pollution law|water pollution prevention and control law", "shuiwuranfangzhifa"],
  [
    "噪声污染防治法",
    "noise pollution law|noise pollution prevention and control law",
    "zaoshengwuranfangzhifa",
  ],
  [
    "税收征收管理法",
    "tax collection and administration law|tax administration law|tax collection law",
    "shuishouzhengshouguanlifa",
  ],
  ["个人所得税法", "individual income tax law|personal income tax law|iit law", "gerensuodeshuifa"],
  ["企业所得税法", "enterprise income tax law|corporate income tax law|eit law", "qiyesuodeshuifa"],
  ["增值税法", "value-added tax law|value added tax law|vat law", "zengzhishuifa"],
  ["会计法", "accounting law", "kuaijifa"],
  ["审计法", "audit law", "shenjifa"],
  ["海关法", "customs law", "haiguanfa"],
  ["对外贸易法", "foreign trade law", "duiwaimaoyifa"],
  ["出口管制法", "export control law", "chukouguanzhifa"],
  [
    "出境入境管理法",
    "exit and entry administration law|exit-entry administration law|immigration law",
    "chujingrujingguanlifa",
  ],
  ["国籍法", "nationality law", "guojifa"],
  ["居民身份证法", "resident identity card law|id card law", "juminshenfenzhengfa"],
  ["国家安全法", "national security law|state security law", "guojiaanquanfa"],
  ["反间谍法", "anti-espionage law|counterespionage law|counter-espionage law", "fanjiandiefa"],
  ["禁毒法", "narcotics control law|anti-drug law", "jindufa"],
  ["监狱法", "prison law", "jianyufa"],
  ["消防法", "fire protection law|fire control law|fire prevention law", "xiaofangfa"],
  ["医师法", "physicians law|doctors law|medical practitioners law", "yishifa"],
  ["献血法", "blood donation law", "xianxuefa"],
  ["精神卫生法", "mental health law", "jingshenweishengfa"],
  [
    "传染病防治法",
    "infectious diseases law|law on prevention and treatment of infectious diseases",
    "chuanranbingfangzhifa",
  ],
  ["合同法", "contract law", "hetongfa"],
  ["婚姻法", "marriage law", "hunyinfa"],
  ["继承法", "inheritance law|succession law", "jichengfa"],
  ["侵权责任法", "tort law|tort liability law", "qinquanzerenfa"],
  ["物权法", "property law|property rights law", "wuquanfa"],
  ["担保法", "guarantee law|security law", "danbaofa"],
];

const byEnglish = new Map(
  names.flatMap(([law, english]) => english.split("|").map((name) => [plainEnglish(name), law] as const)),
);
const byPinyin = new Map(
  names.flatMap(([law, , pinyin]) => pinyin.split("|").map((name) => [name, law] as const)),
);
const country = "(?:\\s*of\\s+(?:the\\s+)?(?:people'?s\\s+republic\\s+of\\s+china|prc|china))?";
const englishNames = [...byEnglish.keys()].sort((a, b) => b.length - a.length).map(pattern);
const englishName = new RegExp(
  `(?<![a-z])(?:of\\s+)?(?:the\\s+)?(?:(?:prc|china|chinese)(?:'s)?\\s+)?(${englishNames.join("|")})${country}(?![a-z])`,
  "gi",
);
/** A run of pinyin syllables, with or without spaces and tones. */
const latinRun = /[a-z\u00c0-\u01dc][a-z\u00c0-\u01dc' ]*[a-z\u00c0-\u01dc]/gi;
const numbers = "[0-9]{1,4}(?:\\s*(?:[-–,、&]|and)\\s*[0-9]{1,4})*";
const foreignArticle = new RegExp(
  `(?<![a-z])(?:articles?|arts?|section|di|no)\\.?\\s*(${numbers})(?:\\s*tiao)?(?![a-z])|(?<![0-9a-z])([0-9]{1,4})\\s*tiao(?![a-z])`,
  "gi",
);

const articleWord = "(?:articles?|arts?\\.?|section)\\s?";
const lawName = `(?:(?:prc|china|chinese)(?:'s)?\\s)?(${englishNames.join("|")})${country}`;
const englishCitation = new RegExp(
  `(?<![a-z])(?:${articleWord}(${numbers})\\s?(?:of|,)\\s?(?:the\\s)?${lawName}|${lawName},?\\s?${articleWord}(${numbers}))(?![a-z0-9])`,
  "gi",
);

/**
 * Translates laws and articles that a question names in English or pinyin to Chinese: civil code article 577
 * → 《民法典》 第577条.
 */
export function inChinese(text: string): string {
  if (!/[a-z]/i.test(text)) return text;
  const named = text
    .replace(/[’‘]/g, "'")
    .replace(englishName, (_, name: string) => ` 《${byEnglish.get(plainEnglish(name))}》 `)
    .replace(latinRun, pinyinIn);
  if (!/\p{Script=Han}/u.test(named)) return text;
  return named
    .replace(
      foreignArticle,
      (_, list: string | undefined, only: string | undefined) =>
        ` 第${(list ?? only ?? "").replace(/\s*(?:[,&]|and)\s*/g, "、")}条 `,
    )
    .replace(/\s+/g, " ")
    .trim();
}

/** A citation in English, and the same in Chinese. */
export interface ForeignCitation {
  readonly from: number;
  readonly to: number;
  readonly chinese: string;
}

/** Finds citations in English anywhere in a long text: Article 577 of the Civil Code; Civil Code, Art. 577. */
export function citationsInEnglish(text: string): ForeignCitation[] {
  if (!/[a-z]{3}/i.test(text)) return [];
  return [...text.matchAll(englishCitation)].map((found) => {
    const [written, before, lawAfter, lawBefore, after] = found;
    const law = byEnglish.get(plainEnglish(lawAfter ?? lawBefore ?? "")) ?? "";
    const list = (before ?? after ?? "").replace(/\s*(?:[,&]|and)\s*/g, "、");
    return { from: found.index, to: found.index + written.length, chinese: `《${law}》第${list}条` };
  });
}

/** Replaces the longest sequence of syllables that is a law's name. */
function pinyinIn(run: string): string {
  const syllables = run.split(" ");
  for (let count = syllables.length; count > 0; count--)
    for (let from = 0; from + count <= syllables.length; from++) {
      const law = byPinyin.get(plainPinyin(syllables.slice(from, from + count).join("")));
      if (law === undefined) continue;
      const before = syllables.slice(0, from).join(" ");
      const after = syllables.slice(from + count).join(" ");
      return ` ${before} 《${law}》 ${after} `;
    }
  return run;
}

function plainPinyin(text: string): string {
  return text
    .toLowerCase()
    .normalize("NFD")
    .replace(/u\u0308/g, "v")
    .replace(/[^a-z]/g, "");
}

function plainEnglish(name: string): string {
  return name
    .toLowerCase()
    .replace(/'/g, "")
    .replace(/[\s-]+/g, " ");
}

function pattern(name: string): string {
  return name.replace(/ /g, "[\\s-]+").replace(/s(?=\[|$)/g, "'?s");
}
