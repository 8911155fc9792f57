/**
 * Every error that dataq can raise: code → HTTP status, family and message, whether a retry can help, and what
 * the caller does next. `{name}` is filled from the error's details. One table for the service, the docs and
 * the clients. None of them is ever charged.
 */
export const errors = {
  invalid_json: row(
    400,
    "invalid_request_error",
    "The body is not valid JSON: {reason}.",
    "send a JSON object",
  ),
  invalid_params: row(400, "invalid_request_error", "{summary}", "correct the parameters named in details"),
  missing_parameter: row(400, "invalid_request_error", "{param} is missing.", "send {param}"),
  unknown_parameter: row(400, "invalid_request_error", "{param} is not a parameter of {operation}.", "{fix}"),
  ambiguous_parameter: row(
    400,
    "invalid_request_error",
    "{param} is given twice with different values.",
    "send {param} once",
  ),
  unknown_operation: row(400, "invalid_request_error", "There is no operation {operation}.", "{fix}"),
  invalid_capability: row(
    400,
    "invalid_request_error",
    "There is no capability {capability}.",
    "use a domain and type of /capabilities.json",
  ),
  domain_mismatch: row(
    400,
    "invalid_request_error",
    "{operation} belongs to the domain {expected}, not {domain}.",
    "leave domain out or send {expected}",
  ),
  page_out_of_range: row(
    400,
    "invalid_request_error",
    "page × page_size reaches beyond the first 10,000 results.",
    "narrow the query with a filter",
  ),
  snapshot_expired: row(
    400,
    "invalid_request_error",
    "The snapshot {snapshot} is no longer kept.",
    "start again at page 1 without a snapshot",
  ),
  missing_api_key: row(
    401,
    "authentication_error",
    "No API key was sent.",
    "send Authorization: Bearer <API_KEY>",
  ),
  invalid_api_key: row(
    401,
    "authentication_error",
    "The API key is not valid.",
    "check the key, or make a new one in the console",
  ),
  ambiguous_credentials: row(
    401,
    "authentication_error",
    "Two different API keys were sent.",
    "send one of Authorization and X-API-Key",
  ),
  key_in_url: row(
    401,
    "authentication_error",
    "An API key was sent in the URL or the body, where logs may keep it.",
    "send Authorization: Bearer <API_KEY>, and rotate this key",
  ),
  insufficient_balance: row(
    402,
    "billing_error",
    "The balance of {balance} tokens is {shortfall} short of the {required} that this call costs.",
    "top up and call again",
  ),
  spend_limit_reached: row(
    402,
    "billing_error",
    "This key may spend {cap} tokens in {month}, and has.",
    "raise the key's monthly_cap, or wait for the next month (China time)",
  ),
  price_above_max: row(
    402,
    "billing_error",
    "The call costs {required} tokens, more than the max_tokens of {max_tokens}.",
    "raise max_tokens or leave it out",
  ),
  scope_denied: row(
    403,
    "permission_error",
    "This key lacks the scope {scope}.",
    "use a key with the scope {scope}",
  ),
  ip_denied: row(
    403,
    "permission_error",
    "This key may not be used from this address.",
    "call from an address on the key's ip_list, or change the list",
  ),
  foreign_page: row(
    403,
    "permission_error",
    "The request comes from a page of another site.",
    "open the console at this service's own address",
  ),
  account_frozen: row(403, "permission_error", "The account is frozen.", "ask the operator of this service"),
  not_found: row(404, "not_found_error", "{what} was not found.", "check the value"),
  not_cached: row(
    404,
    "not_found_error",
    "The answer is not in the cache.",
    "leave cache: only out to ask the source",
  ),
  no_such_route: row(
    404,
    "not_found_error",
    "There is no {method} {path}.",
    "see /v1/catalog for what there is",
  ),
  method_not_allowed: row(
    405,
    "invalid_request_error",
    "{method} is not allowed on {path}.",
    "use {allowed}",
  ),
  idempotency_conflict: row(
    409,
    "conflict_error",
    "The first call with this Idempotency-Key is still running.",
    "wait for its answer, or call again with the same key later",
  ),
  already_exists: row(409, "conflict_error", "{what} exists already.", "use the one there is"),
  last_owner: row(
    409,
    "conflict_error",
    "The account would be left without an owner.",
    "make somebody else an owner first",
  ),
  body_too_large: row(
    413,
    "invalid_request_error",
    "The body is larger than {limit} bytes.",
    "send a smaller body",
  ),
  unsupported_media_type: row(
    415,
    "invalid_request_error",
    "The body is {type}, not JSON.",
    "send Content-Type: application/json",
  ),
  idempotency_mismatch: row(
    422,
    "invalid_request_error",
    "This Idempotency-Key came with another question before.",
    "use a new key for a new question",
  ),
  invalid_voucher: row(
    422,
    "invalid_request_error",
    "This code is not a voucher that can be redeemed.",
    "check it for typing errors; each voucher is good once",
  ),
  invalid_invitation: row(
    422,
    "invalid_request_error",
    "This invitation is used, too old, or for another address.",
    "sign in with the address that was invited, or ask for a new invitation",
  ),
  verification_required: row(
    422,
    "invalid_request_error",
    "{carrier} tells of a parcel only with {param}.",
    "send {param}",
  ),
  rate_limited: row(429, "rate_limit_error", "Too many requests.", "wait {retry_after} s and retry", true),
  concurrency_limited: row(
    429,
    "rate_limit_error",
    "Too many calls are open at the same time.",
    "wait {retry_after} s and retry",
    true,
  ),
  daily_limit: row(
    429,
    "rate_limit_error",
    "The day's calls are used up.",
    "wait {retry_after} s, until midnight in China, or top up for a higher limit",
    true,
  ),
  client_closed_request: row(
    499,
    "invalid_request_error",
    "The client left before the answer.",
    "call again",
  ),
  internal_error: row(
    500,
    "server_error",
    "The service failed.",
    "retry; if it stays, report the request id",
    true,
  ),
  not_configured: row(
    501,
    "server_error",
    "{operation} has no source on this service.",
    "ask the operator to import data or configure a connector",
  ),
  upstream_error: row(
    502,
    "server_error",
    "The source of {operation} gave an answer that cannot be used.",
    "retry later",
    true,
  ),
  upstream_timeout: row(504, "server_error", "The source of {operation} took too long.", "retry later", true),
  unavailable: row(
    503,
    "server_error",
    "The service cannot take the call now.",
    "retry after {retry_after} s",
    true,
  ),
} as const satisfies Record<string, ErrorRow>;

export interface ErrorRow {
  readonly status: number;
  readonly type: string;
  readonly message: string;
  readonly nextAction: string;
  readonly retryable: boolean;
}

export type ErrorCode = keyof typeof errors;

function row<const Message extends string, const Next extends string>(
  status: number,
  type: string,
  message: Message,
  nextAction: Next,
  retryable = false,
) {
  return { status, type, message, nextAction, retryable };
}
