import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import type { Database } from "../src/database/database.ts";

/**
 * What becomes of a piece that one side sends: it arrives; nothing of it arrives, or half of it, and the connection
 * breaks; it arrives later; it also arrives on a second connection, whose answer nobody reads; or, of a statement, it
 * is answered as by a PostgreSQL whose disk is full.
 */
export type Fate = "arrives" | "lost" | "cut" | "late" | "twice" | "refused";

type Side = "question" | "answer";

/** The socket of a server: a path, or a host and a port. */
type Target = { readonly path: string } | { readonly host: string; readonly port: number };

/** Forwards connections to a server. What happens to them on the way is decided piece by piece. */
export class FaultyLine {
  /** Is asked for each piece. */
  decide: (side: Side, piece: Buffer) => Fate = () => "arrives";
  /** New connections break at once. */
  isDown = false;
  lateMs = 50;
  readonly #target: Target;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  private constructor(target: Target) {
    this.#target = target;
    this.#server = createServer((client) => this.#join(client));
  }

  static async open(target: Target): Promise<FaultyLine> {
    const line = new FaultyLine(target);
    line.#server.listen(0, "127.0.0.1");
    await once(line.#server, "listening");
    return line;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Breaks every connection. */
  break(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  async close(): Promise<void> {
    this.break();
    this.#server.close();
    await once(this.#server, "close");
  }

  #join(client: Socket): void {
    if (this.isDown) return void client.destroy();
    const server = this.#connect();
    const end = () => {
      client.destroy();
      server.destroy();
    };
    this.#sockets.add(client);
    client.once("close", () => this.#sockets.delete(client));
    for (const socket of [client, server]) socket.on("error", end).on("close", end);
    client.on("data", (piece) => this.#forward("question", piece, client, server));
    server.on("data", (piece) => this.#forward("answer", piece, server, client));
  }

  #connect(): Socket {
    const socket = "path" in this.#target ? connect(this.#target.path) : connect(this.#target);
    this.#sockets.add(socket);
    socket.once("close", () => this.#sockets.delete(socket));
    return socket;
  }

  #forward(side: Side, piece: Buffer, from: Socket, to: Socket): void {
    switch (this.decide(side, piece)) {
      case "lost":
        return void from.destroy();
      case "cut":
        return void to.write(piece.subarray(0, piece.length / 2), () => from.destroy());
      case "late":
        // What follows must not overtake it.
        from.pause();
        setTimeout(() => {
          to.write(piece);
          from.resume();
        }, this.lateMs);
        return;
      case "twice":
        this.#connect()
          .on("error", () => {})
          .resume()
          .write(piece);
        return void to.write(piece);
      case "refused":
        return void from.write(diskFull);
      case "arrives":
        return void to.write(piece);
    }
  }
}

/** The server's messages ErrorResponse and ReadyForQuery: https://www.postgresql.org/docs/current/protocol-message-formats.html */
const diskFull = Buffer.concat([
  message("E", "SERROR\0VERROR\0C53100\0Mcould not extend file: No space left on device\0\0"),
  message("Z", "I"),
]);

function message(kind: string, content: string): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(4 + content.length);
  return Buffer.concat([Buffer.from(kind), length, Buffer.from(content)]);
}

/** A line to a database's server, and the address of the database behind it for the owner of its tables. */
export async function databaseLine(
  opened: Pick<Database, "connectAsOwner">,
): Promise<{ line: FaultyLine; url: string }> {
  const client = await opened.connectAsOwner();
  // The host is an address, or the folder of a socket.
  const { host, port, user, password, database } = client;
  await client.end();
  const line = await FaultyLine.open(
    host.startsWith("/") ? { path: `${host}/.s.PGSQL.${port}` } : { host, port },
  );
  const address = `127.0.0.1:${line.port}`;
  return { line, url: `postgresql://${user}:${encodeURIComponent(password ?? "")}@${address}/${database}` };
}
