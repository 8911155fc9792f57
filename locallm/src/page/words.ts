/** All texts of the page in English and Chinese. */
const texts = {
  skip: ["Skip to the question", "跳到输入框"],
  conversations: ["Conversations", "对话列表"],
  newConversation: ["New conversation", "新对话"],
  untitled: ["New conversation", "新对话"],
  remove: ["Delete conversation", "删除对话"],
  removeQuestion: ["Delete this conversation?", "删除这个对话？"],
  models: ["Models", "模型"],
  model: ["Model", "模型"],
  messages: ["Messages", "消息"],
  settings: ["Settings", "设置"],
  guides: ["Guides", "文档"],
  settingsHint: [
    "They apply to this conversation. An empty field keeps the model's own value.",
    "仅对当前对话生效；留空则使用模型自己的默认值。",
  ],
  export: ["Export", "导出"],
  close: ["Close", "关闭"],
  cancel: ["Cancel", "取消"],
  save: ["Save", "保存"],
  question: ["Your message", "输入消息"],
  questionHint: [
    "Ask something. Enter sends, Shift+Enter starts a new line.",
    "输入问题，Enter 发送，Shift+Enter 换行",
  ],
  send: ["Send", "发送"],
  stop: ["Stop", "停止"],
  attach: ["Add image", "添加图片"],
  images: ["Images", "图片"],
  removeImage: ["Remove image", "移除图片"],
  think: ["Think first", "深度思考"],
  thinking: ["Thinking", "思考过程"],
  you: ["You", "你"],
  copy: ["Copy", "复制"],
  copied: ["Copied", "已复制"],
  regenerate: ["Regenerate", "重新生成"],
  tryAgain: ["Try again", "重试"],
  toolCall: ["Calls the tool", "调用工具"],
  toolResult: ["Result of the tool", "工具返回结果"],
  sendResults: ["Send results", "提交结果"],
  system: ["System message", "系统提示词"],
  tools: ["Tools (a JSON list, as in /api/chat)", "工具（JSON 数组，格式同 /api/chat）"],
  toolsProblem: ["Tools must be a JSON list.", "工具必须是 JSON 数组。"],
  name: ["Name", "名称"],
  size: ["Size", "大小"],
  abilities: ["Capabilities", "能力"],
  pullName: ["Pull a model", "拉取模型"],
  pull: ["Pull", "拉取"],
  pullProgress: ["Progress of the pull", "拉取进度"],
  pulled: ["{name} is ready.", "{name} 已就绪。"],
  noModels: ["No models yet. Open “Models” and pull one.", "还没有模型。请打开“模型”拉取一个。"],
  welcome: [
    "Answers come from the locallm server at {host}. Conversations are kept in this browser only.",
    "回答来自 {host} 上的 locallm 服务器，对话只保存在这个浏览器里。",
  ],
  speed: ["{tokens|token|tokens}, {rate} per second", "{tokens} 个 token，每秒 {rate} 个"],
  stopped: ["stopped", "已停止"],
  full: [
    "The answer is cut off: the context window or the model's own num_predict is used up.",
    "回答被截断：已用完上下文窗口，或达到模型自带的 num_predict 上限。",
  ],
  limit: ["The answer reached num_predict and is cut off.", "回答达到 num_predict 上限，被截断。"],
  unreachable: ["The server does not answer. Is locallm running?", "服务器没有响应，locallm 是否在运行？"],
  keyTitle: ["This server asks for an API key", "此服务器需要 API 密钥"],
  key: ["API key", "API 密钥"],
  light: ["Light", "浅色"],
  dark: ["Dark", "深色"],
  auto: ["Auto", "跟随系统"],
  theme: ["Theme: {name}", "主题：{name}"],
  loading: ["Loading the model …", "正在加载模型…"],
  notSaved: [
    "This browser does not keep conversations (private window or full storage).",
    "浏览器无法保存对话（无痕窗口或存储空间已满）。",
  ],
} as const satisfies Record<string, readonly [english: string, chinese: string]>;

export type Word = keyof typeof texts;
export type Language = "en" | "zh";

let language: Language = "en";

export function word(name: Word, values: Readonly<Record<string, string>> = {}): string {
  const text = texts[name][language === "zh" ? 1 : 0];
  return text.replaceAll(/\{(\w+)(?:\|(\w+)\|(\w+))?\}/g, (_, key: string, one?: string, many?: string) => {
    const value = values[key] ?? "";
    return one === undefined ? value : `${value} ${value === "1" ? one : many}`;
  });
}

/** Sets the texts of all elements that refer to one (`data-word`, `data-label`, `data-placeholder`). */
export function speak(chosen: Language): void {
  language = chosen;
  document.documentElement.lang = chosen === "zh" ? "zh-CN" : "en";
  for (const element of document.querySelectorAll<HTMLElement>(
    "[data-word], [data-label], [data-placeholder]",
  )) {
    const { word: text, label, placeholder } = element.dataset;
    if (text !== undefined) element.textContent = word(text as Word);
    if (label !== undefined) element.setAttribute("aria-label", word(label as Word));
    if (placeholder !== undefined) element.setAttribute("placeholder", word(placeholder as Word));
  }
}
