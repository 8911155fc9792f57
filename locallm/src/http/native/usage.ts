import type { FastifyInstance } from "fastify";
import type { ApiKey } from "../../keys/api-key.ts";
import type { Counts, Usage } from "../../keys/usage.ts";
import type { Parts } from "../parts.ts";

/** `GET /api/usage`: the caller's own usage; that of all keys with the permission `usage`. */
export function usageRoute(app: FastifyInstance, parts: Parts): void {
  app.get("/api/usage", async ({ caller }) => {
    const keys = caller.may("usage")
      ? parts.keys.all
      : parts.keys.all.filter(({ key }) => key.id === caller.id);
    return { keys: keys.map(({ key, usage }) => entry(key, usage)) };
  });
}

function entry(key: ApiKey, usage: Usage) {
  const { day, today, total, lastUsed } = usage.record;
  return {
    id: key.id,
    name: key.name,
    models: key.models,
    may: key.may,
    requests_per_minute: key.requests_per_minute,
    tokens_per_day: key.tokens_per_day,
    tokens_left_today: key.tokens_per_day === null ? null : usage.tokensLeft(key.tokens_per_day),
    day,
    today: shown(today),
    total: shown(total),
    last_used_at: lastUsed === null ? null : new Date(lastUsed).toISOString(),
  };
}

function shown({ requests, promptTokens, generatedTokens }: Counts) {
  return { requests, prompt_tokens: promptTokens, generated_tokens: generatedTokens };
}
