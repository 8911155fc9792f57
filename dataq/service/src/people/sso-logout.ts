import { createHash } from "node:crypto";
import { Failure } from "@dataq/contract";
import { createRemoteJWKSet, errors, type JWTPayload, jwtVerify } from "jose";
import { type Author, writeAudit } from "../accounts/audit.ts";
import type { Database } from "../database/database.ts";
import { inTransaction } from "../database/transaction.ts";
import { discoveryUrlOf, readObject } from "./sso-claims.ts";
import type { SsoSettings } from "./sso-settings.ts";

/** The event of https://openid.net/specs/openid-connect-backchannel-1_0.html */
const EVENT = "http://schemas.openid.net/event/backchannel-logout";
/** Only keys that the provider publishes: none of these is a shared secret, and none is `none`. */
const ALGORITHMS = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"];
const MOST_AGE_S = 300;
const TOLERANCE_S = 30;
/** A provider that did not describe itself is not asked again by every token from outside. */
const PAUSE_MS = 10_000;
const KEYS_LIFE_MS = 3_600_000;

type Keys = ReturnType<typeof createRemoteJWKSet>;

/** What a provider tells: the person `sub` has left it, or its session `sid` has ended, or both. */
interface Logout {
  readonly jti: string;
  readonly sub: string | null;
  readonly sid: string | null;
}

/** Logout tokens of the provider: it says that somebody has left, and their sessions here end. */
export class SsoLogout {
  readonly #settings: SsoSettings;
  readonly #database: Database;
  readonly #clock: () => Date;
  #keys: { readonly found: Promise<Keys>; readonly untilMs: number } | undefined;

  constructor(settings: SsoSettings, database: Database, clock: () => Date) {
    this.#settings = settings;
    this.#database = database;
    this.#clock = clock;
  }

  /**
   * Verifies a logout token and ends the sessions that it means and that began at this provider. Each token counts once.
   * Throws `invalid_logout_token`, and `unavailable` if the provider's keys cannot be read.
   */
  async end(token: string, providerId: string, author: Author): Promise<void> {
    const { jti, sub, sid } = await this.#read(token);
    await inTransaction(this.#database, async (transaction) => {
      const { now } = author;
      const oldest = new Date(now.getTime() - 2 * (MOST_AGE_S + TOLERANCE_S) * 1_000);
      await transaction.query("delete from people.sso_logout where at < $1", [oldest]);
      const isNew = await transaction.query(
        "insert into people.sso_logout (jti_sha256, at) values ($1, $2) on conflict do nothing",
        [createHash("sha256").update(jti).digest(), now],
      );
      if (isNew.rowCount === 0) throw refused("it was used before", "已使用过");
      const ended = await transaction.query<{ userId: string; sessions: number }>(
        `with ended as (
           delete from people."session" s using people."account" a
           where a."userId" = s."userId" and a."providerId" = $1 and s."ssoUntil" is not null
             and ($2::text is null or a."accountId" = $2) and ($3::text is null or s."ssoSid" = $3)
           returning s."userId"
         ) select "userId", count(*)::int as sessions from ended group by "userId"`,
        [providerId, sub, sid],
      );
      for (const { userId, sessions } of ended.rows)
        await writeAudit(transaction, { ...author, actor: "sso" }, "logout.sso", `user_${userId}`, null, {
          sessions,
        });
    });
  }

  async #read(token: string): Promise<Logout> {
    const { issuer, client_id } = this.#settings;
    const verified = await jwtVerify(
      token,
      async (header, jws) => (await this.#keysOfProvider())(header, jws),
      {
        issuer,
        audience: client_id,
        algorithms: ALGORITHMS,
        currentDate: this.#clock(),
        clockTolerance: TOLERANCE_S,
        maxTokenAge: MOST_AGE_S,
        requiredClaims: ["iat", "jti"],
      },
    ).catch((error: unknown) => {
      if (isOfToken(error)) throw refused(...reasonOf(error), error);
      throw new Failure("unavailable", { retry_after: 30 }, error);
    });
    return logoutOf(verified.payload, verified.protectedHeader.typ);
  }

  /** The keys that the provider publishes. An unknown one is looked for again, at most twice a minute. */
  #keysOfProvider(): Promise<Keys> {
    const nowMs = performance.now();
    if (this.#keys && nowMs < this.#keys.untilMs) return this.#keys.found;
    const found = this.#describe();
    this.#keys = { found, untilMs: nowMs + KEYS_LIFE_MS };
    found.catch(() => {
      this.#keys = { found, untilMs: nowMs + PAUSE_MS };
    });
    return found;
  }

  async #describe(): Promise<Keys> {
    const { issuer } = this.#settings;
    const provider = await readObject(discoveryUrlOf(this.#settings));
    const place = provider?.["jwks_uri"];
    if (provider?.["issuer"] !== issuer || typeof place !== "string")
      throw new Error(`${issuer} does not describe itself`);
    const url = new URL(place);
    if (url.protocol !== "https:" && url.hostname !== new URL(issuer).hostname)
      throw new Error(`${issuer} names a place for its keys that is not https`);
    return createRemoteJWKSet(url);
  }
}

/** Whether the token is at fault, and not the way to the provider's keys. */
function isOfToken(error: unknown): error is errors.JOSEError {
  // jose throws the base class if the provider does not answer with its keys.
  return (
    error instanceof errors.JOSEError &&
    error.constructor !== errors.JOSEError &&
    !(error instanceof errors.JWKSTimeout || error instanceof errors.JWKSInvalid)
  );
}

/** Why the token is not one of this provider for this service, in English and Chinese. */
function reasonOf(error: errors.JOSEError): readonly [string, string] {
  if (error instanceof errors.JWSSignatureVerificationFailed)
    return ["its signature is not the provider's", "签名不是该平台的"];
  if (error instanceof errors.JWKSNoMatchingKey)
    return ["the provider publishes no key for it", "平台没有公布与之对应的密钥"];
  if (error instanceof errors.JWKSMultipleMatchingKeys)
    return [
      "several keys of the provider fit and it names none (kid)",
      "平台有多个密钥与之相符，而令牌未注明 kid",
    ];
  if (error instanceof errors.JOSEAlgNotAllowed || error instanceof errors.JOSENotSupported)
    return [
      `its algorithm (alg) is none of ${ALGORITHMS.join(", ")}`,
      `签名算法（alg）不在 ${ALGORITHMS.join("、")} 之列`,
    ];
  if (error instanceof errors.JWTExpired)
    return error.claim === "iat"
      ? [`it was issued more than ${MOST_AGE_S / 60} minutes ago`, `签发已超过 ${MOST_AGE_S / 60} 分钟`]
      : ["it has expired (exp)", "已过期（exp）"];
  if (error instanceof errors.JWTClaimValidationFailed) {
    const { claim, reason } = error;
    if (reason === "missing") return [`it has no ${claim}`, `缺少 ${claim}`];
    if (claim === "iss") return ["its issuer (iss) is another one", "签发方（iss）不符"];
    if (claim === "aud") return ["it is meant for another client (aud)", "受众（aud）不是本客户端"];
    if (claim === "iat" || claim === "nbf")
      return [
        `it counts from a later time (${claim}) than this machine's clock`,
        `生效时间（${claim}）晚于本机时间`,
      ];
    return [`its ${claim} is not valid`, `${claim} 无效`];
  }
  return ["it is not a signed JWT", "不是已签名的 JWT"];
}

function logoutOf(claims: JWTPayload, type: string | undefined): Logout {
  const { jti, sub, events } = claims;
  const sid = claims["sid"];
  if (type !== undefined && !/^(?:application\/)?(?:logout\+)?jwt$/i.test(type))
    throw refused("its type is not logout+jwt", "类型不是 logout+jwt");
  // An ID token of the person has the same issuer, audience and signature.
  if (claims["nonce"] !== undefined) throw refused("it has a nonce", "含有 nonce");
  const event = isObject(events) ? events[EVENT] : undefined;
  if (!isObject(event)) throw refused("its events do not name a logout", "events 不是登出事件");
  const isText = (value: unknown) => typeof value === "string" && value !== "" && value.length <= 255;
  if (!isText(jti))
    throw refused("its jti is not a text of up to 255 characters", "jti 不是 255 个字符以内的文本");
  if (
    (sub === undefined && sid === undefined) ||
    ![sub, sid].every((one) => one === undefined || isText(one))
  )
    throw refused("it names no sub and no sid", "没有 sub 或 sid");
  return { jti: jti!, sub: sub ?? null, sid: (sid as string | undefined) ?? null };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function refused(reason: string, zh: string, cause?: unknown): Failure {
  return new Failure("invalid_logout_token", { reason, zh: { reason: zh } }, cause);
}
