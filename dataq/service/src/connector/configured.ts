import { readFile } from "node:fs/promises";
import { expectedOf } from "@dataq/contract";
import { z } from "zod";
import type { ConnectorOptions } from "./connector.ts";
import { kuaidi100 } from "./kuaidi100.ts";
import { mappedVendor, mappingFile } from "./mapping.ts";
import type { Vendor } from "./vendor.ts";

const limits = {
  time_limit_ms: z.number().int().min(100).max(25_000).optional(),
  most_at_once: z.number().int().min(1).max(1_000).optional(),
};

const kuaidi100File = z.strictObject({
  vendor: z.literal("kuaidi100"),
  customer: z.string().min(1),
  key: z.string().min(1),
  url: z
    .string()
    .regex(/^https?:\/\//)
    .optional(),
  cost_fen: z.number().int().min(0).optional(),
  ...limits,
});

const file = z.strictObject({
  connectors: z.array(z.discriminatedUnion("vendor", [kuaidi100File, mappingFile.extend(limits)])),
});

export interface ConfiguredConnector {
  readonly vendor: Vendor;
  readonly options: ConnectorOptions;
}

/**
 * Reads the operator's connectors from a JSON file, if the file exists. An error names the entry and never
 * shows its credentials.
 */
export async function readConnectors(path: string): Promise<ConfiguredConnector[]> {
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw new Error(`${path} cannot be read.`, { cause: error });
  }
  const parsed = file.safeParse(json(text, path));
  if (!parsed.success)
    throw new Error([`${path} cannot be used:`, ...parsed.error.issues.map(problemOf)].join("\n"));
  const connectors = parsed.data.connectors.map((entry) => {
    const vendor =
      entry.vendor === "kuaidi100"
        ? kuaidi100({ customer: entry.customer, key: entry.key, url: entry.url, costFen: entry.cost_fen })
        : mappedVendor(entry);
    return {
      vendor,
      options: {
        ...(entry.time_limit_ms !== undefined && { timeLimitMs: entry.time_limit_ms }),
        ...(entry.most_at_once !== undefined && { mostAtOnce: entry.most_at_once }),
      },
    };
  });
  const names = connectors.map(({ vendor }) => vendor.operation);
  const twice = names.find((name, place) => names.indexOf(name) !== place);
  if (twice !== undefined) throw new Error(`${path} has two connectors for ${twice}; keep one.`);
  return connectors;
}

/** The value is not shown, because it may be a credential. */
function problemOf(issue: z.core.$ZodIssue): string {
  const place = issue.path
    .map((step) => (typeof step === "number" ? `[${step}]` : `.${String(step)}`))
    .join("");
  const wanted = issue.code === "custom" ? issue.message : expectedOf(issue).en;
  return `  ${place.replace(/^\./, "") || "the file"}: expected ${wanted}`;
}

function json(text: string, path: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error(`${path} is not JSON.`);
  }
}
