/**
 * Every error that dataq can return. Each code has an HTTP status, a type, a message, the next step for the
 * caller, and whether a retry can help. `{name}` is filled from the error's details, and `{name|singular|plural}` with a
 * count and its noun. The service, the docs and the clients read this table. A request that ends in an error is never
 * charged.
 */
export const errors = {
  invalid_json: row(
    400,
    "invalid_request_error",
    "The body is not valid JSON: {reason}.",
    "Send a JSON object.",
  ),
  invalid_params: row(400, "invalid_request_error", "{summary}", "Correct the parameters listed in details."),
  missing_parameter: row(400, "invalid_request_error", "{param} is missing.", "Send {param}."),
  unknown_parameter: row(400, "invalid_request_error", "{param} is not a parameter of {operation}.", "{fix}"),
  ambiguous_parameter: row(
    400,
    "invalid_request_error",
    "{param} is given twice with different values.",
    "Send {param} once.",
  ),
  unknown_operation: row(400, "invalid_request_error", "Unknown operation: {operation}.", "{fix}"),
  invalid_capability: row(
    400,
    "invalid_request_error",
    "Unknown capability: {capability}.",
    "Use a domain and type from /capabilities.json.",
  ),
  domain_mismatch: row(
    400,
    "invalid_request_error",
    "{operation} belongs to the domain {expected}, not {domain}.",
    "Omit domain, or send {expected}.",
  ),
  page_out_of_range: row(
    400,
    "invalid_request_error",
    "page × page_size must not exceed 10,000 results.",
    "Narrow the query with a filter.",
  ),
  snapshot_expired: row(
    400,
    "invalid_request_error",
    "The snapshot {snapshot} has expired.",
    "Start again at page 1 without a snapshot.",
  ),
  missing_api_key: row(
    401,
    "authentication_error",
    "The request has no API key.",
    "Send the header Authorization: Bearer <API_KEY>.",
  ),
  invalid_api_key: row(
    401,
    "authentication_error",
    "The API key is not valid.",
    "Check the API key, or create a new one in the console.",
  ),
  ambiguous_credentials: row(
    401,
    "authentication_error",
    "Authorization and X-API-Key have different API keys.",
    "Send only one of Authorization and X-API-Key.",
  ),
  key_in_url: row(
    401,
    "authentication_error",
    "The URL or the body contains an API key. Logs may have recorded it.",
    "Rotate this API key, and send the new one in the header Authorization: Bearer <API_KEY>.",
  ),
  insufficient_balance: row(
    402,
    "billing_error",
    "This call costs {required|token|tokens}. The balance is {balance|token|tokens}, {shortfall} too few.",
    "Top up, then retry.",
  ),
  spend_limit_reached: row(
    402,
    "billing_error",
    "This key has used its limit of {cap|token|tokens} for {month}.",
    "Raise the key's monthly_cap, or wait until next month (China time).",
  ),
  project_budget_reached: row(
    402,
    "billing_error",
    "The project {project} has used {spent|token|tokens} of its budget of {budget} for {month}; this call costs {required}.",
    "Raise the project's monthly_budget, or wait until {resets_at}.",
  ),
  project_in_use: row(
    409,
    "conflict_error",
    "The project {project} still has {keys|API key|API keys}.",
    "Revoke its keys, then delete the project.",
  ),
  price_above_max: row(
    402,
    "billing_error",
    "This call costs {required|token|tokens}, which exceeds max_tokens ({max_tokens}).",
    "Raise max_tokens, or omit it.",
  ),
  budget_exceeded: row(
    402,
    "billing_error",
    "This call costs {required|token|tokens}. The session has {left|token|tokens} left of its budget of {budget}.",
    "Raise X-Tokens-Budget, or start a session with another X-Session-Id.",
  ),
  person_required: row(
    403,
    "permission_error",
    "Prices, offers and sums above {limit} CNY are for people who are signed in, not for keys.",
    "Do it in the console.",
  ),
  terms_not_accepted: row(
    403,
    "permission_error",
    "No owner of this account has accepted the terms of use {version}, which count since {from}.",
    "An owner accepts them in the console: {page}",
  ),
  scope_denied: row(
    403,
    "permission_error",
    "This key does not have the scope {scope}.",
    "Use a key with the scope {scope}.",
  ),
  ip_denied: row(
    403,
    "permission_error",
    "This key cannot be used from this IP address.",
    "Call from an address in the key's ip_list, or change the list.",
  ),
  foreign_page: row(
    403,
    "permission_error",
    "The request came from a page of another site.",
    "Open the console at the service's own address.",
  ),
  grant_denied: row(
    403,
    "permission_error",
    "You cannot grant rights that your own key does not have: {right}.",
    "Change {param}, or use a key without this restriction.",
  ),
  live_key_required: row(403, "permission_error", "A test key cannot do this.", "Use a live key."),
  host_not_allowed: row(
    403,
    "permission_error",
    "The service does not accept requests for the host {host}.",
    "Use the address that the service printed at startup, or add the host to DATAQ_ALLOWED_HOSTS.",
  ),
  origin_not_allowed: row(
    403,
    "permission_error",
    "The service does not accept requests from pages of {origin}.",
    "Call from a program, or add the origin to DATAQ_ORIGINS.",
  ),
  account_frozen: row(
    403,
    "permission_error",
    "The account is frozen.",
    "Contact the operator of this service.",
  ),
  not_found: row(404, "not_found_error", "{what} was not found.", "Check the value."),
  not_cached: row(
    404,
    "not_found_error",
    "The answer is not in the cache.",
    "Omit cache: only to query the source.",
  ),
  no_such_route: row(
    404,
    "not_found_error",
    "Unknown route: {method} {path}.",
    "See /v1/catalog for the operations and /docs for the routes.",
  ),
  method_not_allowed: row(
    405,
    "invalid_request_error",
    "{method} is not allowed on {path}.",
    "Use {allowed}.",
  ),
  idempotency_conflict: row(
    409,
    "conflict_error",
    "The first request with this Idempotency-Key is still running.",
    "Retry later with the same Idempotency-Key.",
  ),
  already_exists: row(409, "conflict_error", "{what} already exists.", "Use the existing one."),
  too_many: row(
    409,
    "conflict_error",
    "The account already has {limit} {what}.",
    "Delete one that you no longer need.",
  ),
  webhook_disabled: row(
    409,
    "conflict_error",
    "The webhook is disabled.",
    "Enable it, then send the message again.",
  ),
  payment_state: row(
    409,
    "conflict_error",
    "The payment is {state}.",
    "Get the payment, and see what its state allows.",
  ),
  approval_needed: row(
    409,
    "conflict_error",
    "This needs a second person. It waits as {id}.",
    "Have another operator approve it in the console, or send the same request.",
  ),
  account_busy: row(
    409,
    "conflict_error",
    "The account cannot be closed now.",
    "Wait for running calls, open payments and refunds, and pay what the credit line owes. The operator's own account is not closed.",
  ),
  last_owner: row(
    409,
    "conflict_error",
    "The account needs at least one owner.",
    "Make another member an owner first.",
  ),
  body_too_large: row(
    413,
    "invalid_request_error",
    "The body is larger than {limit|byte|bytes}.",
    "Send a smaller body.",
  ),
  not_acceptable: row(
    406,
    "invalid_request_error",
    "This route offers none of the types in the Accept header. It offers: {offered}.",
    "Send one of these types in the Accept header, or */*.",
  ),
  unsupported_media_type: row(
    415,
    "invalid_request_error",
    "The Content-Type must be application/json in UTF-8; it is {type}.",
    "Send the header Content-Type: application/json.",
  ),
  unsupported_encoding: row(
    415,
    "invalid_request_error",
    "The Content-Encoding is {encoding}; compressed bodies are not accepted.",
    "Send the body without compression.",
  ),
  idempotency_mismatch: row(
    422,
    "invalid_request_error",
    "This Idempotency-Key was already used with a different request.",
    "Use a new Idempotency-Key for a new request.",
  ),
  invalid_voucher: row(
    422,
    "invalid_request_error",
    "This voucher code is invalid, expired or already redeemed.",
    "Check the code for typing errors.",
  ),
  provider_off: row(
    422,
    "invalid_request_error",
    "This service does not take payments by {provider}.",
    "Use a way to pay from /v1/payments/options, or redeem a voucher.",
  ),
  invalid_notification: row(
    422,
    "invalid_request_error",
    "This is not a valid notification of {provider}: {reason}.",
    "Check the keys of {provider} in payments.json, and the clock of this machine.",
  ),
  invalid_logout_token: row(
    400,
    "invalid_request_error",
    "This is not a valid logout token: {reason}.",
    "Check issuer and client_id in sso.json, the keys of the provider, and the clock of this machine.",
  ),
  invalid_invitation: row(
    422,
    "invalid_request_error",
    "This invitation has been used, has expired, or was sent to a different address.",
    "Sign in with the invited address, or ask for a new invitation.",
  ),
  too_many_sessions: row(
    422,
    "invalid_request_error",
    "The account already has {limit|session|sessions} with a budget.",
    "Use the X-Session-Id of an earlier session. A session ends 24 hours after its last call.",
  ),
  no_words: row(
    422,
    "invalid_request_error",
    "{param} contains no word to search for.",
    "Send at least one letter, digit or Chinese character.",
  ),
  verification_required: row(
    422,
    "invalid_request_error",
    "{carrier} requires {param} (the last four digits of the phone number).",
    "Send {param}.",
  ),
  rate_limited: row(429, "rate_limit_error", "Too many requests.", "Retry after {retry_after} s.", true),
  concurrency_limited: row(
    429,
    "rate_limit_error",
    "Too many concurrent requests.",
    "Retry after {retry_after} s.",
    true,
  ),
  daily_limit: row(
    429,
    "rate_limit_error",
    "The account has reached its daily limit of calls.",
    "Retry after {retry_after} s (midnight in China), or top up for a higher limit.",
    true,
  ),
  client_closed_request: row(
    499,
    "invalid_request_error",
    "The client closed the connection before the response.",
    "Retry.",
  ),
  internal_error: row(
    500,
    "server_error",
    "The service had an internal error.",
    "Retry. If the error persists, report the request ID.",
    true,
  ),
  not_configured: row(
    501,
    "server_error",
    "No data source of this service can answer this call of {operation}.",
    "{fix}",
  ),
  upstream_error: row(
    502,
    "server_error",
    "The data source of {operation} returned an unusable response.",
    "Retry later.",
    true,
  ),
  payment_refused: row(
    502,
    "server_error",
    "{provider} did not accept this.",
    "Retry later, or choose another way to pay.",
    true,
  ),
  upstream_timeout: row(
    504,
    "server_error",
    "The data source of {operation} timed out.",
    "Retry later.",
    true,
  ),
  preparing: row(
    503,
    "server_error",
    "The first records of {operation} are still being prepared: {percent} % done.",
    "Retry after {retry_after} s. GET /v1/status shows the progress.",
    true,
  ),
  maintenance: row(
    503,
    "server_error",
    "The service is under maintenance. {notice}",
    "Retry after {retry_after} s. /status shows when it is back.",
    true,
  ),
  unavailable: row(
    503,
    "server_error",
    "The service is temporarily unavailable.",
    "Retry after {retry_after} s.",
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
