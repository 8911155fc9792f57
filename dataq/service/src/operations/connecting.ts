import type { z } from "zod";
import { type ContractEntry, contractEntry, contractOf, findPreset } from "../connector/configured.ts";
import { writeContract } from "../connector/connectors-file.ts";
import { type ConnectorTrial, testContract } from "./connector-trial.ts";

/** Whether a vendor was connected, and what it answered. */
export interface Connected {
  readonly isWritten: boolean;
  readonly operations: readonly string[];
  readonly trials: readonly ConnectorTrial[];
}

/**
 * Asks the vendor once for each operation, until one fails, and writes the contract into connectors.json if all of them
 * were answered, or if `untested`. Throws an error that names what the entry lacks.
 */
export async function connectVendor(
  path: string,
  entry: ContractEntry,
  { untested, onTrial }: { untested: boolean; onTrial?: (trial: ConnectorTrial) => void },
): Promise<Connected> {
  const checked: z.output<typeof contractEntry> = contractEntry.parse(entry);
  const preset = await findPreset(checked.preset, path);
  const contract = contractOf(preset, checked, "The contract");
  const operations = contract.adapters.map(({ operation }) => operation);
  const trials: ConnectorTrial[] = [];
  for (const operation of operations) {
    const trial = await testContract(contract, operation, undefined);
    trials.push(trial);
    onTrial?.(trial);
    if (!isAnswer(trial)) break;
  }
  const isWritten = untested || trials.every(isAnswer);
  if (isWritten) await writeContract(path, { ...entry, since: new Date().toISOString() });
  return { isWritten, operations, trials };
}

/** Whether a call would be answered. That the vendor does not know the example is an answer. */
export function isAnswer({ outcome }: ConnectorTrial): boolean {
  return ["record", "records", "not_found", "verification_required"].includes(outcome);
}
