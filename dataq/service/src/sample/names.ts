import type { Random } from "./random.ts";

const surnames = [
  ..."王李张刘陈杨黄赵吴周徐孙马朱胡郭何林罗高郑梁谢宋唐许韩冯邓曹彭曾肖田董袁潘蒋蔡余杜叶程苏魏吕丁任沈姚卢姜崔钟谭陆汪范金石廖贾夏韦付方白邹孟熊秦邱江尹薛闫段雷侯龙史陶黎贺顾毛郝龚邵万钱严",
];
const given = [
  ..."伟芳娜敏静丽强磊军洋勇艳杰娟涛明超兰霞平刚桂英华玉萍红建文辉波宁健鑫飞鹏浩宇晨雪梅琳婷璐佳欣怡颖慧莹洁峰亮龙海山林森栋梁国庆春秋月云霖泽睿博彦昊天晓东南北成志远思源",
];

export function personName(random: Random): string {
  const second = random.chance(0.75) ? random.pick(given) : "";
  return `${random.pick(surnames)}${random.pick(given)}${second}`;
}

/** Natural persons in judgments: surname and 某, as courts publish them. */
export function maskedName(random: Random): string {
  return `${random.pick(surnames)}某${random.chance(0.4) ? random.whole(1, 9) : ""}`;
}

const firsts = [
  ..."云海天华中金新安博宏德瑞众恒盛源通达信远嘉美佳和正大东方鼎顺泰康鸿禾启创智易优联捷星辰光",
];
const seconds = [..."图润科创达丰业隆成凯利诚联汇能泽川腾景晟尚航拓维思语集品原力格宸为生华顺信安行合元"];

/** Every name shows that it is a sample. */
export function companyBrand(random: Random): string {
  return `示例${random.pick(firsts)}${random.pick(seconds)}`;
}

export interface Industry {
  readonly word: string;
  readonly name: string;
  readonly scope: readonly string[];
}

export const industries: readonly Industry[] = [
  {
    word: "科技",
    name: "软件和信息技术服务业",
    scope: [
      "软件开发",
      "技术服务、技术开发、技术咨询",
      "信息系统集成服务",
      "计算机软硬件及辅助设备零售",
      "互联网数据服务",
    ],
  },
  {
    word: "商贸",
    name: "批发业",
    scope: ["日用百货销售", "食品销售", "服装服饰批发", "国内贸易代理", "货物进出口"],
  },
  {
    word: "建设工程",
    name: "土木工程建筑业",
    scope: ["各类工程建设活动", "房屋建筑施工", "建筑劳务分包", "园林绿化工程施工", "建筑材料销售"],
  },
  {
    word: "物流",
    name: "道路运输业",
    scope: ["道路货物运输", "国内货物运输代理", "普通货物仓储服务", "装卸搬运", "供应链管理服务"],
  },
  {
    word: "生物医药",
    name: "医药制造业",
    scope: ["药品生产", "医学研究和试验发展", "第二类医疗器械销售", "生物化工产品技术研发"],
  },
  {
    word: "新能源",
    name: "电气机械和器材制造业",
    scope: ["电池制造", "光伏设备及元器件销售", "储能技术服务", "新兴能源技术研发", "充电桩销售"],
  },
  { word: "餐饮管理", name: "餐饮业", scope: ["餐饮管理", "餐饮服务", "食品互联网销售", "外卖递送服务"] },
  {
    word: "文化传媒",
    name: "广播、电视、电影和录音制作业",
    scope: ["组织文化艺术交流活动", "广告设计、代理", "会议及展览服务", "影视制作"],
  },
  {
    word: "精密机械",
    name: "专用设备制造业",
    scope: ["机械设备研发", "机械零件加工", "模具制造", "工业自动控制系统装置制造"],
  },
  {
    word: "农业发展",
    name: "农业",
    scope: ["谷物种植", "蔬菜种植", "农产品初加工", "农业技术推广服务", "水产养殖"],
  },
  {
    word: "教育咨询",
    name: "商务服务业",
    scope: ["教育咨询服务", "企业管理咨询", "图书销售", "人力资源服务"],
  },
  { word: "物业服务", name: "房地产业", scope: ["物业管理", "停车场服务", "家政服务", "建筑物清洁服务"] },
];
