import { counted } from "@dataq/contract";
import { Command, InvalidArgumentError } from "commander";
import { lastSeal, sealAudit, sealPattern } from "../../accounts/audit-chain.ts";
import { verifyBooks } from "../../accounts/verify.ts";
import { sealEntries } from "../../ledger/seal.ts";
import type { Coverage } from "../../ledger/verify.ts";
import { asOperator } from "../operator.ts";

/** `dataq ledger`: checks the ledger. */
export function ledgerCommand(): Command {
  const ledger = new Command("ledger").description("check the ledger");
  ledger
    .command("verify")
    .description(
      "check the rules of the ledger and the hash chains for everything since the last check; exit code 1 if one is broken",
    )
    .option("--whole", "check every entry, also those that were verified before")
    .option("--seal <hash>", "a seal of the audit log that was stored elsewhere; can be repeated", readSeal)
    .option("--json", "JSON: {ok, findings, covers, seal}")
    .addHelpText(
      "after",
      `
Examples:
  dataq ledger verify            # after a day of calls: what is new since the last check
  dataq ledger verify --whole    # before you rely on the ledger: every entry`,
    )
    .action(async (options: { json?: boolean; seal?: string[]; whole?: boolean }) => {
      const { findings, covers, seal } = await asOperator(async ({ database, author }) => {
        // Sealed first, so that the next check begins after what this one has checked.
        await sealEntries(database, author.now);
        const scope = options.whole ? "whole" : "new";
        const verdict = await verifyBooks(database, options.seal ?? [], scope, author.now);
        await sealAudit(database, author.now);
        return { ...verdict, seal: await lastSeal(database) };
      });
      const ok = findings.every(({ breaches }) => breaches.length === 0);
      if (options.json) console.log(JSON.stringify({ ok, findings, covers, seal: seal ?? null }));
      else {
        for (const { law, text, breaches } of findings)
          console.log(
            `${breaches.length === 0 ? "holds " : "BROKEN"} ${law.padEnd(4)}${text}${breaches.map((breach) => `\n         ${breach}`).join("")}`,
          );
        console.log(`covers ${coverageOf(covers)}`);
        if (seal)
          console.log(
            `seal   ${seal.sha256} of ${counted(seal.lines, "line")} of the audit log; store it elsewhere`,
          );
      }
      if (!ok) process.exitCode = 1;
    });
  return ledger;
}

function coverageOf({ whole, entries, verified_before, verified_at, whole_at }: Coverage): string {
  if (whole) return `all ${counted(entries, "entry", "entries")} of the ledger`;
  return `${counted(entries, "entry", "entries")} since ${verified_at?.toISOString()}. Not read again: ${counted(verified_before, "earlier entry", "earlier entries")}, verified before. --whole reads all entries; it last ran at ${whole_at?.toISOString()}`;
}

function readSeal(value: string, before: readonly string[] = []): string[] {
  const hash = value.toLowerCase();
  if (!sealPattern.test(hash)) throw new InvalidArgumentError("A seal is 64 hexadecimal digits.");
  return [...before, hash];
}
