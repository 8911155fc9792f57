import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { type Operation, type OperationName, operations } from "@dataq/contract";

/**
 * Writes mapping files for a vendor of every operation except those in `without` into `folder`, and returns the settings
 * for a service that uses it. For tests of money: answers of a connector are charged, samples are free.
 */
export async function useVendor(
  folder: string,
  without: readonly OperationName[] = [],
): Promise<Record<string, string>> {
  address ??= startVendor();
  const base = await address;
  const path = join(folder, `vendor-${randomUUID()}.json`);
  const connectors = operations
    .filter(({ name }) => !without.includes(name))
    .map((operation) => mapping(operation, base));
  writeFileSync(path, JSON.stringify({ connectors }));
  return { DATAQ_CONNECTORS: path };
}

/** The vendor remembers nothing, so all services of this process share one. */
let address: Promise<string> | undefined;

/** The vendor has a thread of its own, because a synchronous client blocks that of its test. */
async function startVendor(): Promise<string> {
  const thread = new Worker(new URL("vendor-server.ts", import.meta.url), {
    execArgv: ["--conditions=source"],
  });
  const [port] = (await once(thread, "message")) as [number];
  thread.unref();
  return `http://127.0.0.1:${port}`;
}

export function mapping(operation: Operation, base: string): object {
  const names = [...Object.keys(operation.params.shape), ...(operation.paged ? ["page", "page_size"] : [])];
  const fields = Object.keys(operation.record.shape).filter(
    (name) => !["source", "highlights", "score"].includes(name),
  );
  const query = names.map((name) => `${name}={${name}}`).join("&");
  return {
    vendor: "mapping",
    operation: operation.name,
    name: "Test vendor",
    most_at_once: 1_000,
    request: { url: `${base}/${operation.name}?${query}` },
    answer: {
      record: "data",
      ...(operation.kind === "list" && { total: "total" }),
      fields: Object.fromEntries(fields.map((name) => [name, name])),
    },
  };
}
