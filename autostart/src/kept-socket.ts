import { closeSync } from "node:fs";
import type { Server as HttpServer, IncomingMessage, ServerResponse } from "node:http";
import { Server } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { Environment } from "./notify-socket.ts";

/** systemd passes descriptors from this number on. */
const firstDescriptor = 3;

/** Two sockets, and a port that is another one each time. */
const cannotBeKept = /^localhost:|:0$/;

/** How long somebody may take to send a request on a connection that seemed unused. */
const pauseMs = 300;

/**
 * The socket on which a service listens, kept by systemd while the service starts anew: callers wait for the next
 * process and are not refused. It has the name of the address for which it was opened, so that a changed setting opens
 * another. Without systemd, nothing is kept.
 */
export class KeptSocket {
  /** The socket of the process before, listening; undefined if there is none for this address. */
  readonly descriptor: number | undefined;
  readonly #name: string;
  readonly #manager: Manager | undefined;
  readonly #canBeKept: boolean;
  #isKept: boolean;

  private constructor(
    name: string,
    manager: Manager | undefined,
    canBeKept: boolean,
    descriptor: number | undefined,
  ) {
    this.#name = name;
    this.#manager = manager;
    this.#canBeKept = canBeKept;
    this.descriptor = descriptor;
    this.#isKept = descriptor !== undefined;
  }

  /**
   * Takes what systemd passed for `address`, as the settings write it, and closes what was for another address. Call it
   * once, before listening; what it reads of the environment is removed, because it is for this process alone.
   */
  static async take(environment: Environment, address: string): Promise<KeptSocket> {
    const { NOTIFY_SOCKET: path, LISTEN_PID, LISTEN_FDS, LISTEN_FDNAMES = "" } = environment;
    for (const name of ["NOTIFY_SOCKET", "LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"])
      delete environment[name];
    const manager = path === undefined ? undefined : await managerAt(path);
    const name = encodeURIComponent(address);
    const count = Number(LISTEN_PID) === process.pid ? Number(LISTEN_FDS) : 0;
    const names = LISTEN_FDNAMES.split(":");
    let found: number | undefined;
    for (let index = 0; index < count; index++) {
      const descriptor = firstDescriptor + index;
      if (found === undefined && names[index] === name) {
        found = descriptor;
        continue;
      }
      // Others may still wait at the old address, and a new one may overlap with it.
      manager?.stopListening(descriptor);
      closeSync(descriptor);
      if (names[index] !== name) manager?.tell(`FDSTOREREMOVE=1\nFDNAME=${names[index]}`);
    }
    return new KeptSocket(name, manager, !cannotBeKept.test(address), found);
  }

  /** Gives systemd the socket on which `server` listens. */
  keep(server: Server): void {
    if (this.#isKept || !this.#canBeKept || this.#manager === undefined) return;
    const { fd } = (server as Server & { readonly _handle: { readonly fd: number } })._handle;
    this.#isKept = this.#manager.tell(`FDSTORE=1\nFDNAME=${this.#name}`, fd);
  }

  /** Whether callers wait for the next process. */
  get isKept(): boolean {
    return this.#isKept;
  }

  /** Tells systemd that the service stops, and to wait `limitMs` from now before it kills it, whatever its unit says. */
  stopping(limitMs: number): void {
    this.#manager?.tell(`STOPPING=1\nEXTEND_TIMEOUT_USEC=${Math.round(limitMs * 1000)}`);
  }

  /**
   * Before the process ends: leaves new connections to the next one, and waits until those that there are have been
   * answered and closed, for `limitMs` at most. Does nothing if the socket is not kept, because then nobody waits for
   * the next process.
   */
  async leave(server: HttpServer, limitMs: number): Promise<void> {
    if (!this.#isKept) return;
    const end = Date.now() + limitMs;
    server.prependListener("request", (_request: IncomingMessage, response: ServerResponse) =>
      response.setHeader("connection", "close"),
    );
    // That of HTTP also closes connections on which somebody may just be sending a request.
    Server.prototype.close.call(server);
    do {
      await sleep(Math.min(pauseMs, Math.max(0, end - Date.now())));
      server.closeIdleConnections();
    } while (Date.now() < end && (await connections(server)) > 0);
  }
}

type Manager = import("./notify-socket.ts").NotifySocket;

async function managerAt(path: string): Promise<Manager | undefined> {
  try {
    const { NotifySocket } = await import("./notify-socket.ts");
    return new NotifySocket(path);
  } catch {
    // Where the library for calls of the system cannot be loaded, a restart refuses callers as it does elsewhere.
    return undefined;
  }
}

function connections(server: Server): Promise<number> {
  return new Promise((resolve) => server.getConnections((error, count) => resolve(error ? 0 : count)));
}
