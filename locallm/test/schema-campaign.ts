import { Ajv2020 } from "ajv/dist/2020.js";
import ajvFormats from "ajv-formats";
import fc from "fast-check";
import { residentMib } from "./process-memory.ts";
import { documents, type Schema } from "./random-schema.ts";
import type { ServerProcess } from "./server-process.ts";

const ajv = ajvFormats.default(new Ajv2020({ strict: false, unicodeRegExp: true }));

export function seededSchemas(count: number, seed: number): Schema[] {
  return fc.sample(documents, { seed, numRuns: count });
}

export interface Kept {
  /** null: the answer parses and validates. */
  readonly problem: string | null;
  readonly tokens: number;
}

/** Asks a model for an answer by this schema and checks it with a validator that is not ours. */
export async function askForSchema(
  server: ServerProcess,
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
  /** What was not refused, or not by name. */
  readonly accepted: readonly string[];
  readonly slowestMs: number;
  readonly medianMs: number;
  /** Resident memory of the server, grown since a first round of the same. */
  readonly grownMib: number;
}

/** Sends hostile schemas, one after the other; a first round grows the heap to its working size. */
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

/** Schemas that want too much: depth, cycles, size, growth. Every one must be refused. */
function hostileSchemas(count: number): Schema[] {
  const nest = (depth: number, wrap: (inner: Schema) => Schema) =>
    Array.from({ length: depth }).reduce<Schema>((inner) => wrap(inner), { type: "null" });
  const makers: ((size: number) => Schema)[] = [
    (size) => nest(65 + size, (inner) => ({ properties: { a: inner } })),
    (size) => nest(65 + size, (inner) => ({ type: "array", items: inner })),
    (size) => nest(65 + size, (inner) => ({ anyOf: [inner, { type: "null" }] })),
    (size) => ({
      $ref: "#/$defs/a0",
      $defs: Object.fromEntries(
        Array.from({ length: size + 1 }, (_, at) => [
          `a${at}`,
          { items: { $ref: `#/$defs/a${(at + 1) % (size + 1)}` }, type: "array" },
        ]),
      ),
    }),
    (size) => ({ $ref: "#", size }),
    (size) => ({ enum: Array.from({ length: 30_000 + size }, (_, at) => `value ${at}`) }),
    (size) => ({
      type: "object",
      properties: Object.fromEntries(Array.from({ length: 20_000 + size }, (_, at) => [`k${at}`, {}])),
    }),
    (size) => ({ type: "string", pattern: `${"(".repeat(33 + size)}a${")*".repeat(33 + size)}` }),
    (size) => ({ type: "string", minLength: 1001 + size }),
    (size) => ({
      type: "array",
      prefixItems: Array.from({ length: 20_001 + size }, () => ({ type: "null" })),
      items: false,
    }),
  ];
  return Array.from({ length: count }, (_, index) =>
    makers[index % makers.length]!(Math.floor(index / makers.length)),
  );
}
