import { Command, InvalidArgumentError } from "commander";
import { lastSeal, sealAudit, sealPattern } from "../../accounts/audit-chain.ts";
import { verifyBooks } from "../../accounts/verify.ts";
import { sealEntries } from "../../ledger/seal.ts";
import { counted } from "../numbers.ts";
import { asOperator } from "../operator.ts";

/** `dataq ledger`: checks the books. */
export function ledgerCommand(): Command {
  const ledger = new Command("ledger").description("check the ledger");
  ledger
    .command("verify")
    .description("check every rule of the ledger and the hash chains; exit code 1 if one is broken")
    .option("--seal <hash>", "a seal of the audit log that was stored elsewhere; can be repeated", readSeal)
    .option("--json", "JSON: {ok, findings, seal}")
    .action(async (options: { json?: boolean; seal?: string[] }) => {
      const { findings, seal } = await asOperator(async ({ database, author }) => {
        const found = await verifyBooks(database, options.seal ?? []);
        await sealEntries(database, author.now);
        await sealAudit(database, author.now);
        return { findings: found, seal: await lastSeal(database) };
      });
      const ok = findings.every(({ breaches }) => breaches.length === 0);
      if (options.json) console.log(JSON.stringify({ ok, findings, seal: seal ?? null }));
      else {
        for (const { law, text, breaches } of findings)
          console.log(
            `${breaches.length === 0 ? "holds " : "BROKEN"} ${law.padEnd(4)}${text}${breaches.map((breach) => `\n         ${breach}`).join("")}`,
          );
        if (seal)
          console.log(
            `seal   ${seal.sha256} of ${counted(seal.lines, "line")} of the audit log; store it elsewhere`,
          );
      }
      if (!ok) process.exitCode = 1;
    });
  return ledger;
}

function readSeal(value: string, before: readonly string[] = []): string[] {
  const hash = value.toLowerCase();
  if (!sealPattern.test(hash)) throw new InvalidArgumentError("A seal is 64 hexadecimal digits.");
  return [...before, hash];
}
