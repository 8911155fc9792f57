import { ServiceError } from "../service/call.ts";
import type { Text } from "../text/en.ts";

/** What a page says of an error: what went wrong, what to do next (may be empty), and the request ID if there is one. */
export function explain(error: unknown, t: Text) {
  if (!(error instanceof ServiceError))
    return { title: error instanceof Error ? error.message : String(error), next: "", requestId: "" };
  const known = t.errors[error.code as keyof typeof t.errors];
  const title = known ?? error.message;
  // Pages authenticate with the session cookie, so a missing key means that the session has ended.
  if (error.code === "missing_api_key" || error.code === "invalid_api_key")
    return { title: t.errors.session_expired, next: "", requestId: "" };
  // The service's message mentions keys and scopes, but console users have roles.
  if (error.code === "scope_denied") return { title, next: t.team.askOwner, requestId: error.requestId };
  // An error without a request ID does not come from the service, so its message is not in the user's
  // language.
  if (error.requestId === "")
    return known
      ? { title, next: "", requestId: "" }
      : { title: t.failed, next: error.message, requestId: "" };
  // Its message names each field with its fix; the next step would send people to a list that no page shows.
  if (error.code === "invalid_params") return { title, next: "", requestId: error.requestId };
  // The title names the kind of error; the service's message adds the details.
  return { title, next: known ? error.message : sentence(error.nextAction), requestId: error.requestId };
}

/** Makes the service's next step a complete sentence. */
function sentence(text: string): string {
  if (text === "" || /[.!?。！？]$/.test(text)) return text;
  return text[0]!.toUpperCase() + text.slice(1) + (/\p{Script=Han}\P{L}*$/u.test(text) ? "。" : ".");
}
