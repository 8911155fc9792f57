import { Ajv2020 } from "ajv/dist/2020.js";
import ajvFormats from "ajv-formats";
import fc from "fast-check";
import { residentMib } from "./process-memory.ts";
import { documents, type Schema } from "./random-schema.ts";
import type { ServerProcess, TestServer } from "./server-process.ts";

const ajv = ajvFormats.default(new Ajv2020({ strict: false, unicodeRegExp: true }));

export function seededSchemas(count: number, seed: number): Schema[] {
  return fc.sample(documents, { seed, numRuns: count });
}

export interface Kept {
  /** Null if the answer can be parsed and is valid. */
  readonly problem: string | null;
  readonly tokens: number;
}

/** Requests an answer for this schema and checks it with an independent validator. */
export async function askForSchema(
  server: TestServer,
  model: string,
  schema: Schema,
  seed: number,
): Promise<Kept> {
  const answer = await server.ask<{ response: string; done_reason: string; eval_count: number }>(
    "/api/generate",
    {
      model,
      prompt: "Some JSON: ",
      stream: false,
      format: schema,
      options: { seed, num_ctx: 2048, temperature: 1 },
    },
  );
  const tokens = answer.eval_count;
  if (answer.done_reason !== "stop") return { problem: `ended by ${answer.done_reason}`, tokens };
  const validate = ajv.compile(schema);
  const text = answer.response;
  try {
    if (validate(JSON.parse(text))) return { problem: null, tokens };
    return { problem: `${text} of ${JSON.stringify(schema)}: ${ajv.errorsText(validate.errors)}`, tokens };
  } catch (error) {
    return { problem: `${text} of ${JSON.stringify(schema)}: ${String(error)}`, tokens };
  }
}

export interface Refusals {
  /** Schemas that were accepted, or rejected with an unclear error. */
  readonly accepted: readonly string[];
  readonly slowestMs: number;
  readonly medianMs: number;
  /** Growth of the server's resident memory after the first round of the same requests. */
  readonly grownMib: number;
}

/** Sends hostile schemas one after another. The first round grows the heap to its working size. */
export async function refuseHostile(server: ServerProcess, model: string, count: number): Promise<Refusals> {
  const ask = (format: Schema) => server.post("/api/generate", { model, prompt: "x", format });
  for (const schema of hostileSchemas(Math.min(count, 20))) await (await ask(schema)).arrayBuffer();
  const before = residentMib(server.pid);
  const accepted: string[] = [];
  const times: number[] = [];
  for (const [index, schema] of hostileSchemas(count).entries()) {
    const started = performance.now();
    const response = await ask(schema);
    const text = await response.text();
    times.push(performance.now() - started);
    if (response.status !== 400 || !/"invalid (format|JSON): .{10}/.test(text))
      accepted.push(`${index}: ${response.status} ${text.slice(0, 200)}`);
  }
  times.sort((a, b) => a - b);
  return {
    accepted,
    slowestMs: times.at(-1) ?? 0,
    medianMs: times[times.length >> 1] ?? 0,
    grownMib: residentMib(server.pid) - before,
  };
}

/** Schemas that are too large or contradict themselves. The server must reject every one. */
function hostileSchemas(count: number): Schema[] {
  const nest = (depth: number, wrap: (inner: Schema) => Schema) =>
    Array.from({ length: depth }).reduce<Schema>((inner) => wrap(inner), { type: "null" });
  const makers: ((size: number) => Schema)[] = [
    (size) => nest(129 + size, (inner) => ({ properties: { a: inner } })),
    (size) => nest(129 + size, (inner) => ({ type: "array", items: inner })),
    (size) => ({
      $ref: "#/$defs/a0",
      $defs: Object.fromEntries(
        Array.from({ length: size + 1 }, (_, at) => [
          `a${at}`,
          { items: { $ref: `#/$defs/a${(at + 1) % (size + 1)}` }, type: "array", minItems: 1 },
        ]),
      ),
    }),
    (size) => ({ type: "object", properties: { next: { $ref: "#" } }, required: ["next"], size }),
    (size) => ({ enum: Array.from({ length: 30_000 + size }, (_, at) => `value ${at}`) }),
    (size) => ({
      type: "object",
      properties: Object.fromEntries(Array.from({ length: 60_000 + size }, (_, at) => [`k${at}`, {}])),
    }),
    (size) => ({ type: "string", minLength: 3 + size, maxLength: 2 + size }),
    (size) => ({ allOf: [{ type: "integer", minimum: size + 1 }, { maximum: size }] }),
    (size) => ({ type: "string", pattern: `^a{${size + 1}}$`, not: { pattern: "^a*$" } }),
  ];
  return Array.from({ length: count }, (_, index) =>
    makers[index % makers.length]!(Math.floor(index / makers.length)),
  );
}

/**
 * Schemas that are expensive to read or to enforce, although most are small. The server rejects some and
 * answers others.
 */
export function costlySchemas(count: number): Schema[] {
  const text = (pattern: string): Schema => ({ type: "string", pattern });
  const makers: ((size: number) => Schema)[] = [
    (size) => text("(a|b|c|d)*".repeat(60 + size)),
    (size) => text("[a-d]*".repeat(60 + size)),
    (size) => text("a?".repeat(300 + size)),
    (size) => ({ enum: Array.from({ length: 20_000 }, (_, at) => `${size}v${at}`) }),
    (size) => ({
      allOf: Array.from({ length: 3000 }, (_, at) => ({ properties: { [`k${at}`]: { const: size } } })),
    }),
    (size) => text(`(a|b)*a(a|b){${12 + (size % 12)}}c*`),
    (size) => text(`^(?=.*a{${size % 9}})(?!.*b)([a-z]|\\p{L}){${1 + size},}$`),
    (size) => text(`${"(".repeat(30)}a${"?)*".repeat(30)}{0,${size}}`),
    (size) => text("((a{1,40}b?){1,40}c?){1,40}".repeat(1 + (size % 4))),
    (size) => ({
      anyOf: Array.from({ length: 1500 }, (_, at) => ({
        properties: { a: { type: "string" }, [`b${at}`]: { const: size } },
        required: ["a", `b${at}`],
      })),
    }),
    (size) => ({
      allOf: Array.from({ length: 12 }, (_, at) => ({
        anyOf: [{ required: [`a${at}`] }, { required: [`b${at}`] }, { minProperties: size % 5 }],
      })),
    }),
    (size) => ({
      oneOf: Array.from({ length: 30 }, (_, at) => ({ type: "integer", multipleOf: at + 2 + (size % 3) })),
    }),
    (size) => ({
      $defs: {
        n: { anyOf: [{ type: "null" }, { type: "array", items: { $ref: "#/$defs/n" }, maxItems: 9 + size }] },
      },
      $ref: "#/$defs/n",
    }),
    (size) => ({
      type: "object",
      patternProperties: Object.fromEntries(
        Array.from({ length: 20 }, (_, at) => [
          `^(a|b)*${"ab"[at % 2]}(a|b){${at % 9}}${size}`,
          { const: at },
        ]),
      ),
      additionalProperties: false,
    }),
    (size) => ({
      type: "array",
      items: { type: "array", items: text("[a-z]{0,500}"), maxItems: 900 },
      minItems: 900 + (size % 9),
    }),
    (size) => ({
      properties: Object.fromEntries(
        Array.from({ length: 200 }, (_, at) => [`k${at}`, text(`(a|b)*a(a|b){${9 + (size % 3)}}${at}`)]),
      ),
    }),
  ];
  return Array.from({ length: count }, (_, index) =>
    makers[index % makers.length]!(Math.floor(index / makers.length)),
  );
}

/**
 * Requests an answer for a costly schema. Returns null if the server answered it or rejected it with a clear
 * error; otherwise returns the problem.
 */
export async function askCostly(server: TestServer, model: string, format: Schema): Promise<string | null> {
  const response = await server.post("/api/generate", {
    model,
    prompt: "x",
    stream: false,
    format,
    options: { num_predict: 20, temperature: 1, num_ctx: 2048 },
  });
  const body = (await response.json()) as { error?: string; done?: boolean };
  const isNamed =
    response.status === 400 && /invalid format: .{10}|the schema's grammar/.test(body.error ?? "");
  return (response.status === 200 && body.done === true) || isNamed
    ? null
    : `${response.status} ${body.error}`;
}
