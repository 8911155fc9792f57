import type { Contract } from "../connector/contract.ts";
import type { ContractGate } from "./contract-gate.ts";

/** A vendor is not asked again what is left before this time is over. */
const KEPT_MS = 600_000;

/** Nobody waits longer for what vendors say is left. */
const LONGEST_MS = 3_000;

/** Asks the vendors that answer such a request what is left, all at once, unless that is known. */
export async function askBalances(
  contracts: readonly Contract[],
  gate: ContractGate,
  now: Date,
): Promise<void> {
  const able = contracts.filter(({ parts }) => parts.stated?.ask !== undefined);
  if (able.length === 0) return;
  const states = await gate.states(now);
  const isOld = ({ name }: Contract) => {
    const at = states.get(name)?.stated?.at.getTime() ?? 0;
    return Math.abs(now.getTime() - at) > KEPT_MS;
  };
  await Promise.all(
    able
      .filter(isOld)
      .map((contract) =>
        contract.askBalance({ signal: AbortSignal.timeout(LONGEST_MS), patienceMs: LONGEST_MS / 2 }),
      ),
  );
}
