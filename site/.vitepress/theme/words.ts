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
  nothingFound: ["Nothing found. Try fewer or other words.", "没有找到，换个词或少写几个词试试。"],
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
  credentials: ["How examples are sent", "示例的发送方式"],
  keyField: ["API key", "API 密钥"],
  keyStays: [
    "Examples below are sent to this server. A key stays in this page until you reload it.",
    "下面的示例会发给本服务。密钥只留在本页，刷新即清除。",
  ],
  makeTestKey: ["Make a free test key", "创建免费测试密钥"],
  withTestKey: [
    "A test key: answers are samples and cost nothing. It ends by itself; a key made here after a day. It stays in this page until you reload it.",
    "测试密钥：返回样例，不收费。在此创建的密钥一天后自动失效；密钥只留在本页，刷新即清除。",
  ],
  withLiveKey: [
    "Calls are charged to this key's account; each says its price first. The key stays in this page until you reload it.",
    "调用从该密钥的账户扣费，发送前会先显示价格。密钥只留在本页，刷新即清除。",
  ],
  signedInAs: ["Signed in as", "已登录："],
  withSession: [
    "Examples are sent from your account, without a key; each says its price first.",
    "示例以您的账户发送，无需密钥，发送前会先显示价格。",
  ],
  signInFirst: ["To send the examples, enter a key or sign in.", "要发送示例，请填写密钥或先登录。"],
  openConsole: ["Open the console", "打开控制台"],
  send: ["Send", "发送"],
  sendFor: ["Send for {tokens} tokens", "发送，消耗 {tokens} 点"],
  stop: ["Stop", "停止"],
  hide: ["Hide the answer", "收起回答"],
  needsKey: ["needs a key, see above", "需要密钥，见上方"],
  notSent: ["Not sent", "未能发送"],
  loading: ["Loading …", "正在加载……"],
  referenceElsewhere: [
    "Parameters, errors and a way to send each call are where {product} runs, usually here:",
    "参数、错误和在线试用请到 {product} 运行的地址查看，通常是：",
  ],
  filterRoutes: ["Find a route", "查找路由"],
  field: ["field", "字段"],
  type: ["type", "类型"],
  meaning: ["meaning", "含义"],
  required: ["required", "必填"],
  fields: ["Fields of the body", "请求体的字段"],
  body: ["Body", "请求体"],
  answers: ["Statuses:", "状态码："],
} as const;

/** The words in the language of the page. */
export function useWords(): (name: keyof typeof words) => string {
  const { lang } = useData();
  return (name) => words[name][lang.value === "zh-CN" ? 1 : 0];
}
