import { createAccount } from "../src/accounts/account.ts";
import type { Database } from "../src/database/database.ts";
import { inTransaction } from "../src/database/transaction.ts";
import { verifyLedger } from "../src/ledger/verify.ts";
import type { PaymentFailpoint } from "../src/payments/failpoint.ts";
import { Payments } from "../src/payments/payments.ts";
import { readPaymentSettings } from "../src/payments/settings.ts";
import { makeDataFolder, openFolder, removeDataFolder } from "./data-folder.ts";
import { type Notice, PaymentProviders } from "./payment-providers.ts";

/** Thrown where a process would have been killed. */
class Killed extends Error {}

/** Payments with their database, their providers, and a clock that a test moves. */
export class PaymentRig implements AsyncDisposable {
  readonly database: Database;
  readonly providers: PaymentProviders;
  readonly payments: Payments;
  readonly warnings: string[] = [];
  nowMs = Date.parse("2026-03-10T04:00:00Z");
  /** Where the next operation stops. */
  killAt: PaymentFailpoint | undefined;
  readonly folder: string;

  private constructor(folder: string, database: Database, providers: PaymentProviders, payments: Payments) {
    this.folder = folder;
    this.database = database;
    this.providers = providers;
    this.payments = payments;
  }

  static async start(more: object = {}): Promise<PaymentRig> {
    const folder = await makeDataFolder("tables");
    const database = await openFolder(folder);
    const made: { rig?: PaymentRig } = {};
    const clock = () => new Date(made.rig!.nowMs);
    const providers = await PaymentProviders.start(() => made.rig!.nowMs);
    const settings = await readPaymentSettings(providers.configure(folder, more).DATAQ_PAYMENTS);
    const payments = new Payments({
      database,
      settings,
      clock,
      publicUrl: () => "https://data.example",
      onWarning: (text, error) => made.rig!.warnings.push(`${text}: ${error.message}`),
      failpoint: (at) => {
        if (at !== made.rig!.killAt) return;
        made.rig!.killAt = undefined;
        throw new Killed(at);
      },
    });
    made.rig = new PaymentRig(folder, database, providers, payments);
    return made.rig;
  }

  get author() {
    return { actor: "test", now: new Date(this.nowMs) };
  }

  /** A new account without tokens. */
  async account(): Promise<string> {
    const wanted = { name: "payer", tokens: 0 };
    return (
      await inTransaction(this.database, (transaction) => createAccount(transaction, wanted, this.author))
    ).id;
  }

  /** Delivers a notice as the provider does. Returns the code of the refusal, or undefined. */
  async deliver({ path, headers, body }: Notice): Promise<string | undefined> {
    return codeOf(() => this.payments.hear(path.split("/")[3]!, { headers, body: Buffer.from(body) }));
  }

  /** Lets time pass, and asks for everything that is due. */
  async ask(seconds: number): Promise<void> {
    this.nowMs += seconds * 1_000;
    await this.payments.askDue();
  }

  /** The money that the ledger has for a payment, or for all of them. */
  async ledgerFen(id?: string): Promise<number> {
    return ledgerFen(this.database, id);
  }

  async wallet(accountId: string) {
    const found = await this.database.query<{ paid: number; credit: number; trial: number; frozen: boolean }>(
      "select trial, paid, credit, frozen from wallet where account_id = $1",
      [accountId],
    );
    return found.rows[0]!;
  }

  /** Kinds and tokens of the account's entries, oldest first. */
  async entries(accountId: string): Promise<[string, number][]> {
    const found = await this.database.query<{ kind: string; tokens: number }>(
      "select kind, tokens from entry where account_id = $1 order by seq",
      [accountId],
    );
    return found.rows.map(({ kind, tokens }) => [kind, tokens]);
  }

  async brokenLaws(): Promise<string[]> {
    const { findings } = await verifyLedger(this.database);
    return findings.flatMap(({ law, text, breaches }) =>
      breaches.map((breach) => `${law} ${text}: ${breach}`),
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.providers[Symbol.asyncDispose]();
    await this.database.close();
    await removeDataFolder(this.folder);
  }
}

/** The code of the failure, `killed` at a failpoint, or undefined. Other errors are thrown. */
export async function codeOf(run: () => Promise<unknown>): Promise<string | undefined> {
  try {
    await run();
    return undefined;
  } catch (error) {
    if (error instanceof Killed || (error as Error).cause instanceof Killed) return "killed";
    const { code } = error as { code?: string };
    if (code === undefined) throw error;
    return code;
  }
}

/** The money that the ledger has for a payment, or for all of them. */
export async function ledgerFen(database: Database, id?: string): Promise<number> {
  const found = await database.query<{ fen: number }>(
    `select coalesce(-sum(payments), 0)::bigint / 500 as fen from entry
     where split_part(reference, '/', 1) ${id === undefined ? "like 'payment:%'" : "= 'payment:' || $1"}`,
    id === undefined ? [] : [id],
  );
  return found.rows[0]!.fen;
}
