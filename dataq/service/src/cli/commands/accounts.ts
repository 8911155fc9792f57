import Table from "cli-table3";
import { Command, Option } from "commander";
import { createAccount, findAccount, listAccounts, payIn, type Tier, tiers } from "../../accounts/account.ts";
import { writeAudit } from "../../accounts/audit.ts";
import { inTransaction } from "../../database/transaction.ts";
import { adjust } from "../../ledger/movement.ts";
import { ownNotes } from "../../ledger/own-notes.ts";
import { readWallet } from "../../ledger/wallet.ts";
import { readCount, readSigned } from "../numbers.ts";
import { asOperator } from "../operator.ts";

/** `dataq accounts`: for the operator of a service, on its database. */
export function accountsCommand(): Command {
  const accounts = new Command("accounts").description("create, list, top up and correct accounts");

  accounts
    .command("create")
    .description("create an account with keys; the keys are shown only once")
    .option("--name <name>", "name of the account", "account")
    .option("--email <address>")
    .option(
      "--tokens <n>",
      "paid tokens to start with; without this option the account gets the trial",
      readCount,
    )
    .option("--keys <n>", "number of keys", readCount, 1)
    .addOption(new Option("--tier <tier>", "rate tier").choices([...tiers]).default("trial"))
    .option("--json", "JSON: {account_id, keys}")
    .action(
      async (options: {
        name: string;
        email?: string;
        tokens?: number;
        keys: number;
        tier: Tier;
        json?: boolean;
      }) => {
        const made = await asOperator(({ database, keys, author }) =>
          inTransaction(database, async (transaction) => {
            const account = await createAccount(transaction, options, author);
            const texts: string[] = [];
            for (let i = 0; i < options.keys; i++)
              texts.push((await keys.create(transaction, account.id, {}, author)).text);
            return { account_id: account.id, keys: texts };
          }),
        );
        if (options.json) console.log(JSON.stringify(made));
        else
          console.log([`account ${made.account_id}`, ...made.keys.map((key) => `key     ${key}`)].join("\n"));
      },
    );

  accounts
    .command("list")
    .description("list accounts with their balances, newest first")
    .option("--limit <n>", "maximum number of accounts", readCount, 100)
    .option("--json", "one JSON object per line")
    .action(async (options: { limit: number; json?: boolean }) => {
      const rows = await asOperator(async ({ database, author }) => {
        const found = await listAccounts(database, options.limit);
        return Promise.all(
          found.map(async (account) => ({
            ...account,
            ...(await readWallet(database, account.id, author.now)),
          })),
        );
      });
      if (options.json) for (const row of rows) console.log(JSON.stringify(row));
      else {
        const table = new Table({ head: ["account", "name", "role", "tier", "balance", "held"] });
        for (const row of rows)
          table.push([row.id, row.name, row.role, row.tier, row.balance ?? 0, row.held ?? 0]);
        console.log(table.toString());
      }
    });

  accounts
    .command("topup")
    .description("credit a payment; each reference is credited only once")
    .argument("<account>")
    .argument("<tokens>", "such as 50000, which is 1 CNY", readCount)
    .requiredOption("--reference <text>", "a unique reference of the payment, such as its number")
    .option("--note <text>", "note for the ledger entry", ownNotes.byOperator)
    .option("--json")
    .action(
      async (id: string, tokens: number, options: { reference: string; note: string; json?: boolean }) => {
        const balance = await asOperator(async ({ database, author }) => {
          if (!(await findAccount(database, id))) throw new Error(`Account ${id} does not exist.`);
          if (tokens === 0) throw new Error("A top-up must be at least 1 token.");
          const { reference, note } = options;
          const payment = { tokens, reference: `manual:${reference}`, note };
          await inTransaction(database, async (transaction) => {
            if (!(await payIn(transaction, id, payment, author)))
              throw new Error(`A payment with the reference ${reference} was already credited.`);
            await writeAudit(transaction, author, "ledger.topup", id, null, { tokens, reference, note });
          });
          return (await readWallet(database, id, author.now))?.balance;
        });
        console.log(options.json ? JSON.stringify({ account_id: id, balance }) : `balance ${balance}`);
      },
    );

  accounts
    .command("adjust")
    .description("add or remove tokens; the ledger keeps the reason")
    .argument("<account>")
    .argument("<tokens>", "such as 50000 or -50000", readSigned)
    .requiredOption("--reason <text>")
    .option("--json")
    .action(async (id: string, tokens: number, options: { reason: string; json?: boolean }) => {
      const { balance } = await asOperator(async ({ database, author }) => {
        if (!(await findAccount(database, id))) throw new Error(`Account ${id} does not exist.`);
        const { reason } = options;
        return inTransaction(database, async (transaction) => {
          await writeAudit(transaction, author, "ledger.adjust", id, null, { tokens, reason });
          return adjust(transaction, id, tokens, { ...author, note: reason });
        });
      });
      console.log(options.json ? JSON.stringify({ account_id: id, balance }) : `balance ${balance}`);
    });

  return accounts;
}
