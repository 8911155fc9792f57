import { Command } from "commander";
import { sealAudit, verifyAudit } from "../../accounts/audit-chain.ts";
import { sealEntries } from "../../ledger/seal.ts";
import { verifyLedger } from "../../ledger/verify.ts";
import { asOperator } from "../operator.ts";

/** `dataq ledger`: proof that the books are right. */
export function ledgerCommand(): Command {
  const ledger = new Command("ledger").description("check the books");
  ledger
    .command("verify")
    .description("check every law of the ledger and the chains of hashes; exit code 1 when one is broken")
    .option("--json", "JSON: {ok, findings}")
    .action(async (options: { json?: boolean }) => {
      const findings = await asOperator(async ({ database, author }) => {
        const found = [...(await verifyLedger(database)), await verifyAudit(database)];
        await sealEntries(database, author.now);
        await sealAudit(database, author.now);
        return found;
      });
      const ok = findings.every(({ breaches }) => breaches.length === 0);
      if (options.json) console.log(JSON.stringify({ ok, findings }));
      else
        for (const { law, text, breaches } of findings)
          console.log(
            `${breaches.length === 0 ? "holds " : "BROKEN"} ${law.padEnd(4)}${text}${breaches.map((breach) => `\n         ${breach}`).join("")}`,
          );
      if (!ok) process.exitCode = 1;
    });
  return ledger;
}
