import type { Operation } from "./operation.ts";
import { legalLawCatalog } from "./operations/legal/law-catalog.ts";
import { legalLaws } from "./operations/legal/laws.ts";

/** Every operation of the service, in the order of the specification. */
export const operations = [legalLaws, legalLawCatalog] as const satisfies readonly Operation[];

export type OperationName = (typeof operations)[number]["name"];

/** The operation of this full name, or undefined. */
export function findOperation(name: string): Operation | undefined {
  return byName.get(name);
}

const byName = new Map<string, Operation>(operations.map((operation) => [operation.name, operation]));
