import { sampleJudgment } from "../../src/operations/legal/cases/sample/judgments.ts";

const words = [
  "民间借贷 利息",
  "买卖合同 钢材",
  "离婚 抚养费",
  "盗窃 手机",
  "劳动争议 加班",
  "工程款 优先受偿权",
  "诈骗",
  "商标 服装",
  "交通事故 伤残",
  "租赁 押金",
  "锂电池",
  "微信 聊天记录",
  "笔迹 鉴定",
  "股权转让",
  "工伤",
  "律师费 违约金",
  "送货单 复印件",
  "光伏组件 质量",
  "传票 拒不到庭",
  "审计报告 应收款",
  "公证处 网页",
  "数控机床",
];

export interface Question {
  readonly query: string;
  readonly page: number;
}

/**
 * 200 questions of one to three words. Two in five have a field (court, judge, law, dates), one in five asks for page
 * 10.
 */
export const questions: readonly Question[] = Array.from({ length: 200 }, (_, place) => {
  const { court_name, judges, legal_basis } = sampleJudgment(place * 37);
  const fields = [
    `court:${court_name}`,
    `judge:${judges[0]?.name}`,
    `basis:${legal_basis[0]?.law_name}`,
    "date:2022..2023",
  ];
  const field = place % 5 < 2 ? ` ${fields[place % fields.length]}` : "";
  // Each round adds other words, so that the questions do not read only the same few blocks.
  const further = ["", "", " 证据", " 上诉", " 赔偿", " 合同", " 转账"][Math.floor(place / words.length) % 7];
  return { query: `${words[place % words.length]}${further}${field}`, page: place % 5 === 4 ? 10 : 1 };
});
