import { readFileSync } from "node:fs";
import type pg from "pg";
import { NamingClient, named } from "./connection-loss.ts";

/** Where connections go: one server, or several of which one accepts writes. */
export interface Servers {
  readonly count: number;
  /** For pg.Pool, and for single connections. Each new client goes to the server that answered last. */
  readonly Client: typeof pg.Client;
}

export interface ServerOptions {
  /** The variable that holds the address, for messages. */
  readonly variable: string;
  /** Behind a PgBouncer in transaction mode, which keeps no prepared statements of a client. */
  readonly isPooled?: boolean;
  /** A replica may answer, too. */
  readonly isReadOnly?: boolean;
}

/** A host that does not answer must not delay the attempt at the next one. */
const NEXT_HOST_AFTER_MS = 3_000;

/** One address for each host of `postgresql://user:password@host:port,host:port/name`. */
export function addressesOf(url: string): string[] {
  const [, head = "", hosts = "", tail = ""] = /^([a-z]+:\/\/(?:[^@/?#]*@)?)([^/?#]*)(.*)$/is.exec(url) ?? [];
  return hosts.split(",").map((host) => head + host + tail);
}

/** Tries the servers behind a URL in turn, and remembers which of them accepts writes. */
export function serversAt(url: string, options: ServerOptions): Servers {
  const addresses = addressesOf(url).map((address) => configOf(address, options.variable));
  return serversOf(addresses, options);
}

export function serversOf(configs: readonly pg.ClientConfig[], options: ServerOptions): Servers {
  let next = 0;
  class ServerClient extends NamingClient {
    readonly #place: number;
    #isStandby = false;

    constructor(config?: string | pg.ClientConfig) {
      const place = next;
      super({
        ...(config as pg.ClientConfig),
        ...configs[place],
        ...(configs.length > 1 && { connectionTimeoutMillis: NEXT_HOST_AFTER_MS }),
      });
      this.#place = place;
      // PostgreSQL reports this with its greeting, so the check costs nothing.
      (this as unknown as { connection: pg.Connection }).connection.on(
        "parameterStatus",
        ({ parameterName, parameterValue }: { parameterName: string; parameterValue: string }) => {
          if (parameterName === "in_hot_standby") this.#isStandby = parameterValue === "on";
        },
      );
    }

    // biome-ignore lint/suspicious/noExplicitAny: pg's overloads, passed on as they are
    override connect(callback?: (...results: any[]) => void): any {
      if (callback === undefined) return this.#open();
      this.#open().then(
        () => callback(null, this),
        (error: Error) => callback(error),
      );
    }

    // biome-ignore lint/suspicious/noExplicitAny: the same
    override query(...args: any[]): any {
      if (options.isPooled && typeof args[0] === "object" && args[0]?.name !== undefined)
        args[0] = { ...args[0], name: undefined };
      return super.query(...args);
    }

    async #open(): Promise<void> {
      try {
        await super.connect();
      } catch (error) {
        this.#passOn();
        throw named(explained(error as Error, options.variable), "ETIMEDOUT");
      }
      if (!this.#isStandby || options.isReadOnly) return;
      this.#passOn();
      await this.end();
      throw Object.assign(
        new Error(
          `No server of ${options.variable} accepts writes. Promote one, or add the new primary to it.`,
        ),
        { code: CANNOT_CONNECT_NOW },
      );
    }

    #passOn(): void {
      if (next === this.#place) next = (next + 1) % configs.length;
    }
  }
  return { count: configs.length, Client: ServerClient };
}

const CANNOT_CONNECT_NOW = "57P03";

function configOf(address: string, variable: string): pg.ClientConfig {
  const rootCertificate = new URL(address).searchParams.get("sslrootcert");
  if (rootCertificate) {
    try {
      readFileSync(rootCertificate);
    } catch (error) {
      throw new Error(
        `${variable} has sslrootcert=${rootCertificate}, which cannot be read (${(error as NodeJS.ErrnoException).code}). Set it to the file with the certificate of the CA.`,
      );
    }
  }
  return { connectionString: address };
}

const unknownAuthority = [
  "SELF_SIGNED_CERT_IN_CHAIN",
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
  "UNABLE_TO_GET_ISSUER_CERT",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
];

/** Names the fix of an error in TLS. Other errors stay as they are. */
function explained(error: Error, variable: string): Error {
  const { code, message } = error as NodeJS.ErrnoException;
  const fix =
    code !== undefined && unknownAuthority.includes(code)
      ? `the server's certificate is not from a known CA. Add sslrootcert=<file with the CA's certificate> to ${variable}`
      : code === "ERR_TLS_CERT_ALTNAME_INVALID"
        ? `the server's certificate is for another host. Use the host name of the certificate in ${variable}, or give the server a certificate for its name`
        : code === "CERT_HAS_EXPIRED"
          ? "the server's certificate has expired. Renew it on the server"
          : message.includes("does not support SSL")
            ? `the server does not offer TLS. Set ssl = on in its postgresql.conf, or remove sslmode from ${variable}`
            : undefined;
  if (fix === undefined) return error;
  return Object.assign(new Error(`${variable}: ${fix}. (${message})`, { cause: error }), {
    code: TLS_FAILED,
  });
}

/** A wrong certificate stays wrong, so it does not count as a server that is away for a moment. */
const TLS_FAILED = "ERR_DATABASE_TLS";
