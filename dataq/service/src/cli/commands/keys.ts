import Table from "cli-table3";
import { Command, Option } from "commander";
import type { ApiKey } from "../../accounts/key.ts";
import { roles, type Scope, scopes } from "../../accounts/scope.ts";
import { localAccount } from "../local-account.ts";
import { readCount } from "../numbers.ts";
import { asOperator } from "../operator.ts";

/** `dataq keys`: for the operator of a service; the local account's keys unless another is named. */
export function keysCommand(): Command {
  const keys = new Command("keys").description("make, list and revoke API keys");

  keys
    .command("create")
    .description("make a key, which is shown here and never again")
    .option("--account <id>", "whose key; the local account's when left out")
    .option("--name <name>", "what it is for", "")
    .option("--test", "a dq_test_ key: samples only, never charged")
    .addOption(new Option("--role <role>", "scopes by role").choices(Object.keys(roles)))
    .option("--scopes <list>", `some of ${scopes.join(",")}`)
    .option("--monthly-cap <tokens>", "at most so many tokens a month", readCount)
    .option("--json", "JSON: {id, key, …}")
    .action(
      async (options: {
        account?: string;
        name: string;
        test?: boolean;
        role?: keyof typeof roles;
        scopes?: string;
        monthlyCap?: number;
        json?: boolean;
      }) => {
        const made = await asOperator(async (operator) =>
          operator.keys.create(
            options.account ?? (await localAccount(operator)),
            {
              mode: options.test ? "test" : "live",
              name: options.name,
              scopes: options.role ? roles[options.role] : readScopes(options.scopes),
              monthlyCap: options.monthlyCap,
            },
            operator.author,
          ),
        );
        if (options.json) console.log(JSON.stringify({ ...shown(made.key), key: made.text }));
        else console.log(`${made.key.id}\n${made.text}`);
      },
    );

  keys
    .command("list")
    .option("--account <id>", "whose keys; the local account's when left out")
    .option("--json", "a JSON object a line")
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
    .description("end a key now")
    .argument("<id>")
    .option("--account <id>", "whose key; the local account's when left out")
    .option("--json")
    .action(async (id: string, options: { account?: string; json?: boolean }) => {
      await asOperator(async (operator) =>
        operator.keys.revoke(
          options.account ?? (await localAccount(operator)),
          id,
          "revoked",
          operator.author,
        ),
      );
      console.log(options.json ? JSON.stringify({ id, revoked: true }) : `${id} is revoked`);
    });

  return keys;
}

function readScopes(list: string | undefined): Scope[] | undefined {
  if (list === undefined) return undefined;
  return list.split(",").map((text) => {
    const scope = scopes.find((one) => one === text.trim());
    if (!scope) throw new Error(`${text} is not a scope; there are ${scopes.join(", ")}.`);
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
    created_at: createdAt,
    revoked_at: revokedAt,
  };
}

function stateOf(key: ApiKey): string {
  if (key.revokedAt) return "revoked";
  return key.expiresAt && key.expiresAt <= new Date() ? "expired" : "in force";
}
