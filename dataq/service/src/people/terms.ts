import { Failure, instantInChina } from "@dataq/contract";
import { type Author, writeAudit } from "../accounts/audit.ts";
import type { Principal } from "../accounts/principal.ts";
import type { Database, Queries } from "../database/database.ts";
import { inTransaction } from "../database/transaction.ts";

/** The operator's terms of use. Another version is accepted anew. */
export interface Terms {
  readonly version: string;
  readonly url: string;
  /** The day in China from which accounts that have not accepted them make no calls; undefined: they are only asked. */
  readonly from?: string | undefined;
}

/**
 * Refuses calls of accounts whose owners have not accepted the terms, from the day on that the operator announced. An
 * account without members has its own contract with the operator, who made it by hand.
 */
export class TermsGate {
  readonly #database: Database;
  readonly #terms: Terms | undefined;
  readonly #publicUrl: () => string;
  /** Accounts that have accepted: they need not be looked up again. */
  readonly #accepted = new Set<string>();

  constructor(database: Database, terms: Terms | undefined, publicUrl: () => string) {
    this.#database = database;
    this.#terms = terms;
    this.#publicUrl = publicUrl;
  }

  async assertAccepted({ id, role }: Principal["account"], now: Date): Promise<void> {
    const { from, version } = this.#terms ?? {};
    if (from === undefined || role === "admin" || now < new Date(instantInChina(from, "00:00:00"))) return;
    if (this.#accepted.has(id)) return;
    const found = await this.#database.query(`select ${OWES}`.replaceAll("$account", "$1"), [id, version]);
    if (found.rows[0]!.owes)
      throw new Failure("terms_not_accepted", {
        version: version!,
        from,
        page: `${this.#publicUrl()}/console`,
      });
    if (this.#accepted.size >= MOST_KEPT) this.#accepted.clear();
    this.#accepted.add(id);
  }
}

const MOST_KEPT = 100_000;

/** Whether an account has owners, of whom none has accepted the version. */
const OWES = `exists (select from people.member m join people."user" u on u."id" = m.user_id
    where m.account_id = $account and m.role = 'owner' and not u."isLocal")
  and not exists (select from people.member m join people.terms_accepted t on t.user_id = m.user_id and t.version = $2
    where m.account_id = $account and m.role = 'owner') as owes`;

/**
 * Takes the accounts that are to be told of the day from which terms count, each once for a version. Two services that
 * ask at once do not take the same one.
 */
export async function takeUnaccepted(
  queries: Queries,
  { version, from }: Terms,
  now: Date,
): Promise<string[]> {
  if (from === undefined) return [];
  const found = await queries.query<{ id: string }>(
    `insert into alert_told (account_id, kind, subject, told_at)
     select id, 'terms.due', $2, $1 from account a cross join lateral (select ${OWES}) o
     where a.role = 'customer' and a.closed_at is null and o.owes
     on conflict do nothing returning account_id as id`.replaceAll("$account", "a.id"),
    [now, version],
  );
  return found.rows.map(({ id }) => id);
}

export async function hasAccepted(database: Database, personId: string, version: string): Promise<boolean> {
  const found = await database.query(
    "select from people.terms_accepted where user_id = $1 and version = $2",
    [personId, version],
  );
  return found.rowCount === 1;
}

/** Records that a person accepts a version, with the time and the address. The first time counts. */
export async function acceptTerms(
  database: Database,
  personId: string,
  version: string,
  author: Author,
): Promise<void> {
  await inTransaction(database, async (transaction) => {
    const accepted = await transaction.query(
      "insert into people.terms_accepted values ($1, $2, $3, $4) on conflict do nothing",
      [personId, version, author.now, author.ip ?? null],
    );
    if (accepted.rowCount === 1)
      await writeAudit(transaction, author, "terms.accept", personId, null, { version });
  });
}
