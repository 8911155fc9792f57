import { reasonInChinese } from "./reasons.ts";

/**
 * Every error of locallm: code → HTTP status and message. `{name}` in a message is replaced by the error's detail of
 * that name, and `{name|singular|plural}` by a count with its noun. Code throws these codes; only `http/` turns them into
 * response bodies. `zh` is what the chat page shows in Chinese; rows that it cannot meet have none.
 */
export const errors = {
  missing_body: { status: 400, message: "missing request body", zh: "缺少请求体" },
  invalid_json: { status: 400, message: "invalid JSON: {reason}", zh: "JSON 格式有误：{reason}" },
  invalid_field: { status: 400, message: "{field} {problem}", zh: "{field} 无效：{problem}" },
  model_required: { status: 400, message: "model is required", zh: "请指定模型" },
  invalid_model_name: { status: 400, message: "invalid model name", zh: "模型名称无效" },
  invalid_keep_alive: { status: 400, message: 'invalid keep_alive "{value}"', zh: "驻留时间“{value}”无效" },
  invalid_option_type: {
    status: 400,
    message: 'option "{option}" must be of type {type}',
    zh: "参数“{option}”应为 {type} 类型",
  },
  invalid_option_range: {
    status: 400,
    message: 'option "{option}" must be between {min} and {max}',
    zh: "参数“{option}”应在 {min} 到 {max} 之间",
  },
  model_not_found: { status: 404, message: "model '{model}' not found", zh: "没有模型 {model}，请先拉取" },
  not_found: { status: 404, message: "not found: {path}", zh: "地址不存在：{path}" },
  response_not_found: {
    status: 404,
    message: "response '{id}' not found; it was deleted, is too old, or was not stored",
  },
  previous_response_not_found: {
    status: 400,
    message:
      "previous response '{id}' not found; it was deleted, is too old, or was not stored: send the whole conversation as input",
  },
  method_not_allowed: {
    status: 405,
    message: "{method} is not allowed on {path}; use {allowed}",
    zh: "{path} 不接受 {method}，请用 {allowed}",
  },
  prompt_empty: {
    status: 400,
    message: "the prompt is empty: the template prints nothing for this request",
    zh: "提示词为空：模型的模板没有为这次请求生成任何内容",
  },
  prompt_too_long: {
    status: 400,
    // The message begins with Anthropic's words, because Anthropic's agents compact the conversation when
    // they read them.
    message:
      "prompt is too long: {promptTokens|token exceeds|tokens exceed} the context length of {contextLength}; shorten it, or use a larger context: num_ctx in the request's options, PARAMETER num_ctx in the Modelfile, or LOCALLM_CONTEXT_LENGTH on the server",
    zh: "提示词有 {promptTokens} 个 token，超出 {contextLength} 的上下文窗口。请缩短内容，或调大窗口（num_ctx）",
  },
  prompt_over_limit: {
    status: 400,
    message:
      "prompt is too long: {promptTokens|token exceeds|tokens exceed} the context length of {contextLength}; {advice}",
    zh: "提示词有 {promptTokens} 个 token，超出 {contextLength} 的上下文窗口。{advice}",
  },
  content_too_long: {
    status: 400,
    message: "content has more than {limit|token|tokens}; split it into several requests",
    zh: "内容超过 {limit} 个 token，请分几次发送",
  },
  input_too_long: {
    status: 400,
    message:
      "the input length exceeds the context length: input {index} has {inputTokens|token|tokens}, the limit is {contextLength}; shorten it, leave out truncate, or use a larger context if the model was trained with one: num_ctx in the request's options, PARAMETER num_ctx in the Modelfile, or LOCALLM_CONTEXT_LENGTH on the server",
  },
  input_cut_away: {
    status: 400,
    // The first part is Ollama's wording.
    message:
      "input after truncation exceeds maximum context length: a context of {contextLength|token|tokens} leaves nothing of input {index}; use a larger context: num_ctx in the request's options, PARAMETER num_ctx in the Modelfile, or LOCALLM_CONTEXT_LENGTH on the server",
  },
  invalid_grammar: { status: 400, message: "invalid grammar: {reason}", zh: "语法无效：{reason}" },
  grammar_too_slow: {
    status: 400,
    message:
      "the schema's grammar needs too much computing time (over {ms} ms in one answer); simplify the schema",
    zh: "按这个 schema 生成太费时（一次回答超过 {ms} 毫秒），请简化",
  },
  grammar_too_wide: {
    status: 400,
    message:
      "the schema's grammar is too ambiguous (over {stacks|alternative|alternatives} for one character); simplify the schema",
    zh: "这个 schema 歧义太多（一个字符有超过 {stacks} 种可能），请简化",
  },
  grammar_stuck: {
    status: 500,
    message: "the model has no token that continues the answer as the schema demands",
    zh: "按 schema 的要求，模型没有可以接着写的 token",
  },
  invalid_token: {
    status: 400,
    message: "token {token} is not in the vocabulary of {vocabSize|token|tokens}",
  },
  model_cannot: { status: 400, message: "this model cannot {ability}", zh: "这个模型做不到：{ability}" },
  engine_missing: {
    status: 500,
    message: "no engine for {platform}: {reason}",
    zh: "没有适用于 {platform} 的推理引擎：{reason}",
  },
  engine_mismatch: {
    status: 500,
    message:
      "the engine library is version {found}, but this locallm needs {wanted} ({reason}); reinstall locallm",
    zh: "推理引擎的版本是 {found}，locallm 需要 {wanted}（{reason}），请重新安装 locallm",
  },
  engine_not_fetched: {
    status: 502,
    message: "{name} could not be downloaded: {reason}",
    zh: "{name} 下载失败：{reason}",
  },
  model_load_failed: { status: 500, message: "model failed to load: {reason}", zh: "模型加载失败：{reason}" },
  vision_missing: {
    status: 400,
    message:
      "the part of the engine that reads pictures and sounds is not installed; on the server's machine run: locallm doctor --install vision",
    zh: "没有安装读取图片和音频的组件，请在服务器上运行 locallm doctor --install vision",
  },
  vision_unusable: {
    status: 500,
    message:
      "the part of the engine that reads pictures and sounds does not fit this locallm ({reason}); install it again with: locallm doctor --install vision",
    zh: "读取图片和音频的组件与当前 locallm 不匹配（{reason}），请在服务器上重新运行 locallm doctor --install vision",
  },
  vision_not_built: {
    status: 500,
    message:
      "the part of the engine that reads pictures and sounds could not be built: {reason}; install it on this machine from its package, or where a compiler is",
    zh: "读取图片和音频的组件构建失败：{reason}",
  },
  projector_unusable: {
    status: 400,
    message: "the model's projector cannot be used: {reason}",
    zh: "模型的图像投影文件无法使用：{reason}",
  },
  picture_host_not_allowed: {
    status: 400,
    message:
      "images are not fetched from {host}: send the image itself in a URL that begins with data:image/png;base64, or another type, or have the owner of this server add the host to LOCALLM_IMAGE_HOSTS",
  },
  picture_unreadable: {
    status: 400,
    message: "{field} is a picture that cannot be read: {reason}",
    zh: "{field} 这张图片无法读取：{reason}",
  },
  sound_unreadable: {
    status: 400,
    message: "{field} is a sound that cannot be read: {reason}",
    zh: "{field} 这段音频无法读取：{reason}",
  },
  picture_not_encoded: {
    status: 500,
    message: "the projector could not encode the picture or sound: {reason}",
    zh: "图片或音频编码失败：{reason}",
  },
  batch_too_small: {
    status: 400,
    message:
      "this model sees each picture as a whole, so a step must have room for its {cells|token|tokens}, and has {rows}: set num_batch to at least {cells}",
    zh: "这个模型一次要读完整张图片，需要 {cells} 个 token 的批次，现在只有 {rows} 个，请把 num_batch 设为至少 {cells}",
  },
  quantize_failed: { status: 500, message: "the engine could not quantise the model: {reason}" },
  runner_died: {
    status: 500,
    message: "the model process exited during the request ({reason}); send the request again",
    zh: "模型进程中途退出（{reason}），请重新发送",
  },
  runner_stalled: {
    status: 500,
    message: "the model process made no progress for {seconds} s and was stopped; send the request again",
    zh: "模型进程 {seconds} 秒没有进展，已被停止，请重新发送",
  },
  decode_failed: {
    status: 500,
    message: "the engine failed to compute the next step: {reason}",
    zh: "推理引擎下一步计算失败：{reason}",
  },
  invalid_gguf: { status: 400, message: "invalid GGUF: {rule}", zh: "GGUF 文件无效：{rule}" },
  server_not_running: {
    status: 503,
    message: "no locallm server is running at {url}; start one with: locallm serve",
  },
  server_unreachable: { status: 502, message: "cannot reach the server at {url}: {reason}" },
  server_foreign: {
    status: 502,
    message:
      "{url} does not answer {path} like locallm ({reason}); if another program uses that port, set LOCALLM_HOST to the address of locallm",
  },
  no_accounts: { status: 404, message: "locallm has no accounts; {instead}" },
  assistant_unknown: {
    status: 400,
    message: "unknown program {name}; locallm can launch: {known}",
  },
  assistant_needs_model: {
    status: 400,
    message: "{title} needs a model that {ability}, but {problem}; a small one: locallm pull {small}",
  },
  assistant_missing: { status: 400, message: "{program} is not installed; install it with: {install}" },
  not_updated: { status: 500, message: "{reason}" },
  service_not_changed: { status: 500, message: "{reason}" },
  file_unusable: { status: 400, message: "cannot use {path}: {reason}", zh: "{path} 无法使用：{reason}" },
  nothing_to_create_from: { status: 400, message: "neither 'from' or 'files' was specified" },
  upload_missing: { status: 400, message: "blob {digest} not found; upload it to /api/blobs/{digest} first" },
  unknown_parameter: { status: 400, message: 'unknown parameter "{name}"' },
  invalid_destination: { status: 400, message: 'destination "{destination}" is invalid' },
  not_built_yet: {
    status: 400,
    message: "{what} is not supported yet; {instead}",
    zh: "暂不支持 {what}；{instead}",
  },
  invalid_modelfile: { status: 400, message: "{reason}" },
  invalid_digest: { status: 400, message: "invalid digest format" },
  digest_mismatch: {
    status: 400,
    message: 'digest mismatch, expected "{expected}", got "{found}"',
    zh: "摘要不符：应为“{expected}”，实为“{found}”",
  },
  invalid_manifest: {
    status: 500,
    message: "the model's manifest is damaged: {reason}",
    zh: "模型清单已损坏：{reason}",
  },
  blob_missing: {
    status: 500,
    message:
      "blob {digest} is missing from the model store; pull or create the model again, or remove it with `locallm rm` (`locallm doctor` lists damaged models)",
    zh: "模型文件 {digest} 缺失，请重新拉取该模型，或用 locallm rm 删除",
  },
  blob_damaged: {
    status: 500,
    message: "blob {digest} does not match its digest; `locallm doctor --repair` repairs the model store",
    zh: "模型文件 {digest} 与摘要不符，请在服务器上运行 locallm doctor --repair 修复",
  },
  blob_too_large: {
    status: 500,
    message: "blob {digest} is larger than {limitBytes|byte|bytes}",
    zh: "模型文件 {digest} 超过 {limitBytes} 字节",
  },
  invalid_setting: { status: 500, message: "{variable}={value}: {problem}" },
  address_in_use: {
    status: 500,
    message: "{address} is already in use; stop the other server or set LOCALLM_HOST to another address",
  },
  cannot_listen: { status: 500, message: "cannot listen on {address}: {reason}" },
  body_too_large: {
    status: 413,
    message: "the request body exceeds the limit of {limitBytes|byte|bytes}",
    zh: "发送的内容超过 {limitBytes} 字节的上限",
  },
  bodies_full: {
    status: 503,
    message: "the server is receiving too many large request bodies; try again in a moment",
    zh: "服务器正在接收太多大请求，请稍后再试",
  },
  body_too_slow: {
    status: 408,
    message: "the request body did not arrive within {seconds} s",
    zh: "请求内容在 {seconds} 秒内没有传完",
  },
  unsupported_encoding: {
    status: 415,
    message: 'Content-Encoding "{encoding}" is not supported; use gzip, zstd or none',
  },
  host_refused: {
    status: 403,
    message:
      'host "{host}" is not allowed; use localhost, or set LOCALLM_HOST to let the server listen on other addresses',
    zh: "不允许用主机名“{host}”访问，请用 localhost，或设置 LOCALLM_HOST 让服务器监听其他地址",
  },
  origin_refused: {
    status: 403,
    message: 'origin "{origin}" is not allowed; add it to LOCALLM_ORIGINS and restart the server',
    zh: "不允许来自“{origin}”的访问，请把它加进 LOCALLM_ORIGINS 并重启服务器",
  },
  invalid_api_key: {
    status: 401,
    message: "a valid API key is required; send it as Authorization: Bearer <key> or x-api-key: <key>",
    zh: "这台服务器需要有效的 API 密钥",
  },
  key_forbidden: {
    status: 403,
    message:
      'this API key does not have the permission "{permission}"; ask the administrator for one that has (on the server: locallm keys create --name NAME --may {permission})',
    zh: "这个 API 密钥没有“{permission}”权限，请向管理员换一个",
  },
  key_limited_to_models: {
    status: 403,
    message:
      'this API key does not have the permission "manage, for all models"; ask the administrator for one that has (on the server: locallm keys create --name NAME --may manage, without --models)',
    zh: "这个 API 密钥不能管理全部模型，请向管理员换一个",
  },
  key_model_forbidden: {
    status: 403,
    message: 'this API key may not use the model name "{model}"; ask the administrator for one that may',
    zh: "这个 API 密钥不能使用模型“{model}”，请向管理员换一个",
  },
  key_rate_exceeded: {
    status: 429,
    message: "this API key may send {limit|request|requests} per minute; try again in {retryAfterSeconds} s",
    zh: "这个 API 密钥每分钟最多 {limit} 次请求，请 {retryAfterSeconds} 秒后再试",
  },
  key_tokens_used_up: {
    status: 429,
    message:
      "this API key has used its {limit|token|tokens} for today; the limit resets in {retryAfterSeconds} s, at midnight UTC",
    zh: "这个 API 密钥今天的 {limit} 个 token 已用完，{retryAfterSeconds} 秒后（UTC 零点）重新计算",
  },
  key_exists: {
    status: 400,
    message: 'the API key "{name}" already exists; choose another name, or revoke it first',
  },
  key_not_found: { status: 404, message: 'API key "{name}" not found; `locallm keys list` lists the keys' },
  keys_unusable: {
    status: 500,
    message: "cannot use {file} in the folder that LOCALLM_KEYS names: {reason}",
  },
  queue_full: {
    status: 503,
    // Ollama's wording, including the two spaces, because clients match it.
    message:
      "server busy, please try again.  maximum pending requests exceeded: {waiting|request waits|requests wait}; send it again in a moment, or raise LOCALLM_MAX_QUEUE or LOCALLM_NUM_PARALLEL on the server",
    zh: "服务器正忙，已有 {waiting} 个请求在排队，请稍后再试",
  },
  shutting_down: {
    status: 503,
    message: "the server is shutting down; send the request again when it is back",
    zh: "服务器正在关闭，请等它恢复后重新发送",
  },
  model_too_large: {
    status: 500,
    message: "model requires more memory ({needed}) than is available ({available})",
    zh: "模型需要 {needed} 内存，可用的只有 {available}",
  },
  not_for_embedding: {
    status: 400,
    message:
      '"{model}" does not support embeddings; use a model that was made for them, such as all-minilm (locallm pull all-minilm)',
    zh: "“{model}”不能生成向量，请换用向量模型，如 all-minilm",
  },
  not_for_reranking: {
    status: 400,
    message:
      '"{model}" does not rerank; use a model with a rank head, such as bge-reranker-v2-m3 or Qwen3-Reranker',
  },
  unsupported_capability: {
    status: 400,
    message: '"{model}" does not support {capability}',
    zh: "“{model}”不支持 {capability}",
  },
  raw_conflict: { status: 400, message: "raw mode does not support template, system, or context" },
  invalid_format: {
    status: 400,
    message: 'invalid format: expected "json" or a JSON schema{detail}',
    zh: "format 无效：应为“json”或 JSON schema{detail}",
  },
  unsupported_parameter: {
    status: 400,
    message: "{field} is not supported{hint}",
    zh: "不支持 {field}{hint}",
  },
  // OpenAI's and Ollama's wording.
  messages_empty: { status: 400, message: "[] is too short - 'messages'", zh: "没有任何消息" },
  client_gone: { status: 499, message: "the client closed the connection" },
  template_invalid: { status: 400, message: "template error: {problem}", zh: "模板有误：{problem}" },
  template_failed: {
    status: 500,
    message: "the model's chat template failed: it {problem}",
    zh: "模型的对话模板运行失败：{problem}",
  },
  template_over_budget: {
    status: 500,
    message: "the chat template takes more than {limit}",
    zh: "对话模板的用量超过 {limit}",
  },
  conversation_refused: {
    status: 400,
    message: "the model's chat template rejected this conversation: {reason}",
    zh: "模型的对话模板拒绝了这段对话：{reason}",
  },
  insecure_protocol: {
    status: 400,
    message:
      "http is not encrypted; use https, or allow http with insecure: true (--insecure on the command line)",
    zh: "http 没有加密，请改用 https",
  },
  manifest_unknown: {
    status: 404,
    message: "pull model manifest: file does not exist",
    zh: "模型仓库里没有这个模型，请检查名称",
  },
  file_unknown: { status: 404, message: "file not found on {host}", zh: "{host} 上没有这个文件" },
  registry_not_allowed: {
    status: 403,
    message: "registry {host} is not allowed; add it to LOCALLM_REGISTRIES",
    zh: "不允许从 {host} 拉取，请把它加进 LOCALLM_REGISTRIES",
  },
  registry_unauthorized: {
    status: 502,
    message:
      "{host} rejected the credentials; put a valid username and password in the file that LOCALLM_CREDENTIALS names",
    zh: "{host} 拒绝了用户名和密码，请在 LOCALLM_CREDENTIALS 指向的文件里填写正确的",
  },
  credentials_unusable: {
    status: 500,
    message: "cannot use the file that LOCALLM_CREDENTIALS names: {reason}",
    zh: "LOCALLM_CREDENTIALS 指向的文件无法使用：{reason}",
  },
  push_unauthorized: {
    status: 401,
    message:
      "{host} denied the push{detail}; send the username and password of an account that may push, or put them in the file that LOCALLM_CREDENTIALS names",
  },
  source_unreachable: {
    status: 502,
    message: "cannot reach {host}: {reason}",
    zh: "连接不上 {host}：{reason}",
  },
  source_failed: {
    status: 502,
    message: "{host} sent an invalid response: {reason}",
    zh: "{host} 的应答无效：{reason}",
  },
  source_silent: {
    status: 502,
    message: "{host} sent no data for {seconds} s in each of {attempts} attempts; pull again to resume",
    zh: "{host} 连续 {attempts} 次都在 {seconds} 秒内没有数据，再次拉取会接着下载",
  },
  push_stopped: {
    status: 502,
    message: "{host} accepted no data in {attempts} attempts ({reason}); push again to resume",
  },
  connection_refused: {
    status: 502,
    message: "locallm refuses to connect to {host}: {reason}",
    zh: "locallm 拒绝连接 {host}：{reason}",
  },
  remote_not_allowed: {
    status: 403,
    message:
      "remote models may not use {host}; run `locallm remote allow {host}` on the server's machine, or add it to LOCALLM_REMOTES and restart the server",
    zh: "远程模型不能使用 {host}，请在服务器上运行 locallm remote allow {host}",
  },
  remote_hosts_unusable: {
    status: 500,
    message: "cannot use {file}, the list of hosts of remote models: {reason}",
    zh: "远程模型的主机列表 {file} 无法使用：{reason}",
  },
  remote_key_missing: {
    status: 500,
    message:
      "the credentials file has no key {key} for {host}; run `locallm remote key {key} --host {host}` on the server's machine",
    zh: "凭据文件里没有 {host} 的密钥 {key}，请在服务器上运行 locallm remote key {key} --host {host}",
  },
  remote_key_unencrypted: {
    status: 500,
    message:
      "the key {key} is not sent to {host} because http is not encrypted; use https, or store the key with `locallm remote key {key} --host {host} --insecure`",
    zh: "http 没有加密，密钥 {key} 不会发给 {host}，请改用 https",
  },
  remote_unreachable: {
    status: 502,
    message: "cannot reach the engine at {host}: {reason}",
    zh: "连接不上 {host} 的引擎：{reason}",
  },
  remote_timeout: {
    status: 504,
    message: "the engine at {host} sent nothing for {seconds} s",
    zh: "{host} 的引擎 {seconds} 秒没有应答",
  },
  remote_busy: {
    status: 503,
    message: "the engine at {host} is busy: {reason}; try again in {retryAfterSeconds} s",
    zh: "{host} 的引擎正忙：{reason}，请 {retryAfterSeconds} 秒后再试",
  },
  remote_unauthorized: {
    status: 502,
    message: "the engine at {host} rejected the key: {reason}; check the key in the credentials file",
    zh: "{host} 的引擎拒绝了密钥：{reason}",
  },
  remote_refused: {
    status: 400,
    message: "the engine at {host} rejected the request: {reason}",
    zh: "{host} 的引擎拒绝了请求：{reason}",
  },
  remote_prompt_too_long: {
    status: 400,
    // It begins with Anthropic's words, as prompt_too_long does.
    message:
      "prompt is too long for the engine at {host}: {reason}; shorten it, or start that engine with a larger context",
    zh: "提示词超出 {host} 的引擎的窗口：{reason}。请缩短内容，或让该引擎用更大的窗口启动",
  },
  remote_model_missing: {
    status: 404,
    message: "the engine at {host} does not have the model {model}, or does not support {path}: {reason}",
    zh: "{host} 的引擎没有模型 {model}，或不支持 {path}：{reason}",
  },
  remote_failed: {
    status: 502,
    message: "the engine at {host} failed: {reason}",
    zh: "{host} 的引擎出错：{reason}",
  },
  remote_replicas_failed: {
    status: 502,
    message: "no replica of {model} answered: {reasons}",
    zh: "{model} 的各个副本都没有应答：{reasons}",
  },
  remote_replicas_busy: {
    status: 503,
    message: "no replica of {model} accepts requests: {reasons}; try again in {retryAfterSeconds} s",
    zh: "{model} 的各个副本都不接收请求：{reasons}，请 {retryAfterSeconds} 秒后再试",
  },
  remote_replicas_drained: {
    status: 503,
    message: "all replicas of {model} are drained; run `locallm remote resume {host}` to use this host again",
    zh: "{model} 的各个副本都已停用，请在服务器上运行 locallm remote resume {host} 恢复",
  },
  remote_host_unknown: { status: 404, message: "no remote model uses host {host}; {known}" },
  remote_loop: {
    status: 508,
    message:
      "the remote model leads back to this server; change its address, or the address of the remote model on the other server",
    zh: "这个远程模型又指回了本服务器，请修改它的地址",
  },
  remote_broke_off: {
    status: 502,
    message: "the engine at {host} did not finish its answer: {reason}",
    zh: "{host} 的引擎没有答完：{reason}",
  },
  size_mismatch: {
    status: 502,
    message: "{host} sent {found|byte|bytes} instead of the {expected} it announced",
    zh: "{host} 声明 {expected} 字节，实际发来 {found} 字节",
  },
  download_damaged: {
    status: 502,
    message: "digest mismatch, file must be downloaded again: want {expected}, got {found}",
    zh: "下载的文件与摘要不符，需要重新下载：应为 {expected}，实为 {found}",
  },
  disk_full: {
    status: 507,
    message:
      "not enough disk space: need {needBytes|byte|bytes}, have {haveBytes|byte|bytes}; free some with `locallm rm` or `locallm prune`",
    zh: "磁盘空间不足：需要 {needBytes} 字节，剩余 {haveBytes} 字节，可用 locallm rm 或 locallm prune 腾出空间",
  },
  models_unwritable: {
    status: 500,
    message:
      "cannot write to the models folder ({reason}); give the server write permission or set LOCALLM_MODELS to another folder",
    zh: "模型文件夹无法写入（{reason}），请给服务器写权限，或用 LOCALLM_MODELS 换一个文件夹",
  },
  source_tool_missing: {
    status: 502,
    message: "pulling from {source} needs {tool}, which was not found",
    zh: "从 {source} 拉取需要 {tool}，但没有找到它",
  },
  invalid_image: { status: 400, message: "invalid image data: {field}", zh: "图片数据无效：{field}" },
  invalid_sound: {
    status: 400,
    message: "invalid sound data: {field} must be in base64",
    zh: "音频数据无效：{field} 应为 base64",
  },
  internal: {
    status: 500,
    message: "internal error; see request {requestId} in the server log",
    zh: "服务器内部错误，详情见服务器日志中的请求 {requestId}",
  },
} as const satisfies Record<string, { status: number; message: string; zh?: string }>;

export type ErrorCode = keyof typeof errors;

type Placeholder<Message extends string> = Message extends `${string}{${infer Name}}${infer Rest}`
  ? NameIn<Name> | Placeholder<Rest>
  : never;
type NameIn<Text extends string> = Text extends `${infer Name}|${string}` ? Name : Text;
type Details<Code extends ErrorCode> = Record<Placeholder<(typeof errors)[Code]["message"]>, string | number>;

/** The only error class of locallm. `field` names the invalid request field, for OpenAI's `param`. */
export class LocallmError<Code extends ErrorCode = ErrorCode> extends Error {
  override readonly name = "LocallmError";
  readonly code: Code;
  readonly details: Readonly<Record<string, string | number>>;

  constructor(code: Code, details: Details<Code>, options?: { cause?: unknown }) {
    super(fill(errors[code].message, details), options);
    this.code = code;
    this.details = details;
  }

  get status(): number {
    return errors[this.code].status;
  }

  /** The message in Chinese where there is one. */
  get chinese(): string {
    const row = errors[this.code];
    if (!("zh" in row)) return this.message;
    const said = Object.entries(this.details).map(([name, value]) => [
      name,
      typeof value === "string" && reasonDetails.has(name) ? reasonInChinese(value) : value,
    ]);
    return fill(row.zh, Object.fromEntries(said) as typeof this.details);
  }

  get field(): string | null {
    const field = this.details["field"];
    return typeof field === "string" ? field : null;
  }
}

/** Details that are clauses of a sentence. Others are names and counts, which no language changes. */
const reasonDetails: ReadonlySet<string> = new Set([
  ...["reason", "reasons", "problem", "advice", "ability", "limit"],
]);

function fill(message: string, details: Readonly<Record<string, string | number>>): string {
  return message.replace(
    /\{(\w+)(?:\|([\w ]+)\|([\w ]+))?\}/g,
    (whole, name: string, one?: string, many?: string) => {
      const value = details[name];
      if (value === undefined) return whole;
      return one === undefined ? String(value) : `${value} ${value === 1 ? one : many}`;
    },
  );
}
