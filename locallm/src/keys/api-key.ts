import { hash, randomBytes } from "node:crypto";
import { z } from "zod";
import { patternProblem } from "./model-patterns.ts";

/**
 * What a key may do, besides listing the models it may use and reading its own usage. `ask`: ask models. `manage`:
 * pull, push, create, copy and delete models. `usage`: read the metrics and the usage of all keys. `administer`:
 * everything.
 */
export const permissions = ["ask", "manage", "usage", "administer"] as const;
export type Permission = z.output<typeof permission>;

export const mostKeys = 10_000;
export const mostRequestsPerMinute = 1_000_000;
const mostModels = 100;

export const keyName = z
  .string()
  .normalize("NFC")
  .regex(
    /^[\p{L}\p{N}][\p{L}\p{M}\p{N} ._@+-]{0,62}[\p{L}\p{M}\p{N}]$|^[\p{L}\p{N}]$/u,
    "must have 1 to 64 letters, digits, spaces and . _ @ + -, and begin and end with a letter or digit",
  );

export const permission = z.enum(permissions);

/** A model name, or a pattern with `*`. */
export const modelPattern = z.string().superRefine((text, context) => {
  const problem = patternProblem(text);
  if (problem !== null) context.addIssue({ code: "custom", message: problem });
});

const modelList = z
  .array(modelPattern)
  .min(1, "must name at least one model")
  .max(mostModels, `must name at most ${mostModels} models`);

/** A key as the keys file stores it: without the secret, of which only the hash is known. */
export const apiKey = z.strictObject({
  id: z.string().regex(/^[0-9a-f]{12}$/, "must be 12 hexadecimal digits"),
  name: keyName,
  /** SHA-256 of the secret. A slow hash is not necessary, because the secret has 256 random bits. */
  sha256: z.string().regex(/^[0-9a-f]{64}$/, "must be 64 hexadecimal digits"),
  created: z.iso.datetime(),
  may: z.array(permission).min(1, `must be one or more of ${permissions.join(", ")}`),
  /** Names and patterns. Null allows all models. */
  models: modelList.nullable(),
  requests_per_minute: z.int().min(1).max(mostRequestsPerMinute).nullable(),
  /** Prompt and answer tokens together, per UTC day. */
  tokens_per_day: z.int().min(1).nullable(),
});

export type ApiKey = z.output<typeof apiKey>;

export type KeyWish = Pick<ApiKey, "name" | "may" | "models" | "requests_per_minute" | "tokens_per_day">;

/** Makes a key. The secret cannot be computed from the record. */
export function newKey(wish: KeyWish, now: Date): { readonly secret: string; readonly record: ApiKey } {
  const secret = `sk-locallm-${randomBytes(32).toString("base64url")}`;
  const id = randomBytes(6).toString("hex");
  return { secret, record: { id, ...wish, sha256: hashOf(secret), created: now.toISOString() } };
}

export function hashOf(secret: string): string {
  return hash("sha256", secret, "hex");
}
