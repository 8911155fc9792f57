import { createHmac } from "node:crypto";
import { betterAuth } from "better-auth";
import { APIError, createAuthEndpoint, createAuthMiddleware } from "better-auth/api";
import { setSessionCookie } from "better-auth/cookies";
import { genericOAuth } from "better-auth/plugins/generic-oauth";
import { twoFactor } from "better-auth/plugins/two-factor";
import { PostgresDialect } from "kysely";
import { z } from "zod";
import type { Database } from "../database/database.ts";
import { ADDRESS_HEADER, AUTH_PATH, INNER_ORIGIN, SSO_PATH } from "./auth-names.ts";
import { takeLocalLink } from "./local-link.ts";
import { type Letter, letters } from "./mail.ts";
import { isInvited, isProviders } from "./members.ts";
import { hashPassword, isPassword } from "./password.ts";
import type { SingleSignOn } from "./sso.ts";
import { claimsOf, discoveryUrlOf } from "./sso-claims.ts";

export interface AuthOptions {
  readonly database: Database;
  readonly secret: string;
  readonly signup: "open" | "approve" | "closed";
  /** Whether an address must be verified by a link sent to it. */
  readonly wantsVerification: boolean;
  readonly sso?: SingleSignOn | undefined;
  readonly send: ((letter: Letter) => Promise<void>) | undefined;
  /** The address of the console, for links in mail. */
  readonly publicUrl: () => string;
  readonly clock: () => Date;
  /** Called after a change that may entitle a person to an account. */
  readonly onChange: (userId: string) => Promise<void>;
  readonly onMailError: (error: unknown) => void;
}

/** Sign-up, sign-in, sessions, two-factor authentication and password reset by better-auth, with our tables and hashes. */
export function createAuth(options: AuthOptions) {
  const { database, clock, sso } = options;
  const post = (to: string, letter: Omit<Letter, "to">) => {
    // Not awaited: response times must not reveal which addresses are known.
    void options.send?.({ to, ...letter }).catch(options.onMailError);
  };
  return betterAuth({
    appName: "dataq",
    baseURL: INNER_ORIGIN,
    basePath: AUTH_PATH,
    trustedOrigins: [INNER_ORIGIN],
    // Not the secret of the keys itself: a leak of one must not affect the other.
    secret: createHmac("sha256", options.secret).update("console sessions").digest("base64url"),
    database: {
      dialect: new PostgresDialect({ pool: database.pool }),
      type: "postgres",
      schemaName: "people",
      transaction: true,
    },
    telemetry: { enabled: false },
    emailAndPassword: {
      enabled: true,
      minPasswordLength: 10,
      maxPasswordLength: 128,
      // The answer to a sign-up is the same whether or not the address is known. The console then signs in.
      autoSignIn: false,
      requireEmailVerification: options.wantsVerification && options.send !== undefined,
      revokeSessionsOnPasswordReset: true,
      resetPasswordTokenExpiresIn: 3600,
      password: { hash: hashPassword, verify: ({ hash, password }) => isPassword(password, hash) },
      sendResetPassword: async ({ user, token }) =>
        post(user.email, letters.reset(`${options.publicUrl()}/console/reset#token=${token}`)),
    },
    emailVerification: {
      sendOnSignUp: options.wantsVerification,
      sendOnSignIn: options.wantsVerification,
      autoSignInAfterVerification: true,
      expiresIn: 86_400,
      sendVerificationEmail: async ({ user, token }) =>
        post(user.email, letters.verify(`${options.publicUrl()}/console/verify#token=${token}`)),
      afterEmailVerification: (user) => options.onChange(user.id),
    },
    user: {
      additionalFields: {
        accountId: { type: "string", required: false, input: false },
        isApproved: { type: "boolean", required: true, defaultValue: false, input: false },
        isLocal: { type: "boolean", required: true, defaultValue: false, input: false },
      },
      validateUserInfo: async ({ user, source: { action, method, oauth } }) => {
        if (method !== "oauth") return undefined;
        const claimed = {
          action,
          personId: user.id,
          providerId: oauth?.providerId,
          claims: { ...oauth?.profile },
        };
        const error = sso ? await sso.refusalOf(claimed) : "failed";
        return error && { error };
      },
    },
    account: {
      // Only who the person is counts. The provider's tokens are not stored.
      updateAccountOnSignIn: false,
    },
    session: {
      expiresIn: 30 * 86_400,
      updateAge: 86_400,
      freshAge: 0,
      additionalFields: {
        ssoUntil: { type: "date", required: false, input: false },
        ssoSid: { type: "string", required: false, input: false },
      },
    },
    hooks: {
      // Not in `databaseHooks`: if a hook there throws, better-auth answers as if the sign-up had succeeded.
      before: createAuthMiddleware(async ({ path, body }) => {
        if (path !== "/sign-up/email" || options.signup !== "closed") return;
        const email = z.email().safeParse((body as { email?: unknown } | undefined)?.email);
        if (email.success && !(await isInvited(database, email.data, clock())))
          throw new APIError("FORBIDDEN", { code: "SIGNUP_CLOSED", message: "Sign-up is closed." });
      }),
    },
    databaseHooks: {
      user: {
        create: {
          before: async (user) => ({
            data: { ...user, name: user.name.trim().slice(0, 80) || user.email },
          }),
          // What somebody becomes who comes from the provider is settled when they are in.
          after: async (user) => {
            if (!sso?.isArriving) await options.onChange(user.id);
          },
        },
      },
      account: {
        create: {
          before: async (account) => ({
            data: { ...account, accessToken: null, refreshToken: null, idToken: null },
          }),
        },
      },
      session: {
        create: {
          before: async (session) => {
            if (sso?.isArriving)
              return { data: { ...session, ssoUntil: sso.sessionEnd(), ssoSid: sso.arrivingSid } };
            if (await isProviders(database, session.userId))
              throw new APIError("FORBIDDEN", {
                code: "SSO_REQUIRED",
                message: "Your role comes from single sign-on. Sign in with it.",
              });
            return undefined;
          },
        },
      },
    },
    rateLimit: {
      enabled: true,
      storage: "database",
      window: 60,
      max: 120,
      customRules: {
        "/sign-in/email": { window: 60, max: 10 },
        "/sign-up/email": { window: 300, max: 10 },
        "/request-password-reset": { window: 300, max: 5 },
        "/send-verification-email": { window: 300, max: 5 },
        "/reset-password": { window: 60, max: 10 },
        "/local-link/enter": { window: 60, max: 10 },
        "/sign-in/social": { window: 60, max: 30 },
        "/two-factor/*": { window: 60, max: 10 },
        "/change-password": { window: 60, max: 10 },
      },
    },
    advanced: {
      cookiePrefix: "dataq",
      // `sendAnswer` adds "Secure" to requests over https; a service on loopback has none.
      useSecureCookies: false,
      defaultCookieAttributes: { httpOnly: true, sameSite: "strict", path: "/" },
      // The return from the provider is a request from another site, which brings no strict cookie.
      cookies: { state: { attributes: { sameSite: "lax", path: SSO_PATH } } },
      ipAddress: { ipAddressHeaders: [ADDRESS_HEADER] },
    },
    // The console does not use these, so they are not exposed.
    disabledPaths: [
      "/change-email",
      "/delete-user",
      "/update-session",
      "/set-password",
      "/link-social",
      ...(sso ? [] : ["/sign-in/social"]),
      "/unlink-account",
      "/list-accounts",
      "/refresh-token",
      "/get-access-token",
      "/account-info",
      "/two-factor/send-otp",
      "/two-factor/verify-otp",
    ],
    plugins: [
      twoFactor({ issuer: "dataq" }),
      localLink(database, clock),
      ...(sso ? [genericOAuth({ config: [providerOf(sso)] })] : []),
    ],
    // It says what a provider answered, which its own answer to us does not.
    logger: { level: "warn", log: (_level, _message, ...details) => sso?.hear(details) },
  });
}

export type Auth = ReturnType<typeof createAuth>;

/** The provider for better-auth, which checks state, nonce, PKCE, signature and audience. */
function providerOf(sso: SingleSignOn) {
  const { settings, providerId, returnUrl } = sso;
  return {
    providerId,
    discoveryUrl: discoveryUrlOf(settings),
    requireIdTokenVerification: true,
    clientId: settings.client_id,
    clientSecret: settings.client_secret,
    authentication: settings.client_authentication,
    scopes: settings.scopes,
    redirectURI: returnUrl,
    // A provider that fails here is one that does not let the person in.
    getUserInfo: async (tokens: { idToken?: string | undefined; accessToken?: string | undefined }) => {
      const claims = await claimsOf(tokens, settings);
      if (typeof claims !== "string") return claims;
      sso.noteCause(claims);
      return null;
    },
  };
}

/**
 * `POST …/local-link/enter {token}`: signs in the owner of the machine with the link that the service prints at
 * startup.
 */
function localLink(database: Database, clock: () => Date) {
  return {
    id: "local-link",
    endpoints: {
      enterByLocalLink: createAuthEndpoint(
        "/local-link/enter",
        { method: "POST", body: z.object({ token: z.string().min(1).max(200) }) },
        async (context) => {
          const accountId = await takeLocalLink(database, context.body.token, clock());
          if (!accountId)
            throw new APIError("UNAUTHORIZED", {
              code: "LINK_USED",
              message: "This link has been used or has expired.",
            });
          const userId = await openLocalUser(database, accountId);
          const { internalAdapter } = context.context;
          const session = await internalAdapter.createSession(userId);
          const user = await internalAdapter.findUserById(userId);
          if (!session || !user) throw new APIError("INTERNAL_SERVER_ERROR");
          await setSessionCookie(context, { session, user });
          return context.json({ status: true });
        },
      ),
    },
  };
}

/** Returns the user of the owner of the machine, whose email address cannot receive mail. */
async function openLocalUser(database: Database, accountId: string): Promise<string> {
  const made = await database.pool.query<{ id: string }>(
    `with local as (
       insert into people."user" ("id", "name", "email", "emailVerified", "accountId", "isApproved", "isLocal")
       values ($1, 'local', $2, true, $3, true, true)
       on conflict ("email") do update set "accountId" = excluded."accountId" returning "id"
     ), joined as (
       insert into people.member (user_id, account_id, role, created_at) select "id", $3, 'owner', now() from local
       on conflict do nothing
     ) select "id" from local`,
    [`local_${accountId}`, `${accountId}@local.invalid`, accountId],
  );
  return made.rows[0]!.id;
}
