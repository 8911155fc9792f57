/**
 * Every error that locallm can raise: code → HTTP status and message. `{name}` in a message is filled from
 * the error's details. Domain code throws codes; `http/` alone turns them into bodies.
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
  method_not_allowed: { status: 405, message: "{method} is not allowed on {path}; use {allowed}" },
  prompt_too_long: {
    status: 400,
    message: "prompt of {promptTokens} tokens exceeds context length {contextLength}",
  },
  input_too_long: {
    status: 400,
    message:
      "the input length exceeds the context length: input {index} has {inputTokens} tokens, the limit is {contextLength}",
  },
  invalid_grammar: { status: 400, message: "invalid grammar: {reason}" },
  invalid_token: { status: 400, message: "token {token} is not in the vocabulary of {vocabSize} tokens" },
  model_cannot: { status: 400, message: "this model cannot {ability}" },
  engine_missing: { status: 500, message: "no engine for {platform}: {reason}" },
  engine_mismatch: {
    status: 500,
    message:
      "the engine library is {found}, this locallm speaks to {wanted}; install the pinned package again ({reason})",
  },
  engine_not_fetched: { status: 502, message: "{name} could not be fetched: {reason}" },
  model_load_failed: { status: 500, message: "model failed to load: {reason}" },
  runner_died: { status: 500, message: "the model's process ended while answering ({reason}); ask again" },
  decode_failed: { status: 500, message: "the engine could not compute the next step: {reason}" },
  invalid_gguf: { status: 400, message: "invalid GGUF: {rule}" },
  server_not_running: {
    status: 503,
    message: "no locallm server answers at {url}; start one with: locallm serve",
  },
  server_unreachable: { status: 502, message: "the server at {url} could not be reached: {reason}" },
  server_foreign: {
    status: 502,
    message:
      "what {url} answers to {path} is not what locallm answers ({reason}): is another program on that port? LOCALLM_HOST says where to look for locallm",
  },
  no_accounts: { status: 400, message: "locallm has no accounts; {instead}" },
  assistant_unknown: {
    status: 400,
    message: "{name} is no program that locallm can launch; these are: {known}",
  },
  assistant_missing: { status: 400, message: "{program} is not installed here; to install it: {install}" },
  file_unusable: { status: 400, message: "{path} cannot be used: {reason}" },
  nothing_to_create_from: { status: 400, message: "neither 'from' or 'files' was specified" },
  upload_missing: { status: 400, message: "blob {digest} is not here; send it to /api/blobs/{digest} first" },
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
    message: "blob {digest} is not what its name says; `locallm doctor` repairs the store",
  },
  blob_too_large: { status: 500, message: "blob {digest} is larger than {limitBytes} bytes" },
  invalid_setting: { status: 500, message: "{variable}={value}: {problem}" },
  address_in_use: {
    status: 500,
    message: "{address} is in use: another server runs there; stop it or set LOCALLM_HOST",
  },
  cannot_listen: { status: 500, message: "cannot listen on {address}: {reason}" },
  body_too_large: { status: 413, message: "request body is over the limit of {limitBytes} bytes" },
  body_too_slow: { status: 408, message: "the request body did not arrive within {seconds} s" },
  unsupported_encoding: {
    status: 415,
    message: 'Content-Encoding "{encoding}" is not supported; use gzip, zstd or none',
  },
  host_refused: {
    status: 403,
    message:
      'host "{host}" is not allowed: call a local name, or let the server listen beyond this machine (LOCALLM_HOST)',
  },
  origin_refused: {
    status: 403,
    message: 'origin "{origin}" is not allowed: add it to LOCALLM_ORIGINS and start the server again',
  },
  invalid_api_key: {
    status: 401,
    message: "a valid API key is required: send it as Authorization: Bearer <key>",
  },
  queue_full: {
    status: 503,
    // Ollama's own words, two spaces included: clients match them.
    message: "server busy, please try again.  maximum pending requests exceeded",
  },
  shutting_down: { status: 503, message: "the server is shutting down" },
  model_too_large: {
    status: 500,
    message: "model requires more memory ({needed}) than is available ({available})",
  },
  unsupported_capability: { status: 400, message: '"{model}" does not support {capability}' },
  raw_conflict: { status: 400, message: "raw mode does not support template, system, or context" },
  invalid_format: { status: 400, message: 'invalid format: expected "json" or a JSON schema{detail}' },
  unsupported_parameter: { status: 400, message: "{field} is not supported{hint}" },
  // OpenAI's and Ollama's own words.
  messages_empty: { status: 400, message: "[] is too short - 'messages'" },
  client_gone: { status: 499, message: "the client went away" },
  template_invalid: { status: 400, message: "template error: {problem}" },
  template_failed: { status: 500, message: "the model's chat template failed: it {problem}" },
  conversation_refused: {
    status: 400,
    message: "the model's chat template refuses this conversation: {reason}",
  },
  insecure_protocol: {
    status: 400,
    message:
      "insecure protocol http; ask for it with insecure: true (--insecure on the command line), or use https",
  },
  manifest_unknown: { status: 404, message: "pull model manifest: file does not exist" },
  file_unknown: { status: 404, message: "{host} has no such file" },
  registry_not_allowed: {
    status: 403,
    message: "the registry {host} is not among LOCALLM_REGISTRIES",
  },
  registry_unauthorized: {
    status: 502,
    message:
      "{host} wants other credentials than it was given, or none would do; LOCALLM_CREDENTIALS names the file for them",
  },
  credentials_unusable: {
    status: 500,
    message: "the file that LOCALLM_CREDENTIALS names cannot be used: {reason}",
  },
  push_unauthorized: {
    status: 401,
    message:
      "{host} does not let you push there{detail}; give username and password of an account that may, or put them into the file that LOCALLM_CREDENTIALS names",
  },
  source_unreachable: { status: 502, message: "{host} could not be reached: {reason}" },
  source_failed: { status: 502, message: "{host} did not give what was asked: {reason}" },
  source_silent: {
    status: 502,
    message:
      "{host} takes connections and sends nothing: {attempts} times {seconds} s without a byte; the same pull goes on where this one stopped",
  },
  push_stopped: {
    status: 502,
    message:
      "{host} took nothing in {attempts} attempts ({reason}); the same push goes on with what it still lacks",
  },
  redirect_refused: { status: 502, message: "a redirect was refused: {reason}" },
  size_mismatch: { status: 502, message: "{host} sent {found} bytes where {expected} were announced" },
  download_damaged: {
    status: 502,
    message: "digest mismatch, file must be downloaded again: want {expected}, got {found}",
  },
  disk_full: {
    status: 507,
    message:
      "not enough disk space: need {needBytes} bytes, have {haveBytes} bytes; locallm rm and locallm prune free some",
  },
  models_unwritable: {
    status: 500,
    message:
      "the models folder cannot be written ({reason}): give the server the right to, or name another folder by LOCALLM_MODELS",
  },
  source_tool_missing: { status: 502, message: "{tool} is needed to pull from {source} and was not found" },
  invalid_image: { status: 400, message: "invalid image data: {field}" },
  internal: { status: 500, message: "internal error; the server's log names it under request {requestId}" },
} as const satisfies Record<string, { status: number; message: string }>;

export type ErrorCode = keyof typeof errors;

type Placeholder<Message extends string> = Message extends `${string}{${infer Name}}${infer Rest}`
  ? Name | Placeholder<Rest>
  : never;
type Details<Code extends ErrorCode> = Record<Placeholder<(typeof errors)[Code]["message"]>, string | number>;

/** The one error class of the product. `field` names the request field at fault, for OpenAI's `param`. */
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
  return message.replace(/\{(\w+)\}/g, (whole, name: string) => String(details[name] ?? whole));
}
