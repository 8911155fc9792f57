import { AsyncLocalStorage } from "node:async_hooks";
import { createHash } from "node:crypto";
import type { SsoCause } from "@dataq/contract";
import type { SsoRefusal } from "@dataq/contract/wire";
import { type Author, writeAudit } from "../accounts/audit.ts";
import type { TellEnded } from "../accounts/key.ts";
import type { Role } from "../accounts/scope.ts";
import type { Database } from "../database/database.ts";
import { lockTransaction } from "../database/locks.ts";
import { inTransaction } from "../database/transaction.ts";
import { SSO_PATH } from "./auth-names.ts";
import { dropAbsent, dropProvidersRole, giveProvidersRole, isInvited } from "./members.ts";
import { lackIn, roleIn } from "./sso-claims.ts";
import type { SsoLogout } from "./sso-logout.ts";
import type { SsoSettings } from "./sso-settings.ts";

/** What is learned about a person while they come back from the provider. */
export interface Arrival {
  /** Set if the provider's person is known here. */
  personId?: string;
  /** Whether somebody who signed up here is now one of the provider's. */
  isLinked?: true;
  /** The role that the claim gives. */
  role?: Role;
  /** The provider's own session, which it may end. */
  sid?: string;
  /** What went wrong, as far as it is known. */
  cause?: SsoCause;
  /** The code or status with which the provider refused something. */
  said?: string;
}

/** A person as better-auth hands them to a check, after the provider's signature and the nonce were checked. */
export interface ClaimedPerson {
  readonly action: "create-user" | "link-account" | "sign-in";
  /** Undefined for a new person. */
  readonly personId: string | undefined;
  readonly providerId: string | undefined;
  readonly claims: Readonly<Record<string, unknown>>;
}

interface SsoParts {
  readonly settings: SsoSettings;
  readonly database: Database;
  readonly signup: "open" | "approve" | "closed";
  readonly publicUrl: () => string;
  readonly clock: () => Date;
}

/** The rules of single sign-on: who may come in, and what the provider says they may do here. */
export class SingleSignOn {
  readonly #parts: SsoParts;
  /** Runs around the return from the provider, so that nothing else can start a session of this kind. */
  readonly #arrivals = new AsyncLocalStorage<Arrival>();
  #logout: Promise<SsoLogout> | undefined;
  /** Another issuer is another provider, whose people may have the same identifiers. */
  readonly providerId: string;

  constructor(parts: SsoParts) {
    this.#parts = parts;
    const digest = createHash("sha256").update(parts.settings.issuer).digest("hex");
    this.providerId = `sso-${digest.slice(0, 16)}`;
  }

  get settings(): SsoSettings {
    return this.#parts.settings;
  }

  get returnUrl(): string {
    return `${this.#parts.publicUrl()}${SSO_PATH}/return`;
  }

  /** Whether the present request is somebody's return from the provider. */
  get isArriving(): boolean {
    return this.#arrivals.getStore() !== undefined;
  }

  /** The provider's session of whoever is arriving. */
  get arrivingSid(): string | null {
    return this.#arrivals.getStore()?.sid ?? null;
  }

  /** Why whoever is arriving does not come in. */
  noteCause(cause: SsoCause): void {
    const arrival = this.#arrivals.getStore();
    if (arrival) arrival.cause = cause;
  }

  /** What better-auth has to say of an arrival. Nothing of it is kept but a code of OAuth or a status of HTTP. */
  hear(details: readonly unknown[]): void {
    const arrival = this.#arrivals.getStore();
    if (!arrival) return;
    for (const detail of details) {
      const { error, status } = { ...(detail as { error?: unknown; status?: unknown } | undefined) };
      const code = codeIn(error);
      if (code !== undefined) arrival.said = code;
      else if (typeof status === "number") arrival.said ??= `HTTP ${status}`;
    }
  }

  /** Ends the sessions that a logout token of the provider means. Throws `invalid_logout_token`, `unavailable`. */
  async logOut(token: string, author: Author): Promise<void> {
    // Loaded with the first token, because most services get none.
    this.#logout ??= import("./sso-logout.ts").then(
      ({ SsoLogout }) => new SsoLogout(this.settings, this.#parts.database, this.#parts.clock),
    );
    await (await this.#logout).end(token, this.providerId, author);
  }

  /** When a session ends that begins now. Whoever was removed at the provider is out by then. */
  sessionEnd(): Date {
    return new Date(this.#parts.clock().getTime() + this.settings.session_hours * 3_600_000);
  }

  async arrive<Result>(run: () => Promise<Result>): Promise<{ result: Result; arrival: Arrival }> {
    const arrival: Arrival = {};
    const result = await this.#arrivals.run(arrival, run);
    return { result, arrival };
  }

  /** Why a person may not come in. */
  async refusalOf({ action, personId, providerId, claims }: ClaimedPerson): Promise<SsoRefusal | undefined> {
    const arrival = this.#arrivals.getStore();
    if (!arrival || providerId !== this.providerId) return "failed";
    if (action === "sign-in" && personId !== undefined) arrival.personId = personId;
    if (typeof claims["sid"] === "string") arrival.sid = claims["sid"].slice(0, 255);
    const { mail_domains, customers, link_existing } = this.settings;
    const email = claims["email"];
    const isVerified = claims["email_verified"] === true || claims["email_verified"] === "true";
    if (typeof email !== "string" || !isVerified) return "mail_unverified";
    if (!mail_domains.includes(email.slice(email.lastIndexOf("@") + 1).toLowerCase())) return "mail_domain";
    const role = roleIn(claims, this.settings);
    if (role !== undefined) arrival.role = role;
    else if (!customers) {
      const lack = lackIn(claims, this.settings);
      if (lack) arrival.cause = lack;
      return "no_role";
    }
    if (action === "create-user" && role === undefined && (await this.#isClosedTo(email)))
      return "signup_closed";
    if (action === "link-account" && !(link_existing && (await this.#isFree(personId)))) return "mail_taken";
    if (action === "link-account") arrival.isLinked = true;
    return undefined;
  }

  async #isClosedTo(email: string): Promise<boolean> {
    const { signup, database, clock } = this.#parts;
    return signup === "closed" && !(await isInvited(database, email, clock()));
  }

  /**
   * Whether a person here can be linked to one of the provider. A person who is already linked cannot: at the provider,
   * somebody else has their address now.
   */
  async #isFree(personId: string | undefined): Promise<boolean> {
    const found = await this.#parts.database.query(
      `select from people."user" u where u."id" = $1 and not u."isLocal" and not exists
         (select from people."account" a where a."userId" = u."id" and a."providerId" = $2)`,
      [personId ?? null, this.providerId],
    );
    return found.rowCount === 1;
  }

  /** Makes the person's role in the operator's account what the provider says. Keys can end with it. */
  async settle(
    personId: string,
    { role, isLinked }: Arrival,
    author: Author,
    tell: TellEnded,
  ): Promise<void> {
    await inTransaction(this.#parts.database, async (transaction) => {
      await lockTransaction(transaction, "person", personId);
      if (isLinked) await writeAudit(transaction, author, "person.link", personId, null, { by: "sso" });
      await (role === undefined
        ? dropProvidersRole(transaction, personId, author, tell)
        : giveProvidersRole(transaction, personId, role, author, tell));
    });
  }

  /** Ends the roles of those whom the provider has not sent for long: perhaps it no longer knows them. */
  async dropAbsent(tell: TellEnded): Promise<void> {
    const now = this.#parts.clock();
    const since = new Date(now.getTime() - this.settings.absence_days * 86_400_000);
    await dropAbsent(this.#parts.database, since, now, tell);
  }
}

/** A code of OAuth, which is short and has no secret in it; undefined for anything else. */
export function codeIn(text: unknown): string | undefined {
  return typeof text === "string" && /^[a-z][a-z_]{0,59}$/.test(text) ? text : undefined;
}
