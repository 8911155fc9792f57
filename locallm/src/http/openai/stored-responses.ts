import type { FastifyInstance, FastifyRequest } from "fastify";
import { checkPart } from "../../wire/body.ts";
import { LocallmError } from "../../wire/errors.ts";
import { inputItemsQuery, type ResponsesItem } from "../../wire/openai/responses.ts";
import type { Parts } from "../parts.ts";
import { refuse } from "../sampling.ts";
import { newId } from "../sse.ts";
import type { KeptResponse } from "./kept-response.ts";

/** `GET` and `DELETE /v1/responses/{id}`, and `GET /v1/responses/{id}/input_items`. */
export function storedResponsesRoutes(app: FastifyInstance, { responses }: Parts): void {
  const kept = ({ caller }: FastifyRequest, id: string): KeptResponse => {
    const found = responses.get(id, caller);
    if (found === null) throw new LocallmError("response_not_found", { id: id.slice(0, 80) });
    return found;
  };
  type ById = { Params: { id: string }; Querystring: Record<string, unknown> };

  app.get<ById>("/v1/responses/:id", async (request) => {
    const { params, query } = request;
    refuse("stream", query["stream"] !== undefined && query["stream"] !== "false");
    return kept(request, params.id).response;
  });

  app.delete<ById>("/v1/responses/:id", async (request) => {
    const { id } = kept(request, request.params.id).response;
    responses.remove(id);
    return { id, object: "response", deleted: true };
  });

  app.get<ById>("/v1/responses/:id/input_items", async (request) => {
    const { params, query } = request;
    const { limit = 20, order = "desc", after } = checkPart(inputItemsQuery, query, "query");
    const { input } = kept(request, params.id);
    const items = order === "desc" ? input.toReversed() : input;
    // An unknown id gives the first page.
    const start = after === undefined ? 0 : items.findIndex((item) => item["id"] === after) + 1;
    const data = items.slice(start, start + limit);
    return {
      object: "list",
      data,
      first_id: data[0]?.["id"] ?? null,
      last_id: data.at(-1)?.["id"] ?? null,
      has_more: start + limit < items.length,
    };
  });
}

/**
 * Converts input to the form that the list returns: every item has an id and a type, and texts are lists of
 * parts.
 */
export function inputItems(input: string | readonly ResponsesItem[]): ResponsesItem[] {
  const items: readonly ResponsesItem[] =
    typeof input === "string" ? [{ role: "user", content: input }] : input;
  return items.map((item) => {
    const { type = "message", content } = item;
    const kind = item.role === "assistant" ? "output_text" : "input_text";
    const parts = typeof content === "string" ? { content: [{ type: kind, text: content }] } : {};
    const id = item["id"] ?? newId(`${idPrefixes[type] ?? "item"}_`);
    return { ...item, id, type, ...(type === "message" ? parts : {}) };
  });
}

const idPrefixes: Readonly<Record<string, string>> = {
  message: "msg",
  function_call: "fc",
  function_call_output: "fco",
  custom_tool_call: "ctc",
  custom_tool_call_output: "ctco",
  reasoning: "rs",
};
