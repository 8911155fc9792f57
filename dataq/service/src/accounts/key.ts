import { chinaMonth, Failure, invalid } from "@dataq/contract";
import type { RevocationReason } from "@dataq/contract/wire";
import type { Database } from "../database/database.ts";
import { makeIdentifier } from "../database/identifier.ts";
import { inTransaction, type Transaction } from "../database/transaction.ts";
import type { Account, Tier } from "./account.ts";
import { isAmong } from "./address.ts";
import { type Author, writeAudit } from "./audit.ts";
import { assertFuture } from "./expiry.ts";
import type { ApiKey, Grant, NewKey } from "./grant.ts";
import { hmacOf, makeKeyText, readKeyText } from "./key-text.ts";
import type { Principal, Project } from "./principal.ts";
import { assertProject } from "./project.ts";
import { defaultScopes, holds, type Role, rights, type Scope } from "./scope.ts";

/** Throws unless the caller may change a key with this grant. */
export type Permit = (grant: Grant) => void;

/** For the operator of the machine, who may change every key. */
export const permitAll: Permit = () => {};

export interface CreatedKey {
  readonly key: ApiKey;
  readonly text: string;
}

/** Keys that ended because their person left, or may do less than they could. */
export interface EndedKeys {
  readonly accountId: string;
  readonly personId: string;
  readonly keys: readonly { readonly name: string; readonly last4: string }[];
}

/** Tells the owners of an account, in the transaction that ends the keys. */
export type TellEnded = (ended: EndedKeys, transaction: Transaction) => Promise<void>;

/** Creates, finds and ends keys. `pepper` is the secret behind the stored HMACs. */
export class Keys {
  readonly #database: Database;
  readonly #pepper: string;

  constructor(database: Database, pepper: string) {
    this.#database = database;
    this.#pepper = pepper;
  }

  /** Creates a key. Only this result contains the key's text. */
  async create(
    transaction: Transaction,
    accountId: string,
    wanted: NewKey,
    author: Author,
  ): Promise<CreatedKey> {
    assertFuture(wanted.expiresAt, author.now);
    await assertMembersKey(transaction, accountId, wanted.personId, wanted.scopes ?? defaultScopes);
    const mode = wanted.mode ?? "live";
    const text = makeKeyText(mode);
    if (wanted.projectId) await assertProject(transaction, accountId, wanted.projectId);
    const made = await transaction.query<ApiKey>(
      `insert into api_key (id, account_id, mode, name, hmac, prefix, last4, scopes, monthly_cap, ip_list, created_at, expires_at, per_second, spend_as, session_budget, project_id, person_id)
       values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17) returning ${SEEN}`,
      [
        makeIdentifier("key", author.now),
        accountId,
        mode,
        wanted.name ?? "",
        hmacOf(text, this.#pepper),
        text.slice(0, 12),
        text.slice(-4),
        wanted.scopes ?? defaultScopes,
        wanted.monthlyCap ?? null,
        wanted.ipList ?? [],
        author.now,
        wanted.expiresAt ?? null,
        wanted.perSecond ?? null,
        wanted.spendAs ?? null,
        wanted.sessionBudget ?? null,
        wanted.projectId ?? null,
        wanted.personId ?? null,
      ],
    );
    const key = made.rows[0]!;
    await writeAudit(transaction, author, "key.create", key.id, null, describe(key));
    return { key, text };
  }

  /**
   * Finds the owner of this key and checks the address. Throws `invalid_api_key` for every text that is not a
   * valid key. Only `onRefused` receives the reason; the caller does not.
   */
  async authenticate(
    text: string,
    address: string,
    now: Date,
    onRefused?: (reason: string) => void,
  ): Promise<Principal> {
    const refuse = (reason: string) => {
      onRefused?.(reason);
      return new Failure("invalid_api_key");
    };
    if (!readKeyText(text)) throw refuse("malformed");
    const month = chinaMonth(now);
    const found = await this.#database.pool.query<
      ApiKey & { role: Account["role"]; tier: Tier; project: Omit<Project, "month"> | null }
    >({
      name: "accounts-authenticate",
      text: `select ${COLUMNS}, role, tier, project from api_key k join lateral
               (select role, tier from account a where a.id = k.account_id) a on true left join lateral
               (select json_build_object('id', p.id, 'name', p.name, 'budget', p.monthly_budget, 'spent', coalesce(
                         (select tokens from project_spend s where s.project_id = p.id and s.month = $2), 0)) as project
                from project p where p.id = k.project_id) p on true where hmac = $1`,
      values: [hmacOf(text, this.#pepper), month],
    });
    const row = found.rows[0];
    if (!row) throw refuse("unknown");
    const { role, tier, project, ...key } = row;
    // Not awaited: response times must not reveal which keys exist.
    const note = (reason: string) => this.noteRefusal(key, reason, address, now);
    for (const [reason, since] of [
      ["revoked", key.revokedAt],
      ["expired", key.expiresAt],
    ] as const)
      if (since && since <= now) {
        note(reason);
        throw refuse(reason);
      }
    if (key.ipList.length > 0 && !isAmong(address, key.ipList)) {
      note("ip_denied");
      throw new Failure("ip_denied");
    }
    const account = { id: key.accountId, role, tier };
    return { ...key, key, account, ...(project && { project: { ...project, month } }) };
  }

  async list(accountId: string): Promise<ApiKey[]> {
    const found = await this.#database.pool.query<ApiKey>(
      `select ${SEEN} from api_key where account_id = $1 order by id`,
      [accountId],
    );
    return found.rows;
  }

  /** Changes a key. `permit` receives the grant before and after the change. */
  async change(
    accountId: string,
    id: string,
    wanted: Omit<NewKey, "mode" | "spendAs" | "projectId">,
    author: Author,
    permit: Permit,
  ): Promise<ApiKey> {
    assertFuture(wanted.expiresAt, author.now);
    return inTransaction(this.#database, async (transaction) => {
      const before = await lockKey(transaction, accountId, id, permit);
      const personId = wanted.personId === undefined ? before.personId : wanted.personId;
      await assertMembersKey(transaction, accountId, personId, wanted.scopes ?? before.scopes);
      const changed = await transaction.query<ApiKey>(
        `update api_key set name = $3, scopes = $4, monthly_cap = $5, ip_list = $6, expires_at = $7, per_second = $8,
           session_budget = $9, person_id = $10
         where account_id = $1 and id = $2 returning ${SEEN}`,
        [
          accountId,
          id,
          wanted.name ?? before.name,
          wanted.scopes ?? before.scopes,
          wanted.monthlyCap === undefined ? before.monthlyCap : wanted.monthlyCap,
          wanted.ipList ?? before.ipList,
          wanted.expiresAt === undefined ? before.expiresAt : wanted.expiresAt,
          wanted.perSecond === undefined ? before.perSecond : wanted.perSecond,
          wanted.sessionBudget === undefined ? before.sessionBudget : wanted.sessionBudget,
          personId,
        ],
      );
      const key = changed.rows[0]!;
      permit(key);
      await writeAudit(transaction, author, "key.change", id, describe(before), describe(key));
      return key;
    });
  }

  /**
   * Replaces a key by a new one with the same rights, which shares its cap. The old one works for `graceS` seconds more;
   * with 0 it ends at once.
   */
  async rotate(
    accountId: string,
    id: string,
    graceS: number,
    author: Author,
    permit: Permit,
  ): Promise<CreatedKey> {
    return inTransaction(this.#database, async (transaction) => {
      const old = await lockKey(transaction, accountId, id, permit);
      if (old.revokedAt) throw new Failure("not_found", { what: `The key ${id}` });
      const made = await this.create(transaction, accountId, old, author);
      if (graceS === 0) {
        await endKey(transaction, id, "rotated", author);
      } else {
        const end = new Date(author.now.getTime() + graceS * 1000);
        await transaction.query("update api_key set expires_at = least(expires_at, $2) where id = $1", [
          id,
          end,
        ]);
      }
      await writeAudit(transaction, author, "key.rotate", id, null, { to: made.key.id, grace_s: graceS });
      return made;
    });
  }

  /** Revokes a key. Takes effect in every instance with the next request. */
  async revoke(
    accountId: string,
    id: string,
    reason: RevocationReason,
    author: Author,
    permit: Permit,
  ): Promise<void> {
    await inTransaction(this.#database, async (transaction) => {
      await lockKey(transaction, accountId, id, permit);
      await endKey(transaction, id, reason, author);
    });
  }

  /** Revokes a key that somebody found in public, if it was valid until then. `tell` does so in the same transaction. */
  async reportLeak(
    text: string,
    author: Author,
    tell: (leaked: ApiKey, transaction: Transaction) => Promise<void>,
  ): Promise<ApiKey | undefined> {
    if (!readKeyText(text)) return undefined;
    return inTransaction(this.#database, async (transaction) => {
      const found = await transaction.query<ApiKey>(
        `select ${COLUMNS} from api_key where hmac = $1 and revoked_at is null for update`,
        [hmacOf(text, this.#pepper)],
      );
      const key = found.rows[0];
      if (!key) return undefined;
      await endKey(transaction, key.id, "leaked", author);
      await writeAudit(transaction, author, "key.leak", key.id, null, null);
      await tell(key, transaction);
      return key;
    });
  }

  /** Records that a key was refused, at most once per hour and key, in the background. A lost record does no harm. */
  noteRefusal(key: ApiKey, reason: string, ip: string, now: Date): void {
    if (key.lastRefusedAt && now.getTime() - key.lastRefusedAt.getTime() < 3_600_000) return;
    const note = async (transaction: Transaction) => {
      const noted = await transaction.query(
        "update api_key set last_refused_at = $2 where id = $1 and (last_refused_at is null or last_refused_at <= $2::timestamptz - interval '1 hour')",
        [key.id, now],
      );
      if (noted.rowCount === 0) return;
      await writeAudit(transaction, { actor: "nobody", now, ip }, "key.refused", key.id, null, { reason });
    };
    inTransaction(this.#database, note).catch(() => {});
  }

  /**
   * Records the last use, at most once per minute and key, which is exact enough, because nothing else depends on it.
   */
  async noteUse(key: ApiKey, now: Date): Promise<void> {
    if (key.lastUsedAt && now.getTime() - key.lastUsedAt.getTime() < 60_000) return;
    await this.#database.pool.query(
      "update api_key set last_used_at = $2 where id = $1 and (last_used_at is null or last_used_at < $2::timestamptz - interval '1 minute')",
      [key.id, now],
    );
  }
}

async function endKey(
  transaction: Transaction,
  id: string,
  reason: RevocationReason,
  author: Author,
): Promise<void> {
  await transaction.query(
    `update api_key set revoked_at = coalesce(revoked_at, $2), revoked_reason = coalesce(revoked_reason, $3)
     where id = $1`,
    [id, author.now, reason],
  );
  await writeAudit(transaction, author, "key.revoke", id, null, { reason });
}

/**
 * Ends the keys of a person who leaves an account, or those that can do more than their new role, and tells the owners.
 * Takes effect in every instance with the next request.
 */
export async function endPersonsKeys(
  transaction: Transaction,
  {
    accountId,
    personId,
    role,
  }: { readonly accountId: string; readonly personId: string; readonly role?: Role },
  author: Author,
  tell: TellEnded,
): Promise<void> {
  const found = await transaction.query<ApiKey & { kind: Account["role"] }>(
    `select ${COLUMNS}, (select role from account a where a.id = account_id) as kind from api_key
     where account_id = $1 and person_id = $2 and revoked_at is null
       and (expires_at is null or expires_at > $3) order by id for update`,
    [accountId, personId, author.now],
  );
  const ended = found.rows.filter(({ scopes, kind }) => role === undefined || !isWithin(scopes, kind, role));
  for (const { id } of ended)
    await endKey(transaction, id, role === undefined ? "person_left" : "role_changed", author);
  if (ended.length === 0) return;
  const keys = ended.map(({ name, last4 }) => ({ name, last4 }));
  await tell({ accountId, personId, keys }, transaction);
}

/** A key of a person can be had by members only, and cannot do more than they. Locks the member against leaving. */
async function assertMembersKey(
  transaction: Transaction,
  accountId: string,
  personId: string | null | undefined,
  scopes: readonly Scope[],
): Promise<void> {
  if (personId == null) return;
  const found = await transaction.query<{ role: Role; kind: Account["role"] }>(
    `select m.role, a.role as kind from people.member m join account a on a.id = m.account_id
     where m.account_id = $1 and m.user_id = $2 for share of m`,
    [accountId, personId],
  );
  const member = found.rows[0];
  if (!member)
    throw invalid(
      "person_id",
      "choice",
      "person_id is not a member of this account",
      "send the ID of a member, or null for a key of a service",
      "请发送成员的 ID；服务使用的密钥请发送 null",
    );
  if (!isWithin(scopes, member.kind, member.role))
    throw invalid(
      "scopes",
      "choice",
      "scopes go beyond the role of the person",
      "send scopes that their role has, or give them another role first",
      "请只选择其角色拥有的权限，或先更改其角色",
    );
}

function isWithin(scopes: readonly Scope[], kind: Account["role"], role: Role): boolean {
  return scopes.every((scope) => holds(rights[kind][role], scope));
}

/** Locks a key for a change. */
async function lockKey(
  transaction: Transaction,
  accountId: string,
  id: string,
  permit: Permit,
): Promise<ApiKey> {
  const found = await transaction.query<ApiKey>(
    `select ${COLUMNS} from api_key where account_id = $1 and id = $2 for update`,
    [accountId, id],
  );
  const key = found.rows[0];
  if (!key) throw new Failure("not_found", { what: `The key ${id}` });
  permit(key);
  return key;
}

const COLUMNS = `id, account_id as "accountId", mode, name, prefix, last4, scopes, monthly_cap as "monthlyCap",
  session_budget as "sessionBudget", project_id as "projectId",
  coalesce(spend_as, id) as "spendAs", per_second as "perSecond",
  ip_list as "ipList", created_at as "createdAt", expires_at as "expiresAt", revoked_at as "revokedAt",
  revoked_reason as "revokedReason", last_used_at as "lastUsedAt",
  last_refused_at as "lastRefusedAt", person_id as "personId"`;
const SEEN = `${COLUMNS}, (select u."name" from people."user" u where u."id" = person_id) as "personName"`;

function describe(key: ApiKey): object {
  const { name, mode, scopes, monthlyCap, projectId, sessionBudget, perSecond, ipList, expiresAt, personId } =
    key;
  return {
    name,
    mode,
    scopes,
    monthly_cap: monthlyCap,
    project_id: projectId,
    session_budget: sessionBudget,
    per_second: perSecond,
    ip_list: ipList,
    expires_at: expiresAt,
    ...(personId !== null && { person: personId }),
  };
}
