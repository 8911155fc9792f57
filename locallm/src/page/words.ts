/** All texts of the page in English and Chinese. */
const texts = {
  skip: ["Skip to the question", "跳到输入框"],
  conversations: ["Conversations", "对话列表"],
  newConversation: ["New conversation", "新对话"],
  untitled: ["New conversation", "新对话"],
  search: ["Search conversations", "搜索对话"],
  nothingYet: ["No conversations yet.", "还没有对话。"],
  nothingFound: ["Nothing found.", "没有找到。"],
  rename: ["Rename conversation", "重命名对话"],
  remove: ["Delete conversation", "删除对话"],
  removeQuestion: ["Delete this conversation?", "删除这个对话？"],
  kept: ["Kept in this browser only, not on the server.", "对话只保存在这个浏览器里，服务器不留存。"],
  models: ["Models", "模型"],
  model: ["Model", "模型"],
  messages: ["Messages", "消息"],
  settings: ["Settings", "设置"],
  guides: ["Guides", "文档"],
  settingsHint: [
    "They apply to this conversation. An empty field keeps the model's own value, or the grey one.",
    "仅对当前对话生效；留空则用模型默认值，模型没有时用灰色显示的值。",
  ],
  transfer: ["Export, import", "导出和导入"],
  thisConversation: ["This conversation", "当前对话"],
  allConversations: ["All conversations", "全部对话"],
  import: ["Import", "导入"],
  chooseFiles: ["Choose files …", "选择文件…"],
  importHint: [
    "Markdown and JSON that this page exported. They are added to what is here.",
    "由本页面导出的 Markdown 或 JSON 文件，导入后与现有对话并存。",
  ],
  markdownHint: [
    "Markdown holds what is shown. JSON holds everything.",
    "Markdown 只含显示的内容，JSON 含全部内容。",
  ],
  transferEmpty: ["Nothing has been asked in it yet.", "当前对话还没有内容。"],
  imported: ["{conversations|conversation|conversations} added.", "已导入 {conversations} 个对话。"],
  wrongFile: ["{name} holds no conversation of this page.", "{name} 不是本页面导出的对话。"],
  close: ["Close", "关闭"],
  cancel: ["Cancel", "取消"],
  save: ["Save", "保存"],
  question: ["Your message", "输入消息"],
  questionHint: [
    "Ask something. Enter sends, Shift+Enter starts a new line.",
    "输入问题，Enter 发送，Shift+Enter 换行",
  ],
  questionTouchHint: ["Ask something", "输入问题"],
  send: ["Send", "发送"],
  stop: ["Stop", "停止"],
  attach: ["Add files", "添加文件"],
  attached: ["Files to send", "待发送的文件"],
  removeImage: ["Remove image", "移除图片"],
  removeSound: ["Remove sound", "移除音频"],
  removeFile: ["Remove file", "移除文件"],
  notText: [
    "{name} is not a text file. Copy its text, or save it as text.",
    "{name} 不是文本文件，请复制其中的文字，或另存为文本文件。",
  ],
  tooLarge: ["{name} is larger than 1 MB.", "{name} 超过 1 MB。"],
  seesNothing: [
    "This model does not see pictures. Choose one that can “see”.",
    "这个模型看不了图片，请换一个能“看图”的模型。",
  ],
  hearsNothing: [
    "This model does not hear. Choose one that “hears”.",
    "这个模型听不了音频，请换一个能“听音频”的模型。",
  ],
  tokens: ["{tokens|token|tokens}", "{tokens} 个 token"],
  aboutTokens: ["about {tokens|token|tokens}", "约 {tokens} 个 token"],
  think: ["Think first", "深度思考"],
  thinking: ["Thinking", "思考过程"],
  you: ["You", "你"],
  copy: ["Copy", "复制"],
  copied: ["Copied", "已复制"],
  edit: ["Edit", "编辑"],
  editHint: ["The old version stays, behind the arrows.", "原来的版本会保留，可用箭头切换。"],
  goOn: ["Continue", "继续"],
  regenerate: ["Regenerate", "重新生成"],
  tryAgain: ["Try again", "重试"],
  askOther: ["Another model …", "换个模型…"],
  versionBefore: ["Version before", "上一个版本"],
  versionAfter: ["Next version", "下一个版本"],
  toolCall: ["Calls the tool", "调用工具"],
  toolResult: ["Result of the tool", "工具返回结果"],
  toolResultHint: [
    "You run the tool yourself. Type what it returned, and the model goes on.",
    "工具由你运行：在这里填写它返回的内容，模型会继续回答。",
  ],
  sendResults: ["Send results", "提交结果"],
  system: ["System message", "系统提示词"],
  systemHint: [
    "What the model reads before everything else: who it is, and how it answers.",
    "模型最先读到的文字，说明它的角色和回答方式。",
  ],
  tools: ["Tools (a JSON list, as in /api/chat)", "工具（JSON 数组，格式同 /api/chat）"],
  toolsProblem: ["Tools must be a JSON list.", "工具必须是 JSON 数组。"],
  temperatureLabel: ["Temperature", "温度"],
  topPLabel: ["Nucleus sampling", "核采样"],
  topKLabel: ["Top-k sampling", "Top-k 采样"],
  minPLabel: ["Minimum probability", "最低概率"],
  repeatPenaltyLabel: ["Repeat penalty", "重复惩罚"],
  longestAnswer: ["Longest answer", "回答长度上限"],
  contextWindow: ["Context window", "上下文窗口"],
  seedLabel: ["Seed", "随机种子"],
  temperature: [
    "Higher is more varied, 0 always takes the likeliest word.",
    "越高越多变，0 总是取最可能的词。",
  ],
  top_p: ["Chooses among the likeliest words that make up this share.", "只在累计概率达到此值的词里选。"],
  top_k: ["Chooses among this many likeliest words; 0 means all.", "只在最可能的这么多个词里选，0 为不限。"],
  min_p: ["Leaves out words below this share of the likeliest.", "排除概率低于（最可能词概率 × 此值）的词。"],
  repeat_penalty: ["Above 1, words that were just used become rarer.", "大于 1 时，刚用过的词会更少出现。"],
  num_predict: ["The most tokens of an answer; -1 means no limit.", "回答最多的 token 数，-1 为不限。"],
  num_ctx: [
    "The tokens of the conversation that the model sees. More takes more memory.",
    "模型能看到的 token 数，越大越占内存。",
  ],
  seed: ["The same number gives the same answer; -1 chooses one.", "数字相同则回答相同，-1 为随机。"],
  atLeast: ["Allowed: {min} or more.", "取值不小于 {min}。"],
  between: ["Allowed: {min} to {max}.", "取值范围为 {min} 到 {max}。"],
  pullName: ["Pull another model by its name", "按名称拉取其他模型"],
  pull: ["Pull", "拉取"],
  pullProgress: ["Progress of the pull", "拉取进度"],
  pulled: ["{name} is ready.", "{name} 已就绪。"],
  more: ["More models", "更多模型"],
  noModels: [
    "There is no model yet. Pull one of these to begin; a small one answers sooner, a large one better.",
    "还没有模型，先拉取一个吧：小的回答快，大的回答好。",
  ],
  noModel: ["no model yet", "还没有模型"],
  catalogueHint: [
    "These fit this machine: {memory} of memory are available.",
    "以下模型适合这台机器，可用内存为 {memory}。",
  ],
  tooLargeModels: ["{count} more need more memory than is available", "另有 {count} 个模型超出可用内存"],
  needs: ["needs about {memory}", "约需 {memory} 内存"],
  parameters: ["{count} parameters", "参数量 {count}"],
  window: ["window {tokens}", "窗口 {tokens}"],
  general: ["questions and texts", "问答与写作"],
  code: ["code", "写代码"],
  searching: ["vectors for search", "生成检索向量"],
  use: ["Use", "使用"],
  load: ["Load", "加载"],
  unload: ["Unload", "卸载"],
  unloading: ["Unloading the model …", "正在卸载模型…"],
  loaded: ["loaded", "已加载"],
  loadedFacts: ["loaded: {device}, {memory}", "已加载：{device}，{memory}"],
  until: ["until {time}", "保留到 {time}"],
  stays: ["stays loaded", "一直保留"],
  remote: ["at {host}", "运行在 {host}"],
  removeModel: ["Delete", "删除"],
  removeModelQuestion: ["Delete {name} from this server?", "从服务器上删除 {name}？"],
  details: ["Licence and template", "许可证与模板"],
  license: ["Licence", "许可证"],
  noLicense: ["The model names no licence.", "该模型没有附带许可证。"],
  template: ["Template", "模板"],
  parametersOf: ["Parameters", "参数"],
  completion: ["answers", "对话"],
  vision: ["sees pictures", "看图"],
  toolsAbility: ["calls tools", "调用工具"],
  thinkingAbility: ["thinks first", "深度思考"],
  embedding: ["makes vectors for search", "生成检索向量"],
  rerank: ["ranks search results", "检索重排"],
  insert: ["fills gaps in code", "代码补全"],
  audio: ["hears", "听音频"],
  firstTitle: ["Welcome to locallm", "欢迎使用 locallm"],
  welcomeTitle: ["What would you like to know?", "想聊点什么？"],
  welcome: [
    "This is locallm: models that run on the server at {host}. Conversations are kept in this browser only.",
    "这里是 locallm，模型运行在 {host} 的服务器上，对话只保存在这个浏览器里。",
  ],
  welcomeRemote: [
    "This is locallm at {host}, which asks a model on another machine. Conversations are kept in this browser only.",
    "这里是 {host} 上的 locallm，当前模型运行在另一台机器上，对话只保存在这个浏览器里。",
  ],
  firstQuestion: [
    "Explain in five sentences how a language model finds its next word.",
    "用五句话解释语言模型是怎样找到下一个词的。",
  ],
  secondQuestion: [
    "Write a Python function that checks a date like 2024-02-29, with three examples.",
    "写一个 Python 函数，检查 2024-02-29 这样的日期是否有效，并给出三个例子。",
  ],
  thirdQuestion: [
    "Compare tea and coffee in a table: origin, caffeine, taste, price.",
    "用表格比较茶和咖啡：产地、咖啡因、口味、价格。",
  ],
  keys: [
    "Ctrl-K finds everything. ↑ edits your last question. Esc stops an answer.",
    "Ctrl-K 查找一切，↑ 编辑上一个问题，Esc 停止回答。",
  ],
  palette: ["Go to", "快速跳转"],
  paletteHint: ["Conversation, model or command", "查找对话、模型或命令"],
  command: ["command", "命令"],
  conversation: ["conversation", "对话"],
  speed: ["{tokens|token|tokens}, {rate} per second", "{tokens} 个 token，每秒 {rate} 个"],
  first: ["first word after {seconds} s", "{seconds} 秒后出第一个字"],
  prompt: ["prompt {tokens|token|tokens}", "提示词 {tokens} 个 token"],
  promptReused: [
    "prompt {tokens|token|tokens}, {reused} of them reused",
    "提示词 {tokens} 个 token，其中复用 {reused} 个",
  ],
  guessed: ["{tokens|token|tokens} guessed ahead, {right} right", "预猜 {tokens} 个 token，猜中 {right} 个"],
  dropped: [
    "the window was full: {messages|message|messages} ({tokens|token|tokens}) left out",
    "窗口已满，略去了 {messages} 条消息（{tokens} 个 token）",
  ],
  windowUse: ["{used} of {window} tokens of the window", "窗口已用 {used} / {window} 个 token"],
  windowFull: [
    "When the window is full, the model no longer reads the oldest messages. They stay in this list.",
    "窗口满了以后，模型不再读最早的消息，但它们仍保留在这里。",
  ],
  filesTooLong: ["The files do not fit the window.", "文件超出了窗口。"],
  widen: ["Make it {tokens}", "扩大到 {tokens}"],
  stopped: ["stopped", "已停止"],
  full: [
    "The answer is cut off: the context window or the model's own num_predict is used up.",
    "回答被截断：已用完上下文窗口，或达到模型自带的 num_predict 上限。",
  ],
  limit: ["The answer reached num_predict and is cut off.", "回答达到 num_predict 上限，被截断。"],
  unreachable: ["The server does not answer. Is locallm running?", "服务器没有响应，locallm 是否在运行？"],
  keyHint: [
    "Whoever runs this server makes one, on its machine:",
    "密钥由运行这台服务器的人在服务器上创建：",
  ],
  keyPlace: [
    "Kept in this browser, and sent to this server only.",
    "密钥保存在这个浏览器里，只发送给这台服务器。",
  ],
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

/** What a model can, in words. An ability that is not known here keeps its name. */
export function abilityText(ability: string): string {
  const named: Readonly<Record<string, Word>> = { tools: "toolsAbility", thinking: "thinkingAbility" };
  const name = named[ability] ?? ability;
  return Object.hasOwn(texts, name) ? word(name as Word) : ability;
}

export function timeText(date: Date): string {
  return date.toLocaleTimeString(language === "zh" ? "zh-CN" : "en", { hour: "2-digit", minute: "2-digit" });
}

/** The language that the page speaks. */
export function spoken(): Language {
  return language;
}

/**
 * Sets the texts of all elements that refer to one (`data-word`, `data-label`, `data-placeholder`). Where there is
 * probably no keyboard, `data-touch-placeholder` stands in for a placeholder that names keys.
 */
export function speak(chosen: Language, isTouched: boolean): void {
  language = chosen;
  document.documentElement.lang = chosen === "zh" ? "zh-CN" : "en";
  for (const element of document.querySelectorAll<HTMLElement>(
    "[data-word], [data-label], [data-placeholder]",
  )) {
    const { word: text, label, touchPlaceholder } = element.dataset;
    const placeholder = isTouched
      ? (touchPlaceholder ?? element.dataset["placeholder"])
      : element.dataset["placeholder"];
    if (text !== undefined) element.textContent = word(text as Word);
    if (label !== undefined) element.setAttribute("aria-label", word(label as Word));
    if (placeholder !== undefined) element.setAttribute("placeholder", word(placeholder as Word));
  }
}
