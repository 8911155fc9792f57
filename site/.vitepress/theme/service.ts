import { computed, ref } from "vue";
import type { ExampleCall } from "./curl.ts";

export type Product = "dataq" | "locallm";

/** The product that serves this page; undefined until it is known, and on any other host. */
export const product = ref<Product>();
/** The address with which the reader is signed in at dataq's console. */
export const reader = ref<string>();
/**
 * A key that the reader typed or had made here. It lives in this page only, until it is reloaded: nothing stores it.
 */
export const key = ref("");

/** Whether this locallm answers nobody without a key. */
export const asksForKey = ref(false);

let asked: Promise<void> | undefined;

/** Finds out once who serves the page, and at dataq who reads it. */
export function findService(): Promise<void> {
  asked ??= find().catch(() => {});
  return asked;
}

async function find(): Promise<void> {
  const answer = await fetch("/", { headers: { accept: "application/json" }, redirect: "manual" });
  const text = answer.ok ? await answer.text() : "";
  product.value = text.startsWith("locallm is running")
    ? "locallm"
    : text.startsWith('{"name":"dataq"')
      ? "dataq"
      : undefined;
  if (product.value === "locallm") asksForKey.value = (await fetch("/api/version")).status === 401;
  if (product.value !== "dataq") return;
  const session = await fetch("/console/api/session");
  if (session.ok) reader.value = (await session.json()).user?.email;
}

/** Whether calls can be sent as things stand. */
export const maySend = computed(
  () => key.value !== "" || (product.value === "dataq" ? reader.value !== undefined : !asksForKey.value),
);

/** Sends a call with the reader's key, or at dataq with their session. */
export function send({ method, path, headers, body }: ExampleCall, signal: AbortSignal): Promise<Response> {
  return fetch(path, {
    method,
    signal,
    headers: {
      ...headers,
      ...(body !== undefined && { "content-type": "application/json" }),
      ...(key.value !== ""
        ? { authorization: `Bearer ${key.value}` }
        : product.value === "dataq"
          ? { "x-console": "1" }
          : {}),
    },
    ...(body !== undefined && { body }),
  });
}

/** Whether a call takes tokens from the reader's account. */
export function isCharged({ method, path, body = "" }: ExampleCall): boolean {
  if (product.value !== "dataq" || method !== "POST" || path !== "/v1/data/query") return false;
  return !key.value.startsWith("dq_test_") && !/"dry_run"\s*:\s*true/.test(body);
}

const dayMs = 86_400_000;

/** Makes a key that returns samples, costs nothing, and ends after a day. Throws what the service answers. */
export async function makeTestKey(): Promise<void> {
  const answer = await fetch("/v1/keys", {
    method: "POST",
    headers: { "content-type": "application/json", "x-console": "1" },
    body: JSON.stringify({
      name: "documentation",
      mode: "test",
      scopes: ["data:query"],
      expires_at: new Date(Date.now() + dayMs).toISOString(),
    }),
  });
  const made = await answer.json();
  if (!answer.ok) throw new Error(made.detail ?? `${answer.status}`);
  key.value = made.key;
}
