import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import {
  appendFileSync,
  chmodSync,
  chownSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { freePort } from "../../../testing/free-port.ts";
import { findBinaries } from "../src/database/embedded/binaries.ts";
import { ROOT_FOLDER, serverEnvironment } from "../src/database/embedded/cluster.ts";
import { findOwner, type Owner } from "../src/database/embedded/owner.ts";
import { makeDataFolder } from "./data-folder.ts";

/** A PostgreSQL that belongs to nobody's service, with a port, as an operator runs one. */
export interface PostgresServer {
  readonly port: number;
  readonly password: string;
  /** Superuser. */
  url(host?: string): string;
  /** In the database `postgres`, or in the one behind `url`. */
  query<Row extends pg.QueryResultRow>(text: string, values?: unknown[], url?: string): Promise<Row[]>;
  /** SIGKILL, as when the machine dies. */
  kill(): Promise<void>;
  /** Fast shutdown. */
  stop(): Promise<void>;
  start(): Promise<void>;
}

/** Starts and ends servers; all their files are in `folder`. */
export class PostgresServers {
  readonly folder: string;
  readonly owner: Owner;
  /** The secret of the services that made the data. */
  secret = "the secret of all services";
  readonly #servers: Server[] = [];

  constructor() {
    this.folder = mkdtempSync(join(tmpdir(), "dataq-servers-"));
    this.owner = findOwner(this.folder, () => {});
    if (this.owner.ids) chownSync(this.folder, this.owner.ids.uid, this.owner.ids.gid);
  }

  /** A server with the data of a first start (outside a test run: with empty tables), ready for replicas. */
  async primary(settings: Settings = {}): Promise<PostgresServer> {
    const isTestRun = process.env["DATAQ_TEST_RUN"] !== undefined;
    const prepared = await makeDataFolder(isTestRun ? "first start" : "tables");
    const data = join(this.folder, `primary-${this.#servers.length}`);
    copyFolder(join(prepared, "postgres", "cluster"), data);
    const password = readFileSync(join(prepared, "postgres", "password"), "utf8").trim();
    if (isTestRun) this.secret = readFileSync(join(prepared, "secret"), "utf8").trim();
    rmSync(prepared, { recursive: true, force: true });
    appendFileSync(join(data, "pg_hba.conf"), "\nhost replication all 127.0.0.1/32 scram-sha-256\n");
    return this.#add(data, password, settings);
  }

  /** A streaming replica of a server, made from a copy of its files while it is stopped for a moment. */
  async replicaOf(primary: PostgresServer, settings: Settings = {}): Promise<PostgresServer> {
    await primary.stop();
    const data = join(this.folder, `replica-${this.#servers.length}`);
    copyFolder((primary as Server).data, data);
    await primary.start();
    writeFileSync(join(data, "standby.signal"), "");
    return this.#add(data, primary.password, {
      primary_conninfo: `host=127.0.0.1 port=${primary.port} user=dataq password=${primary.password} application_name=replica`,
      ...settings,
    });
  }

  /** A certificate authority of its own. */
  authority(name: string): { readonly certificate: string; readonly key: string } {
    const certificate = join(this.folder, `${name}-ca.pem`);
    const key = join(this.folder, `${name}-ca.key`);
    openssl(
      "req",
      "-x509",
      "-nodes",
      ...newKey,
      "-days",
      "2",
      "-subj",
      `/CN=${name}`,
      "-keyout",
      key,
      "-out",
      certificate,
    );
    return { certificate, key };
  }

  /** Lets a running server offer TLS, with a certificate for a host name. */
  async certify(server: PostgresServer, host: string): Promise<{ readonly authority: string }> {
    const { certificate: authority, key: signer } = this.authority("test");
    const { data } = server as Server;
    const [key, request, certificate] = ["server.key", "server.csr", "server.crt"].map((file) =>
      join(data, file),
    ) as [string, string, string];
    const names = join(data, "names.cnf");
    writeFileSync(names, `subjectAltName = DNS:${host}\n`);
    openssl("req", "-nodes", ...newKey, "-subj", `/CN=${host}`, "-keyout", key, "-out", request);
    openssl(
      "x509",
      "-req",
      "-days",
      "2",
      "-in",
      request,
      "-CA",
      authority,
      "-CAkey",
      signer,
      "-extfile",
      names,
      "-out",
      certificate,
    );
    for (const path of [key, certificate]) {
      chmodSync(path, 0o600);
      if (this.owner.ids) chownSync(path, this.owner.ids.uid, this.owner.ids.gid);
    }
    await server.query("alter system set ssl = on");
    await server.query("select pg_reload_conf()");
    while ((await server.query<{ ssl: string }>("show ssl"))[0]!.ssl !== "on") await sleep(20);
    return { authority };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const server of this.#servers) await server.kill();
    rmSync(this.folder, { recursive: true, force: true });
  }

  async #add(data: string, password: string, settings: Settings): Promise<PostgresServer> {
    const server = new Server(data, password, await freePort(), this.owner, { ...base, ...settings });
    this.#servers.push(server);
    await server.start();
    return server;
  }
}

const newKey = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"];

function openssl(...parameters: string[]): void {
  execFileSync("openssl", parameters, { stdio: "pipe" });
}

type Settings = Readonly<Record<string, string>>;

const base: Settings = {
  listen_addresses: "127.0.0.1",
  unix_socket_directories: "",
  wal_level: "replica",
  max_wal_senders: "4",
  max_connections: "100",
  shared_buffers: "32MB",
  timezone: "UTC",
  wal_keep_size: "256MB",
};

class Server implements PostgresServer {
  readonly data: string;
  readonly password: string;
  readonly port: number;
  readonly #owner: Owner;
  readonly #settings: Settings;
  #child: ChildProcess | undefined;
  #log = "";

  constructor(data: string, password: string, port: number, owner: Owner, settings: Settings) {
    this.data = data;
    this.password = password;
    this.port = port;
    this.#owner = owner;
    this.#settings = settings;
  }

  url(host = "127.0.0.1"): string {
    return `postgresql://dataq:${this.password}@${host}:${this.port}/postgres`;
  }

  query<Row extends pg.QueryResultRow>(text: string, values?: unknown[], url = this.url()): Promise<Row[]> {
    return ask<Row>(url, text, values);
  }

  async start(): Promise<void> {
    const binaries = await findBinaries(this.#owner, this.#owner.ids ? ROOT_FOLDER : this.data, () => {});
    const settings = Object.entries({ ...this.#settings, port: String(this.port) });
    const parameters = settings.flatMap(([name, value]) => ["-c", `${name}=${value}`]);
    const child = spawn(binaries.postgres, ["-D", this.data, ...parameters], {
      ...this.#owner.ids,
      cwd: "/",
      stdio: ["ignore", "ignore", "pipe"],
      env: serverEnvironment(),
    });
    this.#child = child;
    child.stderr!.setEncoding("utf8").on("data", (text: string) => {
      this.#log = (this.#log + text).slice(-8_000);
    });
    while (!(await this.query("select 1").catch(() => undefined))) {
      if (child.exitCode !== null) throw new Error(`PostgreSQL did not start:\n${this.#log}`);
      await sleep(20);
    }
  }

  kill(): Promise<void> {
    return this.#end("SIGKILL");
  }

  stop(): Promise<void> {
    return this.#end("SIGINT");
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    child.kill(signal);
    await once(child, "exit");
    // After SIGKILL its other processes notice and end; a new start waits for them.
    if (signal === "SIGKILL") rmSync(join(this.data, "postmaster.pid"), { force: true });
  }
}

/** With owners and permissions, which PostgreSQL checks. */
function copyFolder(from: string, to: string): void {
  execFileSync("cp", ["-a", "--reflink=auto", from, to]);
}

/** A PgBouncer in transaction mode before a server. */
export async function startBouncer(server: PostgresServer, servers: PostgresServers, poolSize: number) {
  const port = await freePort();
  const settings = join(servers.folder, "pgbouncer.ini");
  const users = join(servers.folder, "pgbouncer.users");
  writeFileSync(users, `"dataq" "${server.password}"\n`);
  writeFileSync(
    settings,
    [
      "[databases]",
      `postgres = host=127.0.0.1 port=${server.port} dbname=postgres`,
      "[pgbouncer]",
      "listen_addr = 127.0.0.1",
      `listen_port = ${port}`,
      "unix_socket_dir =",
      "auth_type = scram-sha-256",
      `auth_file = ${users}`,
      "admin_users = dataq",
      "pool_mode = transaction",
      `default_pool_size = ${poolSize}`,
      "max_client_conn = 200",
    ].join("\n"),
  );
  const child = spawn("/usr/sbin/pgbouncer", [settings], { ...servers.owner.ids, cwd: "/", stdio: "ignore" });
  const url = (database: string) => `postgresql://dataq:${server.password}@127.0.0.1:${port}/${database}`;
  while (!(await ask(url("postgres"), "select 1").catch(() => undefined))) {
    if (child.exitCode !== null) throw new Error(`pgbouncer ended with ${child.exitCode}`);
    await sleep(20);
  }
  return {
    url: url("postgres"),
    /** The ports from which it is connected to the server. */
    ports: async () =>
      (await ask<{ local_port: number }>(url("pgbouncer"), "show servers")).map((row) => row.local_port),
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await once(child, "exit");
    },
  };
}

/** One statement on a connection of its own. */
async function ask<Row extends pg.QueryResultRow>(
  url: string,
  text: string,
  values?: unknown[],
): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url });
  client.on("error", () => {});
  await client.connect();
  try {
    // PgBouncer's console knows simple statements only.
    return (await (values ? client.query<Row>(text, values) : client.query<Row>(text))).rows;
  } finally {
    await client.end().catch(() => {});
  }
}
