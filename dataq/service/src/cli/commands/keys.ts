import { text } from "node:stream/consumers";
import { isNetworkBlock } from "@dataq/contract";
import Table from "cli-table3";
import { Command, InvalidArgumentError, Option } from "commander";
import type { ApiKey } from "../../accounts/grant.ts";
import { permitAll } from "../../accounts/key.ts";
import { roles, type Scope, scopes } from "../../accounts/scope.ts";
import { inTransaction } from "../../database/transaction.ts";
import { addLetters } from "../../people/owner-letters.ts";
import { localAccount } from "../local-account.ts";
import { readCount } from "../numbers.ts";
import { asOperator } from "../operator.ts";

/** `dataq keys`: the operator's access to the keys of any account. */
export function keysCommand(): Command {
  const keys = new Command("keys").description("create, list, rotate and revoke API keys");

  keys
    .command("create")
    .description("create a key; it is shown only once")
    .option("--account <id>", "account of the key; the local account if omitted")
    .option("--name <name>", "name of the key", "")
    .option("--test", "a dq_test_ key: samples only, never charged")
    .addOption(new Option("--role <role>", "scopes by role").choices(Object.keys(roles)))
    .option("--scopes <list>", `one or more of ${scopes.join(",")}`)
    .option("--monthly-cap <tokens>", "maximum tokens per month", readCount)
    .option("--session-budget <tokens>", "maximum tokens for each session of an agent", readCount)
    .option("--expires <time>", "expiry time, such as 2027-01-31T00:00:00+08:00", readTime)
    .option("--ip <block>", "allowed address or block; can be repeated", collectBlock)
    .option("--json", "JSON: {id, key, …}")
    .action(
      async (options: {
        account?: string;
        name: string;
        test?: boolean;
        role?: keyof typeof roles;
        scopes?: string;
        monthlyCap?: number;
        sessionBudget?: number;
        expires?: Date;
        ip?: string[];
        json?: boolean;
      }) => {
        const wanted = {
          mode: options.test ? "test" : "live",
          name: options.name,
          scopes: options.role ? roles[options.role] : readScopes(options.scopes),
          monthlyCap: options.monthlyCap,
          sessionBudget: options.sessionBudget,
          expiresAt: options.expires,
          ipList: options.ip,
        } as const;
        const made = await asOperator(async (operator) => {
          const account = options.account ?? (await localAccount(operator));
          return inTransaction(operator.database, (transaction) =>
            operator.keys.create(transaction, account, wanted, operator.author),
          );
        });
        printMade(made, options.json);
      },
    );

  keys
    .command("list")
    .option("--account <id>", "account of the keys; the local account if omitted")
    .option("--json", "one JSON object per line")
    .action(async (options: { account?: string; json?: boolean }) => {
      const found = await asOperator(async (operator) =>
        operator.keys.list(options.account ?? (await localAccount(operator))),
      );
      if (options.json) for (const key of found) console.log(JSON.stringify(shown(key)));
      else {
        const table = new Table({ head: ["id", "name", "key", "scopes", "state"] });
        for (const key of found)
          table.push([key.id, key.name, `${key.prefix}…${key.last4}`, key.scopes.join(" "), stateOf(key)]);
        console.log(table.toString());
      }
    });

  keys
    .command("revoke")
    .description("revoke a key at once")
    .argument("<id>")
    .option("--account <id>", "account of the key; the local account if omitted")
    .option("--json")
    .action(async (id: string, options: { account?: string; json?: boolean }) => {
      await asOperator(async (operator) =>
        operator.keys.revoke(
          options.account ?? (await localAccount(operator)),
          id,
          "revoked",
          operator.author,
          permitAll,
        ),
      );
      console.log(options.json ? JSON.stringify({ id, revoked: true }) : `${id} is revoked`);
    });

  keys
    .command("rotate")
    .description("replace a key with a new one with the same rights; it is shown only once")
    .argument("<id>")
    .option("--account <id>", "account of the key; the local account if omitted")
    .option("--grace <seconds>", "seconds for which the old key keeps working", readCount, 0)
    .option("--json", "JSON: {id, key, …}")
    .action(async (id: string, options: { account?: string; grace: number; json?: boolean }) => {
      const made = await asOperator(async (operator) =>
        operator.keys.rotate(
          options.account ?? (await localAccount(operator)),
          id,
          options.grace,
          operator.author,
          permitAll,
        ),
      );
      printMade(made, options.json);
    });

  keys
    .command("report-leak")
    .description("read a leaked key from standard input, and revoke it if it belongs to this service")
    .action(async () => {
      const found = (await text(process.stdin)).trim();
      // A service without mail drops the job.
      await asOperator((operator) =>
        operator.keys.reportLeak(found, operator.author, ({ accountId, name, last4 }, transaction) =>
          addLetters(transaction, accountId, { about: "key.leaked", data: { name, last4 } }),
        ),
      );
      console.log("revoked, if it belongs to this service");
    });

  return keys;
}

function printMade(made: { readonly key: ApiKey; readonly text: string }, json: boolean | undefined): void {
  if (json) console.log(JSON.stringify({ ...shown(made.key), key: made.text }));
  else console.log(`${made.key.id}\n${made.text}`);
}

function readTime(value: string): Date {
  const time = new Date(value);
  if (!/^\d{4}-\d\d-\d\dT.*(Z|[+-]\d\d:\d\d)$/.test(value) || Number.isNaN(time.getTime()))
    throw new InvalidArgumentError("Write a time with its zone, such as 2027-01-31T00:00:00+08:00.");
  return time;
}

function collectBlock(block: string, before: string[] = []): string[] {
  if (!isNetworkBlock(block))
    throw new InvalidArgumentError("Write an address or a block such as 203.0.113.0/24.");
  return [...before, block];
}

function readScopes(list: string | undefined): Scope[] | undefined {
  if (list === undefined) return undefined;
  return list.split(",").map((name) => {
    const scope = scopes.find((one) => one === name.trim());
    if (!scope) throw new Error(`${name} is not a scope; use one of ${scopes.join(", ")}.`);
    return scope;
  });
}

function shown({
  id,
  accountId,
  mode,
  name,
  prefix,
  last4,
  scopes: may,
  personId,
  createdAt,
  revokedAt,
}: ApiKey): object {
  return {
    id,
    account_id: accountId,
    mode,
    name,
    prefix,
    last4,
    scopes: may,
    person_id: personId,
    created_at: createdAt,
    revoked_at: revokedAt,
  };
}

function stateOf(key: ApiKey): string {
  if (key.revokedAt) return "revoked";
  return key.expiresAt && key.expiresAt <= new Date() ? "expired" : "in force";
}
