import type { Model } from "../../library/model.ts";
import { modelsQuery } from "../../wire/anthropic/messages.ts";
import { checkPart } from "../../wire/body.ts";
import { displayModelName } from "../../wire/model-name.ts";

const defaultLimit = 20;

/** A page of the list, as Anthropic's clients ask for it. */
export function modelPage(models: readonly Model[], query: unknown) {
  const { limit = defaultLimit, after_id: after, before_id: before } = checkPart(modelsQuery, query, "query");
  const all = models.map(modelInfo);
  const indexOf = (id: string) => all.findIndex((each) => each.id === id);
  // An unknown id gives the first page, like a missing id.
  const start = after === undefined ? 0 : indexOf(after) + 1;
  const end = before === undefined || indexOf(before) === -1 ? all.length : indexOf(before);
  const range = all.slice(start, Math.max(start, end));
  const data = before === undefined ? range.slice(0, limit) : range.slice(-limit);
  return {
    data,
    has_more: data.length < range.length,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
  };
}

export function modelInfo(model: Model) {
  const id = displayModelName(model.name);
  return {
    type: "model",
    id,
    display_name: id,
    created_at: model.modifiedAt.toISOString(),
    lifecycle: "active",
    deprecated_at: null,
    retires_at: null,
    capabilities: null,
    max_input_tokens: null,
    max_tokens: null,
  };
}
