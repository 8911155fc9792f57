/** The effective date of an amending act that no pack states. */
interface Decision {
  /** Date on which the act was passed. For acts of the State Council: date of publication. */
  readonly passed: string;
  readonly effective: string;
  /** The act, as the laws' own histories name it, or its number. */
  readonly source: string;
  /** The laws that the act amends, without 中华人民共和国. If omitted: every law whose history names the act. */
  readonly laws?: readonly string[];
  /** Part of the act's name as the histories of laws quote it. */
  readonly named?: string;
  /** The level of the laws that an act without `laws` amends. */
  readonly level?: string;
  /** The articles that the act changes, if all of them are known. */
  readonly articles?: readonly string[];
}

export interface Amended {
  /** The law's name in the form of `lawKey`. */
  readonly law: string;
  /** 行政法规, or another level. */
  readonly level: string | null;
  readonly passed: string;
  /** The line of the law's history for that date; null if the pack lacks it. */
  readonly line: string | null;
}

/** Returns the effective date; null if the act is not in the table. */
export function effectiveDateOfDecision({ law, level, passed, line }: Amended): string | null {
  const matches = (decision: Decision) =>
    decision.passed === passed &&
    (decision.laws === undefined
      ? (line?.includes(decision.named ?? "") ?? level === decision.level)
      : decision.laws.includes(law));
  return decisions.find(matches)?.effective ?? null;
}

/** Acts on a law for which the table lists the articles. */
export function decisionsOn(law: string): readonly Decision[] {
  return decisions.filter(({ laws, articles }) => articles !== undefined && laws?.includes(law) === true);
}

/**
 * Effective dates from the last sentence of each act, as printed in the gazette of the Standing Committee
 * (全国人民代表大会常务委员会公报) or of the State Council (国务院公报): 本决定自…起施行, or 本决定自公布之日起施行 for the same day.
 */
export const decisions: readonly Decision[] = [
  {
    passed: "1998-12-29",
    effective: "1998-12-29",
    source: "《全国人民代表大会常务委员会关于惩治骗购外汇、逃汇和非法买卖外汇犯罪的决定》",
    laws: ["刑法"],
    articles: ["190"],
  },
  {
    passed: "2001-02-28",
    effective: "2001-02-28",
    source: "《关于修改〈中华人民共和国民族区域自治法〉的决定》",
    laws: ["民族区域自治法"],
  },
  {
    passed: "2003-12-27",
    effective: "2004-02-01",
    source: "《关于修改〈中华人民共和国中国人民银行法〉的决定》",
    laws: ["中国人民银行法"],
  },
  {
    passed: "2004-08-28",
    effective: "2004-08-28",
    source: "《关于修改〈中华人民共和国票据法〉的决定》；《关于修改〈中华人民共和国学位条例〉的决定》",
    laws: ["票据法", "学位条例"],
  },
  {
    passed: "2006-10-31",
    effective: "2007-01-01",
    source: "《关于修改〈中华人民共和国银行业监督管理法〉的决定》",
    laws: ["银行业监督管理法"],
  },
  {
    passed: "2009-08-27",
    effective: "2009-08-27",
    source: "《全国人民代表大会常务委员会关于修改部分法律的决定》",
    laws: ["刑法"],
    articles: ["381", "410"],
  },
  {
    passed: "2009-08-27",
    effective: "2009-08-27",
    source: "《关于修改部分法律的决定》",
    laws: [
      "人民警察警衔条例",
      "集会游行示威法",
      "人民防空法",
      "全民所有制工业企业法",
      "归侨侨眷权益保护法",
      "教师法",
      "矿山安全法",
      "进出境动植物检疫法",
      "矿产资源法",
    ],
  },
  {
    passed: "2009-08-27",
    effective: "2009-08-27",
    source: "《关于修改部分法律的决定》",
    named: "关于修改部分法律的决定",
  },
  {
    passed: "2009-12-26",
    effective: "2010-04-01",
    source: "《关于修改〈中华人民共和国可再生能源法〉的决定》",
    laws: ["可再生能源法"],
  },
  {
    passed: "2011-10-29",
    effective: "2012-01-01",
    source: "《关于修改〈中华人民共和国居民身份证法〉的决定》",
    laws: ["居民身份证法"],
  },
  {
    passed: "2012-02-29",
    effective: "2012-07-01",
    source: "《关于修改〈中华人民共和国清洁生产促进法〉的决定》",
    laws: ["清洁生产促进法"],
  },
  {
    passed: "2012-08-31",
    effective: "2013-01-01",
    source:
      "《关于修改〈中华人民共和国农业技术推广法〉的决定》；《关于修改〈中华人民共和国民事诉讼法〉的决定》",
    laws: ["农业技术推广法", "民事诉讼法"],
  },
  {
    passed: "2012-10-26",
    effective: "2013-01-01",
    source: "《关于修改〈中华人民共和国监狱法〉的决定》，及同日修改其余六部法律的决定",
    laws: [
      "监狱法",
      "国家赔偿法",
      "人民警察法",
      "治安管理处罚法",
      "律师法",
      "预防未成年人犯罪法",
      "未成年人保护法",
    ],
  },
  {
    passed: "2012-12-28",
    effective: "2013-01-01",
    source: "《关于修改〈中华人民共和国农业法〉的决定》",
    laws: ["农业法"],
  },
  {
    passed: "2012-12-28",
    effective: "2013-07-01",
    source: "《关于修改〈中华人民共和国劳动合同法〉的决定》",
    laws: ["劳动合同法"],
    articles: ["57", "63", "66", "92"],
  },
  {
    passed: "2013-10-25",
    effective: "2014-03-15",
    source: "《关于修改〈中华人民共和国消费者权益保护法〉的决定》",
    laws: ["消费者权益保护法"],
  },
  {
    passed: "2013-12-28",
    effective: "2014-03-01",
    source: "《关于修改〈中华人民共和国海洋环境保护法〉等七部法律的决定》",
    laws: ["公司法"],
  },
  {
    passed: "2013-12-28",
    effective: "2013-12-28",
    source: "《关于修改〈中华人民共和国海洋环境保护法〉等七部法律的决定》",
    laws: ["渔业法"],
  },
  {
    passed: "2014-08-31",
    effective: "2014-08-31",
    source: "《关于修改〈中华人民共和国保险法〉等五部法律的决定》",
    laws: ["政府采购法", "注册会计师法"],
  },
  {
    passed: "2015-03-15",
    effective: "2015-03-15",
    source: "《关于修改〈中华人民共和国立法法〉的决定》",
    laws: ["立法法"],
  },
  {
    passed: "2015-04-24",
    effective: "2015-04-24",
    source:
      "《关于修改〈中华人民共和国计量法〉等五部法律的决定》；《关于修改〈中华人民共和国港口法〉等七部法律的决定》；《关于修改〈中华人民共和国电力法〉等六部法律的决定》；《关于修改〈中华人民共和国义务教育法〉等五部法律的决定》",
    laws: [
      "保险法",
      "就业促进法",
      "拍卖法",
      "枪支管理法",
      "烟草专卖法",
      "税收征收管理法",
      "证券投资基金法",
      "邮政法",
      "铁路法",
      "畜牧法",
    ],
  },
  {
    passed: "2015-08-29",
    effective: "2015-10-01",
    source: "《关于修改〈中华人民共和国促进科技成果转化法〉的决定》",
    laws: ["促进科技成果转化法"],
  },
  {
    passed: "2016-07-02",
    effective: "2016-07-02",
    source: "《关于修改〈中华人民共和国节约能源法〉等六部法律的决定》",
    laws: ["水法", "航道法", "防洪法"],
  },
  {
    passed: "2016-11-07",
    effective: "2016-11-07",
    source: "《关于修改〈中华人民共和国对外贸易法〉等十二部法律的决定》",
    laws: ["气象法", "煤炭法", "对外贸易法", "体育法"],
  },
  {
    passed: "2017-06-27",
    effective: "2017-07-01",
    source: "《关于修改〈中华人民共和国民事诉讼法〉和〈中华人民共和国行政诉讼法〉的决定》",
    laws: ["行政诉讼法", "民事诉讼法"],
  },
  {
    passed: "2017-06-27",
    effective: "2018-01-01",
    source: "《关于修改〈中华人民共和国水污染防治法〉的决定》",
    laws: ["水污染防治法"],
  },
  {
    passed: "2017-09-01",
    effective: "2018-01-01",
    source: "《关于修改〈中华人民共和国法官法〉等八部法律的决定》",
    laws: ["仲裁法", "公证法", "律师法", "行政复议法"],
  },
  {
    passed: "2017-11-04",
    effective: "2017-11-05",
    source: "《关于修改〈中华人民共和国会计法〉等十一部法律的决定》",
    laws: ["公路法", "境外非政府组织境内活动管理法", "母婴保健法", "会计法", "文物保护法", "海洋环境保护法"],
  },
  {
    passed: "2017-12-27",
    effective: "2017-12-28",
    source: "《关于修改〈中华人民共和国招标投标法〉、〈中华人民共和国计量法〉的决定》",
    laws: ["招标投标法"],
  },
  {
    passed: "2018-04-27",
    effective: "2018-04-27",
    source: "《关于修改〈中华人民共和国国境卫生检疫法〉等六部法律的决定》",
    laws: ["反恐怖主义法", "国家情报法", "精神卫生法", "国境卫生检疫法", "国防教育法"],
  },
  {
    passed: "2018-08-31",
    effective: "2019-01-01",
    source: "《关于修改〈中华人民共和国个人所得税法〉的决定》",
    laws: ["个人所得税法"],
  },
  {
    passed: "2018-10-26",
    effective: "2018-10-26",
    source:
      "《关于修改〈中华人民共和国野生动物保护法〉等十五部法律的决定》；《关于修改〈中华人民共和国公司法〉的决定》；《关于修改〈中华人民共和国刑事诉讼法〉的决定》",
    laws: [
      "公司法",
      "刑事诉讼法",
      "公共图书馆法",
      "农业机械化促进法",
      "大气污染防治法",
      "循环经济促进法",
      "旅游法",
      "残疾人保障法",
      "船舶吨税法",
      "节约能源法",
      "计量法",
      "防沙治沙法",
      "野生动物保护法",
      "农产品质量安全法",
      "妇女权益保障法",
      "环境保护税法",
    ],
  },
  {
    passed: "2018-12-29",
    effective: "2019-01-01",
    source: "《关于修改〈中华人民共和国农村土地承包法〉的决定》",
    laws: ["农村土地承包法"],
  },
  {
    passed: "2018-12-29",
    effective: "2018-12-29",
    source:
      "《关于修改〈中华人民共和国劳动法〉等七部法律的决定》；《关于修改〈中华人民共和国电力法〉等四部法律的决定》；《关于修改〈中华人民共和国产品质量法〉等五部法律的决定》；《关于修改〈中华人民共和国村民委员会组织法〉〈中华人民共和国城市居民委员会组织法〉的决定》；《关于修改〈中华人民共和国社会保险法〉的决定》",
    laws: [
      "义务教育法",
      "产品质量法",
      "企业所得税法",
      "劳动法",
      "民办教育促进法",
      "港口法",
      "环境影响评价法",
      "电力法",
      "社会保险法",
      "老年人权益保障法",
      "职业病防治法",
      "预算法",
      "高等教育法",
      "村民委员会组织法",
      "城市居民委员会组织法",
    ],
  },
  {
    passed: "2019-04-23",
    effective: "2019-11-01",
    source: "《关于修改〈中华人民共和国建筑法〉等八部法律的决定》",
    laws: ["商标法"],
  },
  {
    passed: "2019-04-23",
    effective: "2019-04-23",
    source: "《关于修改〈中华人民共和国建筑法〉等八部法律的决定》",
    laws: ["城乡规划法", "建筑法", "电子签名法", "行政许可法", "车船税法", "反不正当竞争法"],
  },
  {
    passed: "2019-08-26",
    effective: "2020-01-01",
    source: "《关于修改〈中华人民共和国土地管理法〉、〈中华人民共和国城市房地产管理法〉的决定》",
    laws: ["土地管理法", "城市房地产管理法"],
  },
  {
    passed: "2019-12-28",
    effective: "2020-01-01",
    source: "《关于修改〈中华人民共和国台湾同胞投资保护法〉的决定》",
    laws: ["台湾同胞投资保护法"],
  },
  {
    passed: "2020-10-17",
    effective: "2020-10-18",
    source: "《关于修改〈中华人民共和国全国人民代表大会和地方各级人民代表大会选举法〉的决定》",
    laws: ["全国人民代表大会和地方各级人民代表大会选举法"],
  },
  {
    passed: "2020-10-17",
    effective: "2021-06-01",
    source: "《关于修改〈中华人民共和国专利法〉的决定》",
    laws: ["专利法"],
  },
  {
    passed: "2020-10-17",
    effective: "2021-01-01",
    source: "《关于修改〈中华人民共和国国徽法〉的决定》；《关于修改〈中华人民共和国国旗法〉的决定》",
    laws: ["国徽法", "国旗法"],
  },
  {
    passed: "2020-11-11",
    effective: "2021-06-01",
    source: "《关于修改〈中华人民共和国著作权法〉的决定》",
    laws: ["著作权法"],
  },
  {
    passed: "2020-12-26",
    effective: "2021-03-01",
    source: "《中华人民共和国刑法修正案（十一）》",
    laws: ["刑法"],
  },
  {
    passed: "2021-03-11",
    effective: "2021-03-12",
    source:
      "《关于修改〈中华人民共和国全国人民代表大会组织法〉的决定》；《关于修改〈中华人民共和国全国人民代表大会议事规则〉的决定》",
    laws: ["全国人民代表大会组织法", "全国人民代表大会议事规则"],
  },
  {
    passed: "2021-04-29",
    effective: "2021-04-30",
    source: "《关于修改〈中华人民共和国教育法〉的决定》",
    laws: ["教育法"],
  },
  {
    passed: "2021-04-29",
    effective: "2021-04-29",
    source: "《关于修改〈中华人民共和国道路交通安全法〉等八部法律的决定》",
    laws: [
      "广告法",
      "民用航空法",
      "海关法",
      "消防法",
      "草原法",
      "进出口商品检验法",
      "道路交通安全法",
      "食品安全法",
    ],
  },
  {
    passed: "2021-06-10",
    effective: "2021-09-01",
    source: "《关于修改〈中华人民共和国安全生产法〉的决定》",
    laws: ["安全生产法"],
  },
  {
    passed: "2021-08-20",
    effective: "2021-08-20",
    source: "《关于修改〈中华人民共和国人口与计划生育法〉的决定》",
    laws: ["人口与计划生育法"],
  },
  {
    passed: "2021-10-23",
    effective: "2022-01-01",
    source: "《关于修改〈中华人民共和国审计法〉的决定》",
    laws: ["审计法"],
  },
  {
    passed: "2021-12-24",
    effective: "2022-01-01",
    source: "《关于修改〈中华人民共和国民事诉讼法〉的决定》；《关于修改〈中华人民共和国工会法〉的决定》",
    laws: ["工会法", "民事诉讼法"],
  },
  {
    passed: "2021-12-24",
    effective: "2022-03-01",
    source: "《关于修改〈中华人民共和国种子法〉的决定》",
    laws: ["种子法"],
  },
  {
    passed: "2022-03-11",
    effective: "2022-03-12",
    source: "《关于修改〈中华人民共和国地方各级人民代表大会和地方各级人民政府组织法〉的决定》",
    laws: ["地方各级人民代表大会和地方各级人民政府组织法"],
  },
  {
    passed: "2022-06-24",
    effective: "2022-08-01",
    source: "《关于修改〈中华人民共和国反垄断法〉的决定》",
    laws: ["反垄断法"],
  },
  {
    passed: "2022-06-24",
    effective: "2022-06-25",
    source: "《关于修改〈中华人民共和国全国人民代表大会常务委员会议事规则〉的决定》",
    laws: ["全国人民代表大会常务委员会议事规则"],
  },
  {
    passed: "2022-12-30",
    effective: "2022-12-30",
    source: "《关于修改〈中华人民共和国对外贸易法〉的决定》",
    laws: ["对外贸易法"],
  },
  {
    passed: "2023-03-13",
    effective: "2023-03-15",
    source: "《关于修改〈中华人民共和国立法法〉的决定》",
    laws: ["立法法"],
  },
  {
    passed: "2023-09-01",
    effective: "2024-01-01",
    source: "《关于修改〈中华人民共和国民事诉讼法〉的决定》",
    laws: ["民事诉讼法"],
  },
  {
    passed: "2023-12-29",
    effective: "2024-03-01",
    source: "《中华人民共和国刑法修正案（十二）》",
    laws: ["刑法"],
  },
  {
    passed: "2023-12-29",
    effective: "2024-09-05",
    source: "《关于修改〈中华人民共和国慈善法〉的决定》",
    laws: ["慈善法"],
  },
  {
    passed: "2024-04-26",
    effective: "2024-04-26",
    source:
      "《关于修改〈中华人民共和国农业技术推广法〉、〈中华人民共和国未成年人保护法〉、〈中华人民共和国生物安全法〉的决定》",
    laws: ["农业技术推广法", "未成年人保护法", "生物安全法"],
  },
  {
    passed: "2024-06-28",
    effective: "2024-07-01",
    source: "《关于修改〈中华人民共和国会计法〉的决定》",
    laws: ["会计法"],
  },
  {
    passed: "2024-09-13",
    effective: "2024-09-13",
    source: "《关于修改〈中华人民共和国统计法〉的决定》",
    laws: ["统计法"],
  },
  {
    passed: "2024-12-25",
    effective: "2025-06-01",
    source: "《关于修改〈中华人民共和国监察法〉的决定》",
    laws: ["监察法"],
  },
  regulations("2011-01-08", "2011-01-08", 588),
  regulations("2012-11-09", "2013-01-01", 628),
  regulations("2013-07-18", "2013-07-18", 638),
  regulations("2013-12-07", "2013-12-07", 645),
  regulations("2014-02-19", "2014-03-01", 648),
  regulations("2014-07-29", "2014-07-29", 653),
  regulations("2016-02-06", "2016-02-06", 666),
  regulations("2017-03-01", "2017-03-01", 676),
  regulations("2017-10-07", "2017-10-07", 687),
  regulations("2017-11-17", "2017-11-17", 690),
  regulations("2018-03-19", "2018-03-19", 698),
  regulations("2018-09-18", "2018-09-18", 703),
  regulations("2019-03-02", "2019-03-02", 709),
  regulations("2019-03-24", "2019-03-24", 710),
  regulations("2019-04-23", "2019-04-23", 714),
  regulations("2020-03-27", "2020-03-27", 726),
  regulations("2020-11-29", "2020-11-29", 732),
  regulations("2022-03-29", "2022-05-01", 752),
  regulations("2023-07-20", "2023-07-20", 764),
  {
    passed: "2004-03-31",
    effective: "2004-06-01",
    source: "国务院令第401号、第402号、第403号",
    laws: ["反倾销条例", "反补贴条例", "保障措施条例"],
  },
  {
    passed: "2013-01-30",
    effective: "2013-03-01",
    source: "国务院令第632号、第633号、第634号",
    laws: ["著作权法实施条例", "信息网络传播权保护条例", "计算机软件保护条例"],
  },
  // Five acts of the same day brought the interpretations into line with the Civil Code.
  {
    passed: "2020-12-29",
    effective: "2021-01-01",
    source: "法释〔2020〕17号至21号",
    named: "司法解释的决定",
    level: "司法解释",
  },
  { passed: "2017-11-19", effective: "2017-11-19", source: "国务院令第691号", laws: ["增值税暂行条例"] },
  {
    passed: "2023-12-11",
    effective: "2024-01-20",
    source: "《国务院关于修改〈中华人民共和国专利法实施细则〉的决定》",
    laws: ["专利法实施细则"],
  },
  {
    passed: "2023-12-29",
    effective: "2024-03-01",
    source: "《国务院关于修改〈消耗臭氧层物质管理条例〉的决定》",
    laws: ["消耗臭氧层物质管理条例"],
  },
  {
    passed: "2024-05-26",
    effective: "2024-05-26",
    source: "《国务院关于修改〈国家科学技术奖励条例〉的决定》",
    laws: ["国家科学技术奖励条例"],
  },
  {
    passed: "2024-11-10",
    effective: "2025-01-01",
    source: "《国务院关于修改〈全国年节及纪念日放假办法〉的决定》",
    laws: ["全国年节及纪念日放假办法"],
  },
];

/** The State Council amends many regulations at once: 关于修改和废止部分行政法规的决定. */
function regulations(passed: string, effective: string, order: number): Decision {
  return {
    passed,
    effective,
    source: `国务院令第${order}号`,
    named: "部分行政法规的决定",
    level: "行政法规",
  };
}
