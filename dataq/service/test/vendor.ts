import { fork } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Operation, type OperationName, operations } from "@dataq/contract";

/**
 * A vendor for every operation, for tests of money: answers of a connector are charged, samples are free. It is a
 * separate process, because a synchronous client blocks the test's process.
 */
export interface Vendor {
  /** Settings for a service that uses it. */
  readonly env: Readonly<Record<string, string>>;
  close(): void;
}

/** Starts the vendor and writes its mapping files into `folder`, except for the operations in `without`. */
export async function startVendor(folder: string, without: readonly OperationName[] = []): Promise<Vendor> {
  const child = fork(fileURLToPath(new URL("vendor-server.ts", import.meta.url)), {
    execArgv: ["--conditions=source"],
  });
  const [port] = (await once(child, "message")) as [number];
  // Several services may share a data folder, each with a vendor of its own.
  const path = join(folder, `vendor-${port}.json`);
  const base = `http://127.0.0.1:${port}`;
  writeFileSync(
    path,
    JSON.stringify({
      connectors: operations
        .filter(({ name }) => !without.includes(name))
        .map((operation) => mapping(operation, base)),
    }),
  );
  return { env: { DATAQ_CONNECTORS: path }, close: () => child.disconnect() };
}

function mapping(operation: Operation, base: string): object {
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
