import { readFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { expectedOf } from "@dataq/contract";
import { z } from "zod";
import type { Adapter, AdapterParts } from "./adapter.ts";
import { adapters } from "./adapters.ts";
import type { ContractParts } from "./contract.ts";
import type { Terms } from "./gate.ts";
import { mappedAdapter, secretsIn, statedBalance } from "./mapping/mapped-adapter.ts";
import { answer, operationName, request, type Shared, shared } from "./mapping/mapping-file.ts";
import { type Limits, limits, type Preset, presetFile, presets } from "./preset.ts";

/** The operator's part of a contract with a vendor that a preset describes. */
export const contractEntry = z.strictObject({
  /** Name of a preset, or a file with one, from the folder of connectors.json. */
  preset: z.string().min(1),
  credentials: z.record(z.string(), z.string().min(1)).default({}),
  /** Another address of the vendor, such as that of a test. */
  base: z
    .string()
    .regex(/^https?:\/\//, "an address that starts with http:// or https://")
    .optional(),
  /** What a request costs, in fen. */
  cost_fen: z.number().min(0).optional(),
  limits: limits.optional(),
  /** The operations that it answers; all of the preset if absent. */
  operations: z.array(operationName).min(1).optional(),
  /** What was paid in, and when; what the requests since then cost is taken off. */
  balance: z.strictObject({ fen: z.number().min(0), since: z.iso.datetime({ offset: true }) }).optional(),
  /** When it was connected. */
  since: z.iso.datetime({ offset: true }).optional(),
  /** Also asked for what it knows of records that another vendor found. */
  join: z.boolean().optional(),
});
export type ContractEntry = z.input<typeof contractEntry>;

/** A contract with one operation, all in one entry. */
const single = {
  cost_fen: z.number().min(0).optional(),
  time_limit_ms: limits.shape.time_ms,
  most_at_once: limits.shape.at_once,
};
const kuaidi100Entry = z.strictObject({
  vendor: z.literal("kuaidi100"),
  customer: z.string().min(1),
  key: z.string().min(1),
  url: contractEntry.shape.base,
  ...single,
});
const mappingEntry = z.strictObject({
  vendor: z.literal("mapping"),
  operation: operationName,
  name: z.string().min(1),
  kind: z.enum(["official", "licensed", "third_party"]).default("licensed"),
  licence: z.string().nullable().default(null),
  request,
  answer,
  ...single,
});
type SingleEntry = z.output<typeof kuaidi100Entry> | z.output<typeof mappingEntry>;

export const connectorsFile = z.strictObject({
  /** Asked in this order for an operation that several of them answer. */
  contracts: z.array(contractEntry).default([]),
  connectors: z.array(z.discriminatedUnion("vendor", [kuaidi100Entry, mappingEntry])).default([]),
});

/**
 * Reads the operator's contracts from a JSON file, if the file exists. An error names the entry and never shows its
 * credentials.
 */
export async function readContracts(path: string, now = () => new Date()): Promise<ContractParts[]> {
  const text = await textOf(path);
  if (text === undefined) return [];
  const parsed = connectorsFile.safeParse(json(text, path));
  if (!parsed.success)
    throw new Error([`${path} cannot be used:`, ...parsed.error.issues.map(problemOf)].join("\n"));
  const contracts: ContractParts[] = [];
  for (const [place, entry] of parsed.data.contracts.entries()) {
    const preset = await findPreset(entry.preset, path);
    contracts.push(contractOf(preset, entry, `${path}: contracts[${place}]`, now));
  }
  contracts.push(...singleContracts(parsed.data.connectors, now));
  const names = contracts.map(({ name }) => name);
  const twice = names.find((name, place) => names.indexOf(name) !== place);
  if (twice !== undefined) throw new Error(`${path} has two contracts named ${twice}; keep one.`);
  return contracts;
}

/** A preset that comes with dataq, or one in a file. */
export async function findPreset(nameOrFile: string, connectorsPath: string): Promise<Preset> {
  const found = presets().find(({ name }) => name === nameOrFile);
  if (found !== undefined) return found;
  const path = resolve(dirname(connectorsPath), nameOrFile);
  const text = await textOf(path);
  if (text === undefined) {
    const known = presets().map(({ name }) => name);
    throw new Error(`There is no preset ${nameOrFile}. Use a file, or one of ${known.join(", ")}.`);
  }
  const parsed = presetFile.safeParse(json(text, path));
  if (!parsed.success)
    throw new Error([`${path} cannot be used:`, ...parsed.error.issues.map(problemOf)].join("\n"));
  return parsed.data;
}

/** What the operator's part of a contract lacks, or has too much. */
export interface ContractProblem {
  readonly param: string;
  readonly code: "required" | "unknown" | "unsupported";
  readonly message: string;
  readonly fix: string;
  readonly fixZh: string;
}

/** The first problem of the operator's part; undefined if the preset can be used with it. */
export function problemWith(
  { publisher, credentials, operations }: Preset,
  entry: {
    readonly credentials: Readonly<Record<string, string>>;
    readonly operations?: readonly string[] | undefined;
  },
): ContractProblem | undefined {
  const missing = Object.keys(credentials).filter(
    (name) => !credentials[name]?.optional && entry.credentials[name] === undefined,
  );
  if (missing.length > 0)
    return {
      param: `credentials.${missing[0]}`,
      code: "required",
      message: `${publisher.en} needs the credentials ${missing.join(", ")}`,
      fix: `send ${missing.join(", ")}`,
      fixZh: `请填写 ${missing.join("、")}`,
    };
  const unknown = Object.keys(entry.credentials).find((name) => credentials[name] === undefined);
  if (unknown !== undefined)
    return {
      param: `credentials.${unknown}`,
      code: "unknown",
      message: `${publisher.en} has no credential ${unknown}`,
      fix: "omit it",
      fixZh: "请去掉该项",
    };
  const foreign = (entry.operations ?? []).filter((name) => operations[name] === undefined);
  if (foreign.length > 0)
    return {
      param: "operations",
      code: "unsupported",
      message: `${publisher.en} does not answer ${foreign.join(", ")}`,
      fix: `use one of ${Object.keys(operations).join(", ")}`,
      fixZh: `请从 ${Object.keys(operations).join("、")} 中选择`,
    };
  return undefined;
}

/** Joins a preset and the operator's part. `place` stands before the problem in an error. */
export function contractOf(
  preset: Preset,
  entry: z.output<typeof contractEntry>,
  place: string,
  now = () => new Date(),
): ContractParts {
  const problem = problemWith(preset, entry);
  if (problem !== undefined) throw new Error(`${place}: ${problem.message}.`);
  const base = (entry.base ?? preset.base ?? "").replace(/\/+$/, "");
  const names = entry.operations ?? Object.keys(preset.operations);
  return {
    name: preset.name,
    publisher: preset.publisher.zh,
    kind: preset.kind,
    licence: preset.licence,
    ...(entry.since !== undefined && { since: new Date(entry.since) }),
    ...(entry.join === true && { joins: true }),
    ...(entry.balance && { balance: { fen: entry.balance.fen, since: new Date(entry.balance.since) } }),
    ...(preset.balance && {
      stated: statedBalance(preset.balance, {
        shared: sharedOf(preset),
        credentials: entry.credentials,
        constants: { base },
        now,
      }),
    }),
    secrets: Object.entries(entry.credentials)
      .filter(([name]) => preset.credentials[name]?.secret !== false)
      .map(([, value]) => value),
    terms: termsOf({ ...preset.limits, ...entry.limits }, entry.cost_fen ?? preset.cost_fen),
    adapters: names.map((operation) =>
      adapterOf(preset, { operation, base, credentials: entry.credentials, now }),
    ),
  };
}

function adapterOf(preset: Preset, parts: AdapterParts): Adapter {
  const how = preset.operations[parts.operation]!;
  if ("adapter" in how) return adapters[how.adapter as keyof typeof adapters](parts);
  return mappedAdapter({
    operation: parts.operation,
    mapping: how,
    shared: sharedOf(preset),
    credentials: parts.credentials,
    constants: { base: parts.base },
    now: parts.now,
  });
}

function sharedOf({ computed, query, headers, ok, errors, message }: Preset): Shared {
  return { computed, query, headers, ok, errors, message };
}

/** Entries with the same vendor are one contract, with the strictest of their limits. */
function singleContracts(entries: readonly SingleEntry[], now: () => Date): ContractParts[] {
  const byName = Map.groupBy(entries, (entry) => (entry.vendor === "mapping" ? entry.name : entry.vendor));
  return [...byName].map(([name, group]) => {
    const least = (values: (number | undefined)[]) => {
      const given = values.filter((value) => value !== undefined);
      return given.length === 0 ? undefined : Math.min(...given);
    };
    const [first] = group as [SingleEntry];
    const parts = group.map((entry) => singleContract(entry, now));
    return {
      name,
      publisher: name,
      kind: first.vendor === "mapping" ? first.kind : "licensed",
      licence: first.vendor === "mapping" ? first.licence : null,
      secrets: parts.flatMap(({ secrets }) => secrets),
      adapters: parts.map(({ adapter }) => adapter),
      terms: termsOf(
        {
          time_ms: least(group.map(({ time_limit_ms }) => time_limit_ms)),
          at_once: least(group.map(({ most_at_once }) => most_at_once)),
        },
        0,
      ),
    };
  });
}

function singleContract(
  entry: SingleEntry,
  now: () => Date,
): { adapter: Adapter; secrets: readonly string[] } {
  const { cost_fen: costFen = 0 } = entry;
  if (entry.vendor === "kuaidi100") {
    const { customer, key, url } = entry;
    const base = url ?? presets().find(({ name }) => name === "kuaidi100")?.base ?? "";
    const parts = { operation: "cloud_express_tracking", base, credentials: { customer, key }, now };
    return { adapter: { ...adapters.kuaidi100(parts), costFen }, secrets: [customer, key] };
  }
  const mapping = { steps: [], request: entry.request, answer: entry.answer, cost_fen: costFen };
  const parts = { operation: entry.operation, mapping, shared: shared.parse({}), credentials: {}, now };
  return { adapter: mappedAdapter(parts), secrets: secretsIn(mapping) };
}

function termsOf(given: Limits, costFen: number): Partial<Terms> {
  const { per_second, per_minute, per_day, at_once, time_ms } = given;
  const everyMs = Math.max(
    per_second === undefined ? 0 : 1000 / per_second,
    per_minute === undefined ? 0 : 60_000 / per_minute,
  );
  return {
    everyMs,
    costFen,
    ...(per_day !== undefined && { mostPerDay: per_day }),
    ...(at_once !== undefined && { mostAtOnce: at_once }),
    ...(time_ms !== undefined && { timeLimitMs: time_ms }),
  };
}

/** The value is not shown, because it may be a credential. */
export function problemOf(issue: z.core.$ZodIssue): string {
  const place = issue.path
    .map((step) => (typeof step === "number" ? `[${step}]` : `.${String(step)}`))
    .join("");
  const wanted = issue.code === "custom" ? issue.message : expectedOf(issue).en;
  return `  ${place.replace(/^\./, "") || "the file"}: expected ${wanted}`;
}

async function textOf(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw new Error(`${path} cannot be read.`, { cause: error });
  }
}

function json(text: string, path: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error(`${path} is not JSON.`);
  }
}
