/**
 * The reasons that stand inside messages of `errors.ts`, in English and in Chinese. Whoever throws writes the English
 * one; the Chinese message of the error finds the other here, as gettext does. `{name}` is anything, which stays as it
 * is, unless it is a reason itself. What is not here was said by somebody else: a parser, an engine, a registry. It is
 * shown as a quotation.
 */
export const reasons: readonly (readonly [english: string, chinese: string])[] = [
  // JSON
  ["the text is not valid {encoding}", "文字不是有效的 {encoding}"],
  ["the body is not valid {encoding}", "请求体不是有效的 {encoding}"],
  ["the text ends too early", "内容不完整"],
  ["unexpected text at position {at}", "第 {at} 个字符处有意外的内容"],
  ["unexpected text", "有意外的内容"],
  ["nested deeper than {levels} levels", "嵌套超过 {levels} 层"],
  [
    "more than {count} values; an object or an array counts as three",
    "值超过 {count} 个（对象或数组按三个计）",
  ],
  ['the key "__proto__" is not allowed', "不允许使用键名 __proto__"],
  // Fields
  ["is required", "必须提供"],
  ["is not valid", "值不正确"],
  ["must not be empty", "不能为空"],
  ["must be unique", "不能重复"],
  ["must contain text", "必须有文字"],
  ["must be one of {choices}", "只能是 {choices} 之一"],
  ["must be between {least} and {most}", "必须在 {least} 到 {most} 之间"],
  ["must be at least {least}", "不能小于 {least}"],
  ["must be at most {most}", "不能大于 {most}"],
  ["must have at least {count} characters", "至少 {count} 个字符"],
  ["must have at least 1 character", "至少 1 个字符"],
  ["must have at most {count} characters", "最多 {count} 个字符"],
  ["must have at most 1 character", "最多 1 个字符"],
  ["must have at least {count} items", "至少 {count} 项"],
  ["must have at least 1 item", "至少 1 项"],
  ["must have at most {count} items", "最多 {count} 项"],
  ["must have at most 1 item", "最多 1 项"],
  [
    "must have at most {count} texts for this model; send the rest in further requests",
    "这个模型一次最多 {count} 段文本，其余请分几次发送",
  ],
  [
    "must have at most {count} texts; send the rest in further requests",
    "一次最多 {count} 段文本，其余请分几次发送",
  ],
  ["needs tools to choose from", "没有可选的 tools"],
  ["needs quantize, with a type", "需要同时给出 quantize 及其类型"],
  ['names "{name}", which is not in tools', "所选的“{name}”不在 tools 里"],
  ["is only possible in messages of users and results of tools", "只能用在用户消息和工具结果里"],
  ["cannot be combined with suffix", "不能与 suffix 同时使用"],
  ["cannot be combined with from", "不能与 from 同时使用"],
  ["must be a JPEG, PNG, GIF or WebP image", "必须是 JPEG、PNG、GIF 或 WebP 图片"],
  ["must be a WAV or MP3 sound", "必须是 WAV 或 MP3 音频"],
  ["is an image of {bytes} bytes; the limit is {limit}", "图片有 {bytes} 字节，上限为 {limit}"],
  ["is a sound of {bytes} bytes; the limit is {limit}", "音频有 {bytes} 字节，上限为 {limit}"],
  ["says {said}, but the image is {found}", "声明为 {said}，图片实际是 {found}"],
  ["says {said}, but the sound is {found}", "声明为 {said}，音频实际是 {found}"],
  ["must use relative paths without .. as file names", "文件名必须是不含 .. 的相对路径"],
  ["contains more than one model", "包含的模型不止一个"],
  ["contains an adapter; put it in adapters", "包含适配器，请放到 adapters 里"],
  // Addresses
  ["must be an http or https URL", "必须是 http 或 https 地址"],
  ["must contain a host name", "必须有主机名"],
  ["must have a port between 1 and 65535", "端口必须在 1 到 65535 之间"],
  ["must end with # and the engine's name for the model", "必须以 # 加引擎中的模型名结尾"],
  ["must not contain spaces, control characters or \\", "不能有空格、控制字符或 \\"],
  [
    "must not contain a username or password; store the key with `locallm remote key` and name it",
    "不能有用户名或密码，请用 locallm remote key 保存密钥并引用其名称",
  ],
  ["must not contain a query (?)", "不能有查询部分（?）"],
  ["must not contain #", "不能有 #"],
  ["it has no weights", "里面没有权重"],
  ["must be {type} or {other}", "必须是{type}或{other}"],
  ["must be {type}", "必须是{type}"],
  ["an integer", "整数"],
  ["a number", "数字"],
  ["a string", "字符串"],
  ["a boolean", " true 或 false"],
  ["a list of texts", "文本列表"],
  ["a JSON object", " JSON 对象"],
  ["an array or object with valid items", "内容有效的数组或对象"],
  ["an array", "数组"],
  ["an object", "对象"],
  ["of another type", "其他类型"],
  // Grammars
  ["the schema is nested too deep", "schema 嵌套太深"],
  ["it is over {count} characters", "超过 {count} 个字符"],
  ['it has two rules "{name}"', "规则“{name}”重复"],
  ['it has no rule "{name}"', "没有规则“{name}”"],
  ["it has over {count} nodes", "超过 {count} 个节点"],
  ["its groups are nested more than {levels} levels deep", "分组嵌套超过 {levels} 层"],
  ["it has a repetition whose minimum exceeds its maximum", "重复次数的下限大于上限"],
  ["it has over {count} repetitions", "重复超过 {count} 次"],
  ["unexpected end at {at}", "第 {at} 个字符处意外结束"],
  ["unexpected {excerpt} at {at}", "第 {at} 个字符处不应是 {excerpt}"],
  // Prompts that do not fit, and what helps
  ["shorten it: {why} (LOCALLM_CONTEXT_LENGTH=auto)", "请缩短内容：{why}（LOCALLM_CONTEXT_LENGTH=auto）"],
  ["the window cannot grow further", "窗口不能再扩大"],
  [
    "a window of {tokens} tokens needs {needed} of memory, {available} is available",
    "{tokens} 个 token 的窗口需要 {needed} 内存，可用 {available}",
  ],
  ["the model does not state the window that it was trained with", "模型没有说明训练时的窗口"],
  ["the model was trained with a window of {count} tokens", "模型训练时的窗口为 {count} 个 token"],
  [
    "shorten it, or use another model: this one was trained with a context of {tokens}",
    "请缩短内容，或换一个模型：这个模型训练时的上下文为 {tokens}",
  ],
  [
    "shorten it, or use a larger context, such as {tokens}: num_ctx in the request's options, PARAMETER num_ctx in the Modelfile, or LOCALLM_CONTEXT_LENGTH on the server (the limit is from {source})",
    "请缩短内容，或把窗口调大到 {tokens}：在设置里改 num_ctx，或改 Modelfile 的 PARAMETER num_ctx，或服务器的 LOCALLM_CONTEXT_LENGTH（当前值来自 {source}）",
  ],
  [
    "shorten it, or use a larger context: num_ctx in the request's options, PARAMETER num_ctx in the Modelfile, or LOCALLM_CONTEXT_LENGTH on the server (the limit is from {source})",
    "请缩短内容，或把窗口调大：在设置里改 num_ctx，或改 Modelfile 的 PARAMETER num_ctx，或服务器的 LOCALLM_CONTEXT_LENGTH（当前值来自 {source}）",
  ],
  ["option num_ctx of a request", "请求的 num_ctx"],
  ["PARAMETER num_ctx of the model", "模型的 PARAMETER num_ctx"],
  ["LOCALLM_CONTEXT_LENGTH", "LOCALLM_CONTEXT_LENGTH"],
  ["{count} ms of processor time", " {count} 毫秒处理器时间"],
  ["{count} MB of memory", " {count} MB 内存"],
  // Abilities
  ["generate", "对话"],
  ["embed", "生成向量"],
  ["rank", "重排序"],
  // Networks and registries
  ["{reason} (by the proxy {host})", "{reason}（经代理 {host}）"],
  ["the connection was refused ({code})", "连接被拒绝（{code}）"],
  ["the connection was cut ({code})", "连接中断（{code}）"],
  ["there was no answer in time ({code})", "对方没有按时应答（{code}）"],
  ["there is no host of this name ({code})", "没有这个主机名（{code}）"],
  ["the name could not be looked up ({code})", "主机名解析失败（{code}）"],
  ["there is no way to this host ({code})", "无法到达这台主机（{code}）"],
  ["there is no way to its network ({code})", "无法到达它所在的网络（{code}）"],
  ["the host is down ({code})", "主机已关机（{code}）"],
  ["its certificate has expired ({code})", "证书已过期（{code}）"],
  ["its certificate is self-signed ({code})", "证书是自签名的（{code}）"],
  ["its certificate is not trusted ({code})", "证书不受信任（{code}）"],
  ["its certificate is for another name ({code})", "证书属于别的主机名（{code}）"],
  ["it sent nothing for {seconds} s", "{seconds} 秒没有收到数据"],
  ["it answered {status}: {words}", "返回 {status}：{words}"],
  ["it answered {status}", "返回 {status}"],
  ["its answer is larger than {bytes} bytes", "应答超过 {bytes} 字节"],
  ["it sent a different range than requested", "返回的不是所请求的那一段"],
  ["its archive is damaged", "压缩包已损坏"],
  ["its manifest does not match its digest", "清单与摘要不符"],
  ["its manifest is invalid: {reason}", "清单无效：{reason}"],
  ["it contains no GGUF file", "里面没有 GGUF 文件"],
  ["it lacks {file}", "缺少 {file}"],
  ["its package has no {file}", "安装包里没有 {file}"],
];

/** The reason in Chinese. What nobody of us wrote is put in quotation marks. */
export function reasonInChinese(reason: string): string {
  for (const [pattern, names, chinese] of patterns) {
    const found = pattern.exec(reason);
    if (found === null) continue;
    const values = new Map(names.map((name, at) => [name, found[at + 1]!]));
    return chinese.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
      const value = values.get(name)!;
      return clauses.has(name) ? reasonInChinese(value) : value;
    });
  }
  return `“${reason}”`;
}

/** Details of these names are reasons themselves. */
const clauses: ReadonlySet<string> = new Set(["why", "reason", "words", "source", "type", "other"]);

const patterns = reasons.map(([english, chinese]) => {
  const names = [...english.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!);
  const text = english
    .split(/\{\w+\}/)
    .map((part) => part.replaceAll(/[.*+?^$()[\]{}|\\]/g, "\\$&"))
    .join("(.+?)");
  return [new RegExp(`^${text}$`, "s"), names, chinese] as const;
});
