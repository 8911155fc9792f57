import { useData } from "vitepress";

/** What the site says by itself, in English and Chinese. */
const words = {
  copyPage: ["Copy as Markdown", "复制为 Markdown"],
  copied: ["Copied", "已复制"],
  viewPage: ["View as Markdown", "查看 Markdown"],
  print: ["Print", "打印"],
  missing: ["", "此页尚无中文版，以下为英文原文。"],
  older: ["", "英文版在此之后有更新，本页可能尚未反映最新内容。"],
  seeEnglish: ["", "查看英文版"],
  search: ["Search", "搜索"],
  searchFor: ["Search the documentation", "搜索文档"],
  nothingFound: ["Nothing found. Try fewer or other words.", "没有找到。试试更少或别的词。"],
  searchHint: ["↑ ↓ choose, Enter opens, Esc closes", "↑ ↓ 选择，回车打开，Esc 关闭"],
  searchFailed: ["The search could not be loaded. Reload the page.", "搜索未能加载，请刷新页面。"],
  now: ["On this service now", "本服务当前情况"],
  operation: ["operation", "接口"],
  price: ["tokens (repeated)", "点数（重复查询）"],
  held: ["what answers", "数据来源"],
  connector: ["the operator's vendor", "运营方接入的供应商"],
  imported: ["imported records", "已导入的真实数据"],
  sample: ["samples, free", "样例，免费"],
  none: ["not available", "未提供"],
  startTitle: ["Documentation", "文档"],
  startLead: [
    "Two products, served by your own machine. Everything here works without a network.",
    "两个产品，都由您自己的机器提供服务。本站无需联网即可阅读。",
  ],
  dataqLead: [
    "Ask about Chinese law, companies, content, parcels and research through one endpoint. Every record names its source; calls that fail cost nothing.",
    "用一个接口查询法律、企业、内容、快递与科研数据。每条记录都注明来源，失败的调用不收费。",
  ],
  locallmLead: [
    "Run large language models on your own machine, for every client of Ollama, OpenAI and Anthropic.",
    "在本机运行大语言模型，Ollama、OpenAI 与 Anthropic 的客户端都能直接使用。",
  ],
} as const;

/** The words in the language of the page. */
export function useWords(): (name: keyof typeof words) => string {
  const { lang } = useData();
  return (name) => words[name][lang.value === "zh-CN" ? 1 : 0];
}
