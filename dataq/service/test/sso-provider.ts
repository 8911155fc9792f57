import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from "jose";
import Provider from "oidc-provider";

/** What the provider says of a person. */
export interface ProvidersPerson {
  readonly email: string;
  readonly email_verified?: boolean | string;
  readonly name?: string;
  readonly groups?: unknown;
}

/** A provider of OpenID Connect: the library that others run in production, with people of the test. */
export interface SsoProvider {
  readonly issuer: string;
  /** The same server under another name: its own description does not name this one. */
  readonly otherAddress: string;
  /** By identifier. Whoever is `present` signs in without being asked. */
  readonly people: Map<string, ProvidersPerson>;
  present: string;
  /** Changes ID tokens on their way, signed by the provider's own key or by `key`. */
  forge: ((claims: JWTPayload) => JWTPayload) | undefined;
  isForgedWithOtherKey: boolean;
  /** A logout token as it should be, unless `claims` or `header` say otherwise. Undefined removes a claim. */
  logoutToken(claims: object, header?: object, key?: "own" | "foreign" | "secret"): Promise<string>;
  /** Lets a service in whose address is known only now. */
  admit(serviceUrl: string): void;
  [Symbol.asyncDispose](): Promise<void>;
}

export const LOGOUT_EVENT = "http://schemas.openid.net/event/backchannel-logout";
export const CLIENT = { client_id: "dataq", client_secret: "a secret of the client, long enough" } as const;

export async function startSsoProvider(): Promise<SsoProvider> {
  const own = await generateKeyPair("RS256", { extractable: true });
  const foreign = await generateKeyPair("RS256");
  const jwk = { ...(await exportJWK(own.privateKey)), kid: "one", use: "sig", alg: "RS256" };
  let answer: ReturnType<Provider["callback"]> | undefined;
  const server = createServer((request, response) => void answer?.(request, response));
  await new Promise<void>((resolve) => server.listen(0, "localhost", resolve));
  const { port } = server.address() as AddressInfo;
  const issuer = `http://localhost:${port}`;
  const people = new Map<string, ProvidersPerson>();
  const standIn: SsoProvider = {
    issuer,
    otherAddress: `http://localhost:${port}/`,
    people,
    present: "",
    forge: undefined,
    isForgedWithOtherKey: false,
    admit(serviceUrl) {
      const provider = new Provider(issuer, {
        clients: [
          {
            ...CLIENT,
            redirect_uris: [`${serviceUrl}/console/sso/return`],
            backchannel_logout_uri: `${serviceUrl}/console/sso/logout`,
            backchannel_logout_session_required: true,
          },
        ],
        jwks: { keys: [jwk as never] },
        cookies: { keys: ["cookies of the test"] },
        pkce: { required: () => true },
        scopes: ["openid", "profile", "email", "groups"],
        claims: {
          openid: ["sub"],
          profile: ["name"],
          email: ["email", "email_verified"],
          groups: ["groups"],
        },
        // The library refuses addresses of this machine; its guard travels with the options.
        fetch: (url, options = {}) => fetch(url, { ...options, dispatcher: undefined } as RequestInit),
        features: {
          devInteractions: { enabled: false },
          backchannelLogout: { enabled: true },
          rpInitiatedLogout: {
            logoutSource: (context, form) => {
              context.body = form;
            },
          },
        },
        interactions: { url: (_context, { uid }) => `/interaction/${uid}` },
        findAccount: (_context, id) => {
          const person = people.get(id);
          return person && { accountId: id, claims: () => ({ sub: id, ...person }) };
        },
        async loadExistingGrant(context) {
          const { client, session } = context.oidc;
          const grant = new context.oidc.provider.Grant({
            clientId: client!.clientId,
            accountId: session!.accountId!,
          });
          grant.addOIDCScope("openid profile email groups");
          await grant.save();
          return grant;
        },
      });
      provider.use(async (context, next) => {
        if (context.path.startsWith("/interaction/")) {
          const { present } = standIn;
          await provider.interactionFinished(
            context.req,
            context.res,
            people.has(present)
              ? { login: { accountId: present, remember: false } }
              : { error: "access_denied", error_description: "left" },
          );
          context.respond = false;
          return;
        }
        await next();
        const body = context.body as { id_token?: string } | undefined;
        if (context.path !== "/token" || body?.id_token === undefined || !standIn.forge) return;
        const claims = JSON.parse(Buffer.from(body.id_token.split(".")[1]!, "base64url").toString());
        const { privateKey } = standIn.isForgedWithOtherKey ? foreign : own;
        body.id_token = await new SignJWT(standIn.forge(claims))
          .setProtectedHeader({ alg: "RS256", kid: "one" })
          .sign(privateKey);
      });
      answer = provider.callback();
    },
    logoutToken(claims, header = {}, key = "own") {
      const now = Math.floor(Date.now() / 1000);
      const all = {
        iss: issuer,
        aud: CLIENT.client_id,
        iat: now,
        exp: now + 120,
        jti: randomUUID(),
        events: { [LOGOUT_EVENT]: {} },
        ...claims,
      };
      const secret = new TextEncoder().encode(CLIENT.client_secret);
      const { privateKey } = key === "foreign" ? foreign : own;
      return new SignJWT(JSON.parse(JSON.stringify(all)))
        .setProtectedHeader({
          alg: key === "secret" ? "HS256" : "RS256",
          kid: "one",
          typ: "logout+jwt",
          ...header,
        })
        .sign(key === "secret" ? secret : privateKey);
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return standIn;
}

/** A browser without pages: it follows links and keeps cookies by site. */
export class Traveller {
  static #count = 0;
  readonly #cookies = new Map<string, string>();
  readonly #service: string;
  /** Sign-ins are limited by address, and each traveller has one of their own. */
  readonly #address = `203.0.113.${++Traveller.#count}`;
  constructor(service: string) {
    this.#service = service;
  }

  async ask(url: string, init: RequestInit = {}): Promise<Response> {
    const at = new URL(url, this.#service);
    const cookie = [...this.#cookies]
      .filter(([name]) => name.startsWith(`${at.host} `))
      .map(([name, value]) => `${name.split(" ")[1]}=${value}`)
      .join("; ");
    const own = { "x-console": "1", "content-type": "application/json", "x-forwarded-for": this.#address };
    const headers = { ...own, cookie, ...init.headers };
    const answer = await fetch(at, { ...init, headers, redirect: "manual" });
    for (const line of answer.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(line)!;
      if (value === "" || /max-age=0|expires=Thu, 01 Jan 1970/i.test(line))
        this.#cookies.delete(`${at.host} ${name}`);
      else this.#cookies.set(`${at.host} ${name}`, value!);
    }
    return answer;
  }

  async post(path: string, body: unknown = {}): Promise<Response> {
    return this.ask(path, { method: "POST", body: JSON.stringify(body) });
  }

  /** Goes to the provider and comes to the link that leads back, without opening it. */
  async goOut(next = "/"): Promise<string> {
    const { url } = (await (await this.post("/console/api/sso", { next })).json()) as { url: string };
    let at = url;
    for (let hop = 0; hop < 8 && !at.startsWith(`${this.#service}/console/sso/return`); hop++) {
      const place = (await this.ask(at)).headers.get("location");
      if (place === null) throw new Error(`${at} leads nowhere`);
      at = new URL(place, at).href;
    }
    return at;
  }

  /** The page of the console that a way to the provider and back ends at. */
  async signIn(next = "/"): Promise<string | null> {
    return (await this.ask(await this.goOut(next))).headers.get("location");
  }

  /** Signs out at the provider, which tells its clients before it answers. */
  async leave(issuer: string): Promise<void> {
    const page = await (await this.ask(`${issuer}/session/end`)).text();
    const xsrf = /name="xsrf" value="([^"]+)"/.exec(page)![1]!;
    await this.ask(`${issuer}/session/end/confirm`, {
      method: "POST",
      headers: { "content-type": "application/x-www-form-urlencoded" },
      body: new URLSearchParams({ xsrf, logout: "yes" }),
    });
  }

  async me(): Promise<{ member_role: string | null; account_id: string | null; scopes: string[] } | null> {
    return ((await (await this.ask("/console/api/session")).json()) as { user: never }).user;
  }
}
