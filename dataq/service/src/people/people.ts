import { randomBytes } from "node:crypto";
import { Failure } from "@dataq/contract";
import { type Account, createAccount, findAccount, type NewAccount } from "../accounts/account.ts";
import { type Author, writeAudit } from "../accounts/audit.ts";
import type { TellEnded } from "../accounts/key.ts";
import { grantOf, type Principal } from "../accounts/principal.ts";
import type { Role } from "../accounts/scope.ts";
import type { Database, Queries } from "../database/database.ts";
import { lockTransaction } from "../database/locks.ts";
import { inTransaction, type Transaction } from "../database/transaction.ts";
import type { Auth } from "./auth.ts";
import { openMail } from "./mail.ts";
import { addLetters, type LetterJob, letterOf, type OwnerNews } from "./owner-letters.ts";
import type { SingleSignOn } from "./sso.ts";

export interface PeopleOptions {
  readonly database: Database;
  /** The secret of the service. Sessions are signed with a key derived from it. */
  readonly secret: string;
  readonly mode: "local" | "hosted";
  readonly signup: "open" | "approve" | "closed";
  readonly smtpUrl: string | undefined;
  /** Single sign-on, if it is set. */
  readonly sso?: SingleSignOn | undefined;
  readonly publicUrl: () => string;
  readonly clock: () => Date;
  readonly onWarning: (text: string, error: unknown) => void;
  /** Jobs of emails were added. */
  readonly onLetters: () => void;
}

/** A person who signs in. */
export interface Person {
  readonly id: string;
  readonly name: string;
  readonly email: string;
  /** The account that they act for, and their role there. */
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
/** An email is tried as often as a message to a webhook: for about a day. */
const MOST_ATTEMPTS = 13;

/** People, their sessions, and the accounts that they act for. */
export class People {
  readonly #options: PeopleOptions;
  readonly #database: Database;
  #auth: Promise<Auth> | undefined;

  constructor(options: PeopleOptions) {
    this.#options = options;
    this.#database = options.database;
  }

  /** better-auth is loaded with the first request that needs it, so that the start does not wait for it. */
  auth(): Promise<Auth> {
    this.#auth ??= this.#openAuth();
    return this.#auth;
  }

  /** The address of the console, for links. */
  get publicUrl(): string {
    return this.#options.publicUrl();
  }

  get sso(): SingleSignOn | undefined {
    return this.#options.sso;
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
      onMailError: (error) => onWarning("could not send an email", error),
    });
  }

  /** The person behind these cookies. */
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

  /** The member behind these cookies, when they act for an account. */
  async principalOf(headers: Headers): Promise<Principal | undefined> {
    const signedIn = await this.find(headers);
    const role = signedIn?.person.role;
    if (!signedIn?.account || !role) return undefined;
    const { person, account } = signedIn;
    const id = `user_${person.id}`;
    return {
      ...grantOf(role, account.role),
      id,
      spendAs: id,
      account: { id: account.id, role: account.role, tier: account.tier },
      key: null,
    };
  }

  /** Tells the owners of an account by email which keys ended with a member's place or role. */
  readonly tellOfEndedKeys: TellEnded = async ({ accountId, personId, keys }, transaction) => {
    const person = (await this.#read(personId, transaction))?.email ?? personId;
    await this.tellOwners(accountId, { about: "key.ended", data: { person, keys } }, transaction);
  };

  /**
   * Tells the owners of an account by email, if and only if the transaction takes effect; whatever happens to this
   * process, it is sent at least once. Does nothing if the service sends no email.
   */
  async tellOwners(accountId: string, news: OwnerNews, queries: Queries): Promise<void> {
    if (!this.sendsMail) return;
    await addLetters(queries, accountId, news);
    this.#options.onLetters();
  }

  /** The task of a job that `tellOwners` has added. `run` counts its runs. Throws if it must run again. */
  async sendLetter(job: LetterJob, run: { readonly attempts: number }): Promise<void> {
    const { smtpUrl, onWarning } = this.#options;
    if (smtpUrl === undefined) return;
    try {
      await openMail(smtpUrl)({ to: job.to, ...letterOf(job, `${this.publicUrl}/console`) });
    } catch (error) {
      onWarning("could not send an email", error);
      if (run.attempts < MOST_ATTEMPTS) throw error;
    }
  }

  /** Everybody except the owner of the machine, newest first. */
  async list(limit: number): Promise<Person[]> {
    const found = await this.#database.pool.query<Person>(
      `${SELECT} where not "isLocal" order by "createdAt" desc limit $1`,
      [limit],
    );
    return found.rows;
  }

  /** The operator's approval. It also verifies the address, because the operator knows the person. */
  async approve(id: string, author: Author): Promise<void> {
    await inTransaction(this.#database, async (transaction) => {
      const changed = await transaction.query(
        `update people."user" set "isApproved" = true, "emailVerified" = true, "updatedAt" = $2 where "id" = $1`,
        [id, author.now],
      );
      if (changed.rowCount === 0) throw new Failure("not_found", { what: "The person" });
      await writeAudit(transaction, author, "person.approve", id, null, null);
    });
    await this.admit(id);
  }

  /**
   * A link for somebody who lost their password on a service that sends no mail. It works once, for an hour. Anybody
   * with the link can act as this person: `permit` receives each of their roles in admin accounts.
   */
  async makeResetLink(id: string, author: Author, permit: (role: Role) => void): Promise<string> {
    const person = await this.#read(id);
    if (!person || person.isLocal) throw new Failure("not_found", { what: "The person" });
    const roles = await this.#database.query<{ role: Role }>(
      `select m.role from people.member m join account a on a.id = m.account_id
       where m.user_id = $1 and a.role = 'admin'`,
      [id],
    );
    for (const { role } of roles.rows) permit(role);
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

  /** Gives a person who meets all conditions an account, once. */
  async admit(id: string): Promise<void> {
    const person = await this.#read(id);
    if (!person || person.accountId || !this.#isEntitled(person)) return;
    await this.#openAccount(person);
  }

  #isEntitled(person: Person): boolean {
    const { mode, signup } = this.#options;
    if (person.isApproved) return true;
    if (signup !== "open") return false;
    return mode === "local" || person.isVerified;
  }

  async #openAccount(person: Person): Promise<void> {
    const author: Author = { actor: `user_${person.id}`, now: this.#options.clock() };
    const { name, email } = person;
    // Two verification links opened at once must not make two accounts, each with a trial.
    const once = (run: (transaction: Transaction) => Promise<void>) =>
      inTransaction(this.#database, async (transaction) => {
        await lockTransaction(transaction, "person", person.id);
        const known = await transaction.query("select from people.member where user_id = $1", [person.id]);
        if (known.rowCount === 0) await run(transaction);
      });
    const open = (wanted: NewAccount) =>
      once(async (transaction) => {
        const account = await createAccount(transaction, wanted, author);
        await makeOwner(transaction, person.id, account.id, author.now);
      });
    try {
      return await open({ name, email });
    } catch (error) {
      if (!(error instanceof Failure) || error.code !== "already_exists") throw error;
    }
    // An operator has already created an account for this address. It belongs to whoever has verified the address.
    const known = await this.#database.query<{ id: string }>(
      `select id from account a where lower(email) = lower($1) and role = 'customer'
         and not exists (select from people.member m where m.account_id = a.id)`,
      [email],
    );
    const accountId = person.isVerified ? known.rows[0]?.id : undefined;
    if (accountId === undefined) return open({ name });
    await once((transaction) => makeOwner(transaction, person.id, accountId, author.now));
  }

  async #read(id: string, queries: Queries = this.#database.pool): Promise<Person | undefined> {
    return (await queries.query<Person>(`${SELECT} where "id" = $1`, [id])).rows[0];
  }
}

async function makeOwner(
  transaction: Transaction,
  personId: string,
  accountId: string,
  now: Date,
): Promise<void> {
  await transaction.query(
    `insert into people.member (user_id, account_id, role, created_at) values ($1, $2, 'owner', $3)
     on conflict do nothing`,
    [personId, accountId, now],
  );
  await transaction.query(`update people."user" set "accountId" = $2 where "id" = $1`, [personId, accountId]);
}

const SELECT = `select "id", "name", "email", "accountId", "emailVerified" as "isVerified", "isApproved", "isLocal",
  (select role from people.member m where m.user_id = "id" and m.account_id = "accountId") as "role",
  coalesce("twoFactorEnabled", false) as "twoFactor", "createdAt" from people."user"`;
