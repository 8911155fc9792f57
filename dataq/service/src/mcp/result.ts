import { counted, type Envelope, type ErrorBody } from "@dataq/contract";
import type { Balance, Estimate } from "@dataq/contract/wire";
import type { CallToolResult } from "@modelcontextprotocol/server";
import type { ApiAnswer } from "./api.ts";

/** Characters of records in the text. The structured content has all records. */
const MAX_TEXT = 8_000;

/** The result of a tool: the answer of the API as structured content, and as text for models that read only text. */
export function resultOf(name: string, { status, body }: ApiAnswer): CallToolResult {
  if (status >= 400) return errorResult(body as ErrorBody);
  const content = body as Record<string, unknown>;
  return { content: [{ type: "text", text: textOf(name, content) }], structuredContent: content };
}

/** An error of the API as JSON, which both models and programs read. */
export function errorResult(error: ErrorBody): CallToolResult {
  const { code, detail, next_action, retryable, retry_after, request_id, error: inner } = error;
  const told = {
    code,
    message: detail,
    next_action,
    retryable,
    ...(retry_after !== undefined && { retry_after }),
    ...(inner.details.length > 0 && { details: inner.details }),
    request_id,
  };
  return { isError: true, content: [{ type: "text", text: JSON.stringify(told) }] };
}

function textOf(name: string, body: object): string {
  if (name === "balance") return balanceText(body as Balance);
  if (name === "estimate") return estimateText(body as Estimate);
  return answerText(body as Envelope);
}

function balanceText({ balance, held, budget_left }: Balance): string {
  const heldText = held > 0 ? `, ${count(held)} held for calls that are running` : "";
  return `${counted(balance, "token")}${heldText}.${budgetText(budget_left)}`;
}

function estimateText({ tokens, cached, sample, balance_after }: Estimate): string {
  const why = sample ? " (generated samples)" : cached ? " (repeated call)" : "";
  return `${counted(tokens, "token")}${why}; ${count(balance_after)} left after it.`;
}

/** What was found and what it cost in the first line, then warnings, then a record in each line. */
function answerText(envelope: Envelope): string {
  const { data, total, total_relation, page, total_pages, usage, warnings, sample, request_id } = envelope;
  const records = Array.isArray(data) ? data : [data];
  const all = `${count(total)}${total_relation === "gte" ? " or more" : ""}`;
  const found = Array.isArray(data)
    ? `${records.length} of ${all} records, page ${page} of ${total_pages}.`
    : "1 record.";
  const why = usage.reason === null ? "" : ` (${usage.reason})`;
  const cost = `${counted(usage.tokens, "token")}${why}, balance ${count(usage.balance)}.${budgetText(usage.budget_left)}`;
  const lines = [`${found} Cost: ${cost} Request ${request_id}.`];
  if (sample) lines.push("The records are generated samples, not facts.");
  for (const warning of warnings) lines.push(`Warning: ${warning}`);
  let left = MAX_TEXT;
  for (const [place, record] of records.entries()) {
    const line = JSON.stringify(record, (_name, value) => value ?? undefined);
    left -= line.length;
    if (left < 0) {
      const rest = records.length - place;
      lines.push(
        `${counted(rest, "more record is", "more records are")} in the structured content; fewer fields (fields) or records (page_size) fit here.`,
      );
      break;
    }
    lines.push(line);
  }
  return lines.join("\n");
}

function budgetText(left: number | undefined): string {
  return left === undefined
    ? ""
    : ` ${counted(left, "token of the session's budget is", "tokens of the session's budget are")} left.`;
}

function count(value: number): string {
  return value.toLocaleString("en-US");
}
