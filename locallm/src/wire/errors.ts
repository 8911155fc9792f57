/**
 * Every error of locallm: code → HTTP status and message. `{name}` in a message is replaced by the error's detail of
 * that name, and `{name|singular|plural}` by a count with its noun. Code throws these codes; only `http/` turns them into
 * response bodies.
 */
export const errors = {
  missing_body: { status: 400, message: "missing request body" },
  invalid_json: { status: 400, message: "invalid JSON: {reason}" },
  invalid_field: { status: 400, message: "{field} {problem}" },
  model_required: { status: 400, message: "model is required" },
  invalid_model_name: { status: 400, message: "invalid model name" },
  invalid_keep_alive: { status: 400, message: 'invalid keep_alive "{value}"' },
  invalid_option_type: { status: 400, message: 'option "{option}" must be of type {type}' },
  invalid_option_range: { status: 400, message: 'option "{option}" must be between {min} and {max}' },
  model_not_found: { status: 404, message: "model '{model}' not found" },
  not_found: { status: 404, message: "not found: {path}" },
  response_not_found: {
    status: 404,
    message: "response '{id}' not found; it was deleted, is too old, or was not stored",
  },
  previous_response_not_found: {
    status: 400,
    message:
      "previous response '{id}' not found; it was deleted, is too old, or was not stored: send the whole conversation as input",
  },
  method_not_allowed: { status: 405, message: "{method} is not allowed on {path}; use {allowed}" },
  prompt_empty: {
    status: 400,
    message: "the prompt is empty: the template prints nothing for this request",
  },
  prompt_too_long: {
    status: 400,
    // The message begins with Anthropic's words, because Anthropic's agents compact the conversation when
    // they read them.
    message:
      "prompt is too long: {promptTokens|token exceeds|tokens exceed} the context length of {contextLength}; shorten it, or use a larger context: num_ctx in the request's options, PARAMETER num_ctx in the Modelfile, or LOCALLM_CONTEXT_LENGTH on the server",
  },
  prompt_over_limit: {
    status: 400,
    message:
      "prompt is too long: {promptTokens|token exceeds|tokens exceed} the context length of {contextLength}; {advice}",
  },
  content_too_long: {
    status: 400,
    message: "content has more than {limit|token|tokens}; split it into several requests",
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
  invalid_grammar: { status: 400, message: "invalid grammar: {reason}" },
  grammar_too_slow: {
    status: 400,
    message:
      "the schema's grammar needs too much computing time (over {ms} ms in one answer); simplify the schema",
  },
  grammar_too_wide: {
    status: 400,
    message:
      "the schema's grammar is too ambiguous (over {stacks|alternative|alternatives} for one character); simplify the schema",
  },
  grammar_stuck: {
    status: 500,
    message: "the model has no token that continues the answer as the schema demands",
  },
  invalid_token: {
    status: 400,
    message: "token {token} is not in the vocabulary of {vocabSize|token|tokens}",
  },
  model_cannot: { status: 400, message: "this model cannot {ability}" },
  engine_missing: { status: 500, message: "no engine for {platform}: {reason}" },
  engine_mismatch: {
    status: 500,
    message:
      "the engine library is version {found}, but this locallm needs {wanted} ({reason}); reinstall locallm",
  },
  engine_not_fetched: { status: 502, message: "{name} could not be downloaded: {reason}" },
  model_load_failed: { status: 500, message: "model failed to load: {reason}" },
  vision_missing: {
    status: 400,
    message:
      "the part of the engine that reads pictures and sounds is not installed; on the server's machine run: locallm doctor --install vision",
  },
  vision_unusable: {
    status: 500,
    message:
      "the part of the engine that reads pictures and sounds does not fit this locallm ({reason}); install it again with: locallm doctor --install vision",
  },
  vision_not_built: {
    status: 500,
    message:
      "the part of the engine that reads pictures and sounds could not be built: {reason}; install it on this machine from its package, or where a compiler is",
  },
  projector_unusable: { status: 400, message: "the model's projector cannot be used: {reason}" },
  picture_host_not_allowed: {
    status: 400,
    message:
      "images are not fetched from {host}: send the image itself in a URL that begins with data:image/png;base64, or another type, or have the owner of this server add the host to LOCALLM_IMAGE_HOSTS",
  },
  picture_unreadable: { status: 400, message: "{field} is a picture that cannot be read: {reason}" },
  sound_unreadable: { status: 400, message: "{field} is a sound that cannot be read: {reason}" },
  picture_not_encoded: {
    status: 500,
    message: "the projector could not encode the picture or sound: {reason}",
  },
  batch_too_small: {
    status: 400,
    message:
      "this model sees each picture as a whole, so a step must have room for its {cells|token|tokens}, and has {rows}: set num_batch to at least {cells}",
  },
  quantize_failed: { status: 500, message: "the engine could not quantise the model: {reason}" },
  runner_died: {
    status: 500,
    message: "the model process exited during the request ({reason}); send the request again",
  },
  runner_stalled: {
    status: 500,
    message: "the model process made no progress for {seconds} s and was stopped; send the request again",
  },
  decode_failed: { status: 500, message: "the engine failed to compute the next step: {reason}" },
  invalid_gguf: { status: 400, message: "invalid GGUF: {rule}" },
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
  file_unusable: { status: 400, message: "cannot use {path}: {reason}" },
  nothing_to_create_from: { status: 400, message: "neither 'from' or 'files' was specified" },
  upload_missing: { status: 400, message: "blob {digest} not found; upload it to /api/blobs/{digest} first" },
  unknown_parameter: { status: 400, message: 'unknown parameter "{name}"' },
  invalid_destination: { status: 400, message: 'destination "{destination}" is invalid' },
  not_built_yet: { status: 400, message: "{what} is not supported yet; {instead}" },
  invalid_modelfile: { status: 400, message: "{reason}" },
  invalid_digest: { status: 400, message: "invalid digest format" },
  digest_mismatch: { status: 400, message: 'digest mismatch, expected "{expected}", got "{found}"' },
  invalid_manifest: { status: 500, message: "the model's manifest is damaged: {reason}" },
  blob_missing: {
    status: 500,
    message:
      "blob {digest} is missing from the model store; pull or create the model again, or remove it with `locallm rm` (`locallm doctor` lists damaged models)",
  },
  blob_damaged: {
    status: 500,
    message: "blob {digest} does not match its digest; `locallm doctor --repair` repairs the model store",
  },
  blob_too_large: { status: 500, message: "blob {digest} is larger than {limitBytes|byte|bytes}" },
  invalid_setting: { status: 500, message: "{variable}={value}: {problem}" },
  address_in_use: {
    status: 500,
    message: "{address} is already in use; stop the other server or set LOCALLM_HOST to another address",
  },
  cannot_listen: { status: 500, message: "cannot listen on {address}: {reason}" },
  body_too_large: { status: 413, message: "the request body exceeds the limit of {limitBytes|byte|bytes}" },
  bodies_full: {
    status: 503,
    message: "the server is receiving too many large request bodies; try again in a moment",
  },
  body_too_slow: { status: 408, message: "the request body did not arrive within {seconds} s" },
  unsupported_encoding: {
    status: 415,
    message: 'Content-Encoding "{encoding}" is not supported; use gzip, zstd or none',
  },
  host_refused: {
    status: 403,
    message:
      'host "{host}" is not allowed; use localhost, or set LOCALLM_HOST to let the server listen on other addresses',
  },
  origin_refused: {
    status: 403,
    message: 'origin "{origin}" is not allowed; add it to LOCALLM_ORIGINS and restart the server',
  },
  invalid_api_key: {
    status: 401,
    message: "a valid API key is required; send it as Authorization: Bearer <key> or x-api-key: <key>",
  },
  key_forbidden: {
    status: 403,
    message:
      'this API key does not have the permission "{permission}"; ask the administrator for one that has (on the server: locallm keys create --name NAME --may {permission})',
  },
  key_limited_to_models: {
    status: 403,
    message:
      'this API key does not have the permission "manage, for all models"; ask the administrator for one that has (on the server: locallm keys create --name NAME --may manage, without --models)',
  },
  key_model_forbidden: {
    status: 403,
    message: 'this API key may not use the model name "{model}"; ask the administrator for one that may',
  },
  key_rate_exceeded: {
    status: 429,
    message: "this API key may send {limit|request|requests} per minute; try again in {retryAfterSeconds} s",
  },
  key_tokens_used_up: {
    status: 429,
    message:
      "this API key has used its {limit|token|tokens} for today; the limit resets in {retryAfterSeconds} s, at midnight UTC",
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
  },
  shutting_down: {
    status: 503,
    message: "the server is shutting down; send the request again when it is back",
  },
  model_too_large: {
    status: 500,
    message: "model requires more memory ({needed}) than is available ({available})",
  },
  not_for_embedding: {
    status: 400,
    message:
      '"{model}" does not support embeddings; use a model that was made for them, such as all-minilm (locallm pull all-minilm)',
  },
  not_for_reranking: {
    status: 400,
    message:
      '"{model}" does not rerank; use a model with a rank head, such as bge-reranker-v2-m3 or Qwen3-Reranker',
  },
  unsupported_capability: { status: 400, message: '"{model}" does not support {capability}' },
  raw_conflict: { status: 400, message: "raw mode does not support template, system, or context" },
  invalid_format: { status: 400, message: 'invalid format: expected "json" or a JSON schema{detail}' },
  unsupported_parameter: { status: 400, message: "{field} is not supported{hint}" },
  // OpenAI's and Ollama's wording.
  messages_empty: { status: 400, message: "[] is too short - 'messages'" },
  client_gone: { status: 499, message: "the client closed the connection" },
  template_invalid: { status: 400, message: "template error: {problem}" },
  template_failed: { status: 500, message: "the model's chat template failed: it {problem}" },
  template_over_budget: { status: 500, message: "the chat template takes more than {limit}" },
  conversation_refused: {
    status: 400,
    message: "the model's chat template rejected this conversation: {reason}",
  },
  insecure_protocol: {
    status: 400,
    message:
      "http is not encrypted; use https, or allow http with insecure: true (--insecure on the command line)",
  },
  manifest_unknown: { status: 404, message: "pull model manifest: file does not exist" },
  file_unknown: { status: 404, message: "file not found on {host}" },
  registry_not_allowed: {
    status: 403,
    message: "registry {host} is not allowed; add it to LOCALLM_REGISTRIES",
  },
  registry_unauthorized: {
    status: 502,
    message:
      "{host} rejected the credentials; put a valid username and password in the file that LOCALLM_CREDENTIALS names",
  },
  credentials_unusable: {
    status: 500,
    message: "cannot use the file that LOCALLM_CREDENTIALS names: {reason}",
  },
  push_unauthorized: {
    status: 401,
    message:
      "{host} denied the push{detail}; send the username and password of an account that may push, or put them in the file that LOCALLM_CREDENTIALS names",
  },
  source_unreachable: { status: 502, message: "cannot reach {host}: {reason}" },
  source_failed: { status: 502, message: "{host} sent an invalid response: {reason}" },
  source_silent: {
    status: 502,
    message: "{host} sent no data for {seconds} s in each of {attempts} attempts; pull again to resume",
  },
  push_stopped: {
    status: 502,
    message: "{host} accepted no data in {attempts} attempts ({reason}); push again to resume",
  },
  connection_refused: { status: 502, message: "locallm refuses to connect to {host}: {reason}" },
  remote_not_allowed: {
    status: 403,
    message:
      "remote models may not use {host}; run `locallm remote allow {host}` on the server's machine, or add it to LOCALLM_REMOTES and restart the server",
  },
  remote_hosts_unusable: {
    status: 500,
    message: "cannot use {file}, the list of hosts of remote models: {reason}",
  },
  remote_key_missing: {
    status: 500,
    message:
      "the credentials file has no key {key} for {host}; run `locallm remote key {key} --host {host}` on the server's machine",
  },
  remote_key_unencrypted: {
    status: 500,
    message:
      "the key {key} is not sent to {host} because http is not encrypted; use https, or store the key with `locallm remote key {key} --host {host} --insecure`",
  },
  remote_unreachable: { status: 502, message: "cannot reach the engine at {host}: {reason}" },
  remote_timeout: { status: 504, message: "the engine at {host} sent nothing for {seconds} s" },
  remote_busy: {
    status: 503,
    message: "the engine at {host} is busy: {reason}; try again in {retryAfterSeconds} s",
  },
  remote_unauthorized: {
    status: 502,
    message: "the engine at {host} rejected the key: {reason}; check the key in the credentials file",
  },
  remote_refused: { status: 400, message: "the engine at {host} rejected the request: {reason}" },
  remote_prompt_too_long: {
    status: 400,
    // It begins with Anthropic's words, as prompt_too_long does.
    message:
      "prompt is too long for the engine at {host}: {reason}; shorten it, or start that engine with a larger context",
  },
  remote_model_missing: {
    status: 404,
    message: "the engine at {host} does not have the model {model}, or does not support {path}: {reason}",
  },
  remote_failed: { status: 502, message: "the engine at {host} failed: {reason}" },
  remote_replicas_failed: { status: 502, message: "no replica of {model} answered: {reasons}" },
  remote_replicas_busy: {
    status: 503,
    message: "no replica of {model} accepts requests: {reasons}; try again in {retryAfterSeconds} s",
  },
  remote_replicas_drained: {
    status: 503,
    message: "all replicas of {model} are drained; run `locallm remote resume {host}` to use this host again",
  },
  remote_host_unknown: { status: 404, message: "no remote model uses host {host}; {known}" },
  remote_loop: {
    status: 508,
    message:
      "the remote model leads back to this server; change its address, or the address of the remote model on the other server",
  },
  remote_broke_off: { status: 502, message: "the engine at {host} did not finish its answer: {reason}" },
  size_mismatch: {
    status: 502,
    message: "{host} sent {found|byte|bytes} instead of the {expected} it announced",
  },
  download_damaged: {
    status: 502,
    message: "digest mismatch, file must be downloaded again: want {expected}, got {found}",
  },
  disk_full: {
    status: 507,
    message:
      "not enough disk space: need {needBytes|byte|bytes}, have {haveBytes|byte|bytes}; free some with `locallm rm` or `locallm prune`",
  },
  models_unwritable: {
    status: 500,
    message:
      "cannot write to the models folder ({reason}); give the server write permission or set LOCALLM_MODELS to another folder",
  },
  source_tool_missing: { status: 502, message: "pulling from {source} needs {tool}, which was not found" },
  invalid_image: { status: 400, message: "invalid image data: {field}" },
  invalid_sound: { status: 400, message: "invalid sound data: {field} must be in base64" },
  internal: { status: 500, message: "internal error; see request {requestId} in the server log" },
} as const satisfies Record<string, { status: number; message: string }>;

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

  get field(): string | null {
    const field = this.details["field"];
    return typeof field === "string" ? field : null;
  }
}

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
