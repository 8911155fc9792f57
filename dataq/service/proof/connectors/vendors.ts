import { counted } from "@dataq/contract";
import { readConfig } from "../../src/config.ts";
import { contractOf, readContracts } from "../../src/connector/configured.ts";
import type { ContractParts } from "../../src/connector/contract.ts";
import { presets } from "../../src/connector/preset.ts";
import { testContract } from "../../src/operations/connector-trial.ts";

/**
 * Asks every vendor once for each operation: those of the operator's connectors.json with his credentials, and the public
 * sources that need none. Prints which fields could not be read.
 */
export async function askVendors(print: (line: string) => void): Promise<void> {
  const own = await readContracts(readConfig().connectors);
  const open = presets().flatMap((preset): ContractParts[] => {
    const needsNothing = Object.values(preset.credentials).every(({ optional }) => optional);
    if (!needsNothing || own.some(({ name }) => name === preset.name)) return [];
    return [contractOf(preset, { preset: preset.name, credentials: {} }, preset.name)];
  });
  const left = presets().filter(({ name }) => ![...own, ...open].some((each) => each.name === name));
  print("| vendor | operation | outcome | requests | records | fields that could not be read |");
  print("| --- | --- | --- | --- | --- | --- |");
  let wrong = 0;
  for (const contract of [...own, ...open])
    for (const { operation } of contract.adapters) {
      const { outcome, why, exchanges, records, fields } = await testContract(contract, operation, undefined);
      const bad = fields
        .filter(({ problem }) => problem !== null)
        .map(({ field, problem }) => `${field}: ${problem}`);
      if (outcome === "failed" || outcome === "wrong") wrong++;
      print(
        `| ${contract.name} | \`${operation}\` | ${outcome}${why === null ? "" : `: ${why}`} | ${exchanges.length} | ${records ?? ""} | ${bad.join("; ")} |`,
      );
    }
  print("");
  print(`Not asked, because they need credentials: ${left.map(({ name }) => name).join(", ") || "none"}.`);
  if (wrong > 0) throw new Error(`${counted(wrong, "answer")} could not be read.`);
}
