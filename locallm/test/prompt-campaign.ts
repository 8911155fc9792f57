import { createHash } from "node:crypto";
import { Worker } from "node:worker_threads";
import { gzipSync } from "node:zlib";
import fc from "fast-check";
import type { ServerProcess } from "./server-process.ts";
import { ggufBytes, loadableModel, text, withEntry } from "./tiny-gguf.ts";

/** A request that tries to delay other clients. */
export interface Attack {
  readonly what: string;
  send(server: Pick<ServerProcess, "post">): Promise<unknown>;
}

const victim = "small:a";
const brief = { num_predict: 1, num_ctx: 2048, num_thread: 1, temperature: 0 };

/** Go templates for requests and Jinja templates for weights, built from parts that multiply work. */
export function hostileTemplates(count: number, seed: number): Attack[] {
  const go = nested(goParts).map((template) => ({ template, chars: 0 }));
  const request = fc.record({ of: go, chars: fc.constantFrom(10, 10_000, 1_000_000, 4_000_000) });
  const byRequest = request.map(({ of: { template }, chars }): Attack => {
    const system = "<é>".repeat(chars / 3);
    const body = { model: victim, system, prompt: "x", template, stream: false, options: brief };
    return {
      what: `a Go template of ${template.length} characters over ${chars}: ${template.slice(0, 80)}`,
      send: (server) => consume(server.post("/api/generate", body)),
    };
  });
  const inWeights = nested(jinjaParts).map(
    (template): Attack => ({
      what: `a Jinja template of ${template.length} characters: ${template.slice(0, 80)}`,
      send: (server) => showWeights(server, template),
    }),
  );
  const attacks = fc.oneof({ arbitrary: byRequest, weight: 4 }, { arbitrary: inWeights, weight: 1 });
  return fc.sample(attacks, { seed, numRuns: count });
}

/** Long texts that repeat a few units. They are sent to every route that tokenizes. */
export function hostilePrompts(count: number, seed: number): Attack[] {
  const units = fc.constantFrom(
    ...[
      "<|im_end|>",
      "<|im_start|>",
      "<|im_",
      " <|im_end|>\n",
      "<s>",
      "a",
      " ",
      "\n",
      "1",
      "!",
      "=",
      "é",
      "中",
      "🙂",
    ],
    ...["word and ", "don't", "\t ", "aB1 ", "\ud83d", "<", "|", "\0", "x\n\n", "=".repeat(40)],
  );
  const texts = fc
    .array(fc.tuple(units, fc.constantFrom(1, 100, 3000, 60_000)), { minLength: 1, maxLength: 4 })
    .map((parts) => parts.map(([unit, times]) => unit.repeat(times)).join(""));
  const routes = fc.constantFrom("chat", "generate", "raw", "tokenize", "completions", "many");
  const attacks = fc.tuple(texts, routes).map(([content, route]): Attack => {
    const [path, body] = requestOf(route, content);
    return {
      what: `${route} of ${content.length} characters: ${JSON.stringify(content.slice(0, 30))}`,
      send: (server) => consume(server.post(path, body)),
    };
  });
  return fc.sample(attacks, { seed, numRuns: count });
}

/** Bodies up to the limit whose bytes, values or compression make them expensive to receive and to check. */
export function hostileBodies(count: number, seed: number): Attack[] {
  const bytes = fc.constantFrom(1_000, 100_000, 3_000_000, 12_000_000, 31_000_000, 33_000_000);
  const shapes = fc.constantFrom(
    ...["text", "escapes", "numbers", "objects", "messages", "deep", "unended", "not UTF-8"],
  );
  const routes = fc.constantFrom(
    "/api/chat",
    "/api/generate",
    "/api/embed",
    "/v1/chat/completions",
    "/v1/messages",
  );
  const attacks = fc
    .tuple(shapes, bytes, routes, fc.constantFrom("identity", "identity", "gzip"))
    .map(([shape, size, path, encoding]): Attack => {
      return {
        what: `${shape} of ${size} bytes to ${path}, ${encoding}`,
        // Made when it is sent: all of a round together would need gigabytes.
        send: (server) => {
          const body = bodyOf(shape, size);
          const sent = encoding === "gzip" ? gzipSync(body, { level: 1 }) : body;
          const headers = { "content-encoding": encoding };
          return consume(server.post(path, undefined, { body: new Uint8Array(sent), headers })).catch(
            ignoreEarlyEnd,
          );
        },
      };
    });
  return fc.sample(attacks, { seed, numRuns: count });
}

/** The server closes the connection of a body that it rejects before its end, which may hide the answer. */
function ignoreEarlyEnd(error: unknown): void {
  const code = ((error as Error).cause as NodeJS.ErrnoException | undefined)?.code ?? "";
  if (!["ECONNRESET", "EPIPE", "UND_ERR_SOCKET"].includes(code)) throw error;
}

function bodyOf(shape: string, size: number): Buffer {
  const fill = (unit: string) => unit.repeat(Math.ceil(size / unit.length));
  const chat = (content: string) =>
    JSON.stringify({ model: victim, messages: [{ role: "user", content }], ...once });
  switch (shape) {
    case "text":
      return Buffer.from(chat(fill("word and ")));
    case "escapes":
      return Buffer.from(`{"model":"${victim}","messages":[{"role":"user","content":"${fill("\\u00e9")}"}]}`);
    case "numbers":
      return Buffer.from(`{"model":"${victim}","input":[${fill("1,").slice(0, 390_000)}1]}`);
    case "objects":
      return Buffer.from(`{"model":"${victim}","options":{"a":[${fill('{"b":{}},').slice(0, 1_700_000)}1]}}`);
    case "messages": {
      const message = '{"role":"user","content":"x"},';
      const many = message.repeat(Math.min(Math.ceil(size / message.length), 90_000));
      return Buffer.from(
        `{"model":"${victim}","messages":[${many.slice(0, -1)}],"options":{"num_predict":1}}`,
      );
    }
    case "deep":
      return Buffer.from(`{"model":${fill("[")}`);
    case "unended":
      return Buffer.from(`{"model":"${victim}","prompt":"${fill("x")}`);
    default:
      return Buffer.alloc(size, 0xe9);
  }
}

const once = { stream: false, options: brief };

function requestOf(route: string, content: string): [path: string, body: Record<string, unknown>] {
  const common = { model: victim, stream: false, options: brief };
  switch (route) {
    case "chat":
      return ["/api/chat", { ...common, messages: [{ role: "user", content }] }];
    case "many": {
      const messages = Array.from({ length: 200 }, (_, index) => ({
        role: index % 2 === 0 ? "user" : "assistant",
        content: content.slice(index * 500, index * 500 + 4000),
      }));
      return ["/api/chat", { ...common, messages }];
    }
    case "generate":
      return ["/api/generate", { ...common, prompt: content }];
    case "raw":
      return ["/api/generate", { ...common, prompt: content, raw: true, truncate: true }];
    case "tokenize":
      return ["/api/tokenize", { model: victim, content, options: brief }];
    default:
      return ["/v1/completions", { model: victim, prompt: content, max_tokens: 1, options: brief }];
  }
}

const goParts = {
  leaves: [
    ...["{{ .System }}", "{{ len (js .System) }}", "{{ html .System }}", "{{ urlquery .System }}", "\n"],
    ...[
      '{{ printf "%q" .System }}',
      '{{ printf "%999s" .System }}',
      "{{ json .Messages }}",
      "{{ $x = print $x $x }}",
    ],
    ...["{{ slice .System 1 }}", "{{ eq .System (print .System) }}", '{{ template "t" . }}', "{{", "{{/*"],
  ],
  wraps: [
    ["{{ range 9999 }}", "{{ end }}"],
    ["{{ range .Messages }}", "{{ end }}"],
    ["{{ if .System }}", "{{ end }}"],
    ['{{ $x := "xxxxxxxx" }}', ""],
    ['{{ define "t" }}{{ template "t" . }}{{ end }}', ""],
  ],
} as const;

const jinjaParts = {
  leaves: [
    ...[
      "\n",
      "{{ messages }}",
      "{{ messages | tojson }}",
      "{% set ns.a = ns.a + ns.a %}",
      "{{ ns.a }}",
      "{#",
    ],
    ...[
      "{{ range(99999) | join(messages[0].content) }}",
      "{{ m() }}",
      "{{ messages[0].content.replace('', 'é') }}",
    ],
    ...[
      "{{ (".repeat(200),
      "{{ messages | sort | reverse | list | length }}",
      "{% set x = [x, x] %}",
      "{{ x }}",
    ],
  ],
  wraps: [
    ["{% for a in range(9999) %}", "{% endfor %}"],
    ["{% for m in messages %}", "{% endfor %}"],
    ["{% set ns = namespace(a='xxxxxxxx') %}", ""],
    ["{% macro m() %}{{ m() }}{% endmacro %}", ""],
    ["{% if messages %}", "{% endif %}"],
  ],
} as const;

type Parts = { readonly leaves: readonly string[]; readonly wraps: readonly (readonly string[])[] };

function nested({ leaves, wraps }: Parts): fc.Arbitrary<string> {
  const body = fc
    .array(fc.tuple(fc.constantFrom(...leaves), fc.constantFrom(1, 20, 400, 20_000)), { maxLength: 4 })
    .map((parts) =>
      parts
        .map(([leaf, times]) => leaf.repeat(times))
        .join("")
        .slice(0, 900_000),
    );
  return fc
    .tuple(body, fc.array(fc.constantFrom(...wraps), { maxLength: 4 }))
    .map(([inner, around]) => around.reduceRight((text, [open, close]) => open + text + close, inner));
}

/** Creates a model with this template in its weights, asks for its capabilities, and deletes it. */
async function showWeights(server: Pick<ServerProcess, "post">, template: string): Promise<void> {
  const bytes = ggufBytes(withEntry(loadableModel(), "tokenizer.chat_template", text(template)));
  const digest = `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
  const model = `hostile:${digest.slice(7, 19)}`;
  await consume(server.post(`/api/blobs/${digest}`, undefined, { body: new Uint8Array(bytes) }));
  await consume(server.post("/api/create", { model, files: { "a.gguf": digest }, stream: false }));
  await consume(server.post("/api/show", { model }));
  await consume(server.post("/api/delete", { model }, { method: "DELETE" }));
}

async function consume(answer: Promise<Response>): Promise<string> {
  const response = await answer;
  const body = await response.text();
  if (response.status === 500 && !body.includes("template")) throw new Error(`${response.status}: ${body}`);
  return body;
}

export interface Waits {
  readonly medianMs: number;
  readonly slowestMs: number;
}

/** Alternately requests an ordinary answer and the list of models until `over`. */
export async function ordinaryRequests(server: ServerProcess, over: () => boolean): Promise<Waits> {
  const times: number[] = [];
  const chat = { model: victim, messages: [{ role: "user", content: "hi" }], stream: false, options: brief };
  do {
    for (const ask of [() => server.ask("/api/chat", chat), () => server.ask("/api/tags")]) {
      const beganMs = performance.now();
      await ask();
      times.push(performance.now() - beganMs);
    }
    await new Promise((resolve) => setTimeout(resolve, 5));
  } while (!over());
  times.sort((a, b) => a - b);
  return { medianMs: times[times.length >> 1] ?? 0, slowestMs: times.at(-1) ?? 0 };
}

/** Sends `atOnce` attacks at a time. Returns those that failed. */
export async function sendAll(
  server: Pick<ServerProcess, "post">,
  attacks: readonly Attack[],
  atOnce: number,
): Promise<string[]> {
  let next = 0;
  const failed: string[] = [];
  const senders = Array.from({ length: atOnce }, async () => {
    for (let attack = attacks[next++]; attack !== undefined; attack = attacks[next++]) {
      const { what, send } = attack;
      await send(server).catch((error: unknown) => failed.push(`${what}: ${String(error)}`));
    }
  });
  await Promise.all(senders);
  return failed;
}

/** Requests ordinary answers while `attacks` run, until they have ended. */
export async function beside(
  server: ServerProcess,
  attacks: Promise<string[]>,
): Promise<Waits & { failed: string[] }> {
  let isOver = false;
  void attacks.finally(() => {
    isOver = true;
  });
  const waits = await ordinaryRequests(server, () => isOver);
  return { ...waits, failed: await attacks };
}

export interface BodyAttack {
  readonly url: string;
  readonly count: number;
  readonly seed: number;
  readonly atOnce: number;
}

/** Sends hostile bodies from another thread. Returns those that failed. */
export function sendBodies(attack: BodyAttack): Promise<string[]> {
  const worker = new Worker(new URL("body-sender.ts", import.meta.url), { workerData: attack });
  return new Promise((resolve, reject) => {
    worker.once("message", resolve).once("error", reject);
  });
}
