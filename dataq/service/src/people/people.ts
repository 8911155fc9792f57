import { randomBytes } from "node:crypto";
import { Failure } from "@dataq/contract";
import { type Account, createAccount, findAccount } from "../accounts/account.ts";
import { type Author, writeAudit } from "../accounts/audit.ts";
import type { Principal } from "../accounts/key.ts";
import { type Role, roles, type Scope, scopes } from "../accounts/scope.ts";
import type { Database } from "../database/database.ts";
import { lock } from "../database/locks.ts";
import type { Auth } from "./auth.ts";
import { type Letter, letters, openMail } from "./mail.ts";

export interface PeopleOptions {
  readonly database: Database;
  /** The service's secret; sessions are signed with something made from it. */
  readonly secret: string;
  readonly mode: "local" | "hosted";
  readonly signup: "open" | "approve" | "closed";
  readonly smtpUrl: string | undefined;
  readonly publicUrl: () => string;
  readonly clock: () => Date;
  readonly onWarning: (text: string, error: unknown) => void;
}

/** Somebody who signs in. */
export interface Person {
  readonly id: string;
  readonly name: string;
  readonly email: string;
  /** The account that they act for, and as what. */
  readonly accountId: string | null;
  readonly role: Role | null;
  readonly isVerified: boolean;
  readonly isApproved: boolean;
  readonly isLocal: boolean;
  readonly twoFactor: boolean;
  readonly createdAt: Date;
}

export interface SignedIn {
  readonly person: Person;
  readonly account: Account | undefined;
  readonly sessionId: string;
}

const RESET_LIFE_MS = 3_600_000;

/** People, their sessions, and the accounts that they act for. */
export class People {
  readonly #options: PeopleOptions;
  readonly #database: Database;
  #auth: Promise<Auth> | undefined;

  constructor(options: PeopleOptions) {
    this.#options = options;
    this.#database = options.database;
  }

  /** What sign-in is made of is fetched with the first person: a start does not wait for it. */
  auth(): Promise<Auth> {
    this.#auth ??= this.#openAuth();
    return this.#auth;
  }

  /** Where people reach the console, for links. */
  get publicUrl(): string {
    return this.#options.publicUrl();
  }

  get sendsMail(): boolean {
    return this.#options.smtpUrl !== undefined;
  }

  async #openAuth(): Promise<Auth> {
    const { createAuth } = await import("./auth.ts");
    const { mode, smtpUrl, onWarning } = this.#options;
    return createAuth({
      ...this.#options,
      wantsVerification: mode === "hosted",
      send: smtpUrl === undefined ? undefined : openMail(smtpUrl),
      onChange: (userId) => this.admit(userId),
      onMailError: (error) => onWarning("a letter was not sent", error),
    });
  }

  /** Who sent these cookies, if anybody. */
  async find(headers: Headers): Promise<SignedIn | undefined> {
    if (!headers.get("cookie")?.includes("dataq.session_token=")) return undefined;
    const auth = await this.auth();
    const found = await auth.api.getSession({ headers, query: { disableRefresh: true } });
    if (!found) return undefined;
    const person = await this.#read(found.user.id);
    if (!person) return undefined;
    const account = person.accountId ? await findAccount(this.#database, person.accountId) : undefined;
    return { person, account, sessionId: found.session.id };
  }

  /** The same rights as a key of the member's role; a session of the operator's owner may also operate. */
  async principalOf(headers: Headers): Promise<Principal | undefined> {
    const signedIn = await this.find(headers);
    if (!signedIn?.account) return undefined;
    const { person, account } = signedIn;
    return {
      account: { id: account.id, role: account.role, tier: account.tier },
      key: {
        id: `user_${person.id}`,
        spendAs: `user_${person.id}`,
        accountId: account.id,
        mode: "live",
        name: "console",
        prefix: "",
        last4: "",
        scopes: scopesOf(person, account),
        monthlyCap: null,
        perSecond: null,
        ipList: [],
        createdAt: person.createdAt,
        expiresAt: null,
        revokedAt: null,
        revokedReason: null,
        lastUsedAt: null,
        lastRefusedAt: null,
      },
    };
  }

  /** Tells an account's owners, where letters go out, that a key was found in the open and is revoked. */
  async tellOfLeak(accountId: string, key: { readonly name: string; readonly last4: string }): Promise<void> {
    if (!this.sendsMail) return;
    const owners = await this.#database.pool.query<{ email: string }>(
      `select u."email" from people.member m join people."user" u on u."id" = m.user_id
       where m.account_id = $1 and m.role = 'owner' and not u."isLocal"`,
      [accountId],
    );
    const letter = letters.leak(key, `${this.publicUrl}/console/keys`);
    for (const { email } of owners.rows) await this.#send({ to: email, ...letter });
  }

  async #send(letter: Letter): Promise<void> {
    const { smtpUrl, onWarning } = this.#options;
    if (smtpUrl === undefined) return;
    await openMail(smtpUrl)(letter).catch((error) => onWarning("a letter was not sent", error));
  }

  /** Everybody but the machine's owner; newest first. */
  async list(limit: number): Promise<Person[]> {
    const found = await this.#database.pool.query<Person>(
      `${SELECT} where not "isLocal" order by "createdAt" desc limit $1`,
      [limit],
    );
    return found.rows;
  }

  /** The operator's yes. It also stands for a verified address: the operator knows who this is. */
  async approve(id: string, author: Author): Promise<void> {
    const changed = await this.#database.pool.query(
      `update people."user" set "isApproved" = true, "emailVerified" = true, "updatedAt" = $2 where "id" = $1`,
      [id, author.now],
    );
    if (changed.rowCount === 0) throw new Failure("not_found", { what: "The person" });
    await writeAudit(this.#database, author, "person.approve", id, null, null);
    await this.admit(id);
  }

  /** A link for somebody who lost a password, where no mail goes out. It works once, for an hour. */
  async makeResetLink(id: string, author: Author): Promise<string> {
    const person = await this.#read(id);
    if (!person || person.isLocal) throw new Failure("not_found", { what: "The person" });
    const token = randomBytes(24).toString("base64url");
    const { internalAdapter } = await (await this.auth()).$context;
    await internalAdapter.createVerificationValue({
      identifier: `reset-password:${token}`,
      value: id,
      expiresAt: new Date(author.now.getTime() + RESET_LIFE_MS),
    });
    await writeAudit(this.#database, author, "person.reset_link", id, null, null);
    return `${this.publicUrl}/console/reset#token=${token}`;
  }

  /** Gives a person their account when all that is asked of them is done. Calling it again changes nothing. */
  async admit(id: string): Promise<void> {
    const turn = await this.#database.connect();
    try {
      // Two letters opened at once make one account, not two trials.
      await lock(turn, "person", id);
      const person = await this.#read(id);
      if (!person || person.accountId || !this.#isEntitled(person)) return;
      const accountId = await this.#accountFor(person);
      await this.#database.pool.query(
        `with joined as (
           insert into people.member (user_id, account_id, role, created_at) values ($1, $2, 'owner', $3)
           on conflict do nothing
         ) update people."user" set "accountId" = $2 where "id" = $1`,
        [id, accountId, this.#options.clock()],
      );
    } finally {
      await turn.end();
    }
  }

  #isEntitled(person: Person): boolean {
    const { mode, signup } = this.#options;
    if (person.isApproved) return true;
    if (signup !== "open") return false;
    return mode === "local" || person.isVerified;
  }

  async #accountFor(person: Person): Promise<string> {
    const author: Author = { actor: `user_${person.id}`, now: this.#options.clock() };
    try {
      const account = await createAccount(this.#database, { name: person.name, email: person.email }, author);
      return account.id;
    } catch (error) {
      if (!(error instanceof Failure) || error.code !== "already_exists") throw error;
    }
    // An operator made an account for this address before. It is theirs only if the address is proved to be.
    const known = await this.#database.pool.query<{ id: string }>(
      `select id from account a where lower(email) = lower($1) and role = 'customer'
         and not exists (select from people.member m where m.account_id = a.id)`,
      [person.email],
    );
    if (person.isVerified && known.rows[0]) return known.rows[0].id;
    return (await createAccount(this.#database, { name: person.name }, author)).id;
  }

  async #read(id: string): Promise<Person | undefined> {
    return (await this.#database.pool.query<Person>(`${SELECT} where "id" = $1`, [id])).rows[0];
  }
}

function scopesOf({ role }: Person, account: Account): readonly Scope[] {
  if (role === null) return [];
  return account.role === "admin" && role === "owner" ? scopes : roles[role];
}

const SELECT = `select "id", "name", "email", "accountId", "emailVerified" as "isVerified", "isApproved", "isLocal",
  (select role from people.member m where m.user_id = "id" and m.account_id = "accountId") as "role",
  coalesce("twoFactorEnabled", false) as "twoFactor", "createdAt" from people."user"`;
