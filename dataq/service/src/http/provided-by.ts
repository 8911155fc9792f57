import type { OperationName } from "@dataq/contract";
import type { ContractBook } from "../connector/contract-book.ts";
import type { Database } from "../database/database.ts";
import { type HeldFrom, heldFrom } from "../importer/runs.ts";
import { folds } from "../operations/imports.ts";
import { corpusOf, registry } from "../operations/registry.ts";
import type { DataKind } from "../sources/source.ts";

/** Who answers each operation, and since when, as of one moment. */
export async function readProviders(
  database: Database,
  contracts: Pick<ContractBook, "of">,
): Promise<(operation: string, data: DataKind) => Promise<HeldFrom>> {
  const held = await heldFrom(database.reads.recent);
  return async (operation, data) => {
    if (data === "connector") {
      const able = await contracts.of(operation);
      const days = able.flatMap(({ parts }) => parts.since ?? []).map(Number);
      return {
        publishers: able.map(({ parts }) => parts.publisher),
        since: days.length === 0 ? null : new Date(Math.min(...days)),
      };
    }
    if (data !== "imported") return { publishers: [], since: null };
    const found = targetsOf(operation).flatMap((target) => held.get(target) ?? []);
    const days = found.flatMap(({ since }) => since ?? []).map(Number);
    return {
      publishers: [...new Set(found.flatMap(({ publishers }) => publishers))],
      since: days.length === 0 ? null : new Date(Math.min(...days)),
    };
  };
}

/** The targets whose records answer an operation: its own, or those from which its records are made. */
function targetsOf(operation: string): readonly string[] {
  const { madeFrom } = registry[operation as OperationName];
  const corpus = corpusOf(operation);
  const isFolded = folds.some(({ corpora }) => corpora.includes(`${corpus}#packs`));
  return [
    ...new Set([corpus, ...(isFolded ? ["legal_laws"] : []), ...(madeFrom === undefined ? [] : [madeFrom])]),
  ];
}
