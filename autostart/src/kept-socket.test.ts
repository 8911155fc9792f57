import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, mkdtempSync, rmSync } from "node:fs";
import { Agent, get, type IncomingMessage } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import koffi from "koffi";
import { afterAll, expect, it } from "vitest";
// Tests of the engine share this worker, and koffi takes no settings once a library is open.
import "../../locallm/src/engine/call-stack.ts";
import { freePort } from "../../testing/free-port.ts";

/** A service that keeps its socket, answers with its number, and streams slowly. It says where it listens. */
const service = `
import { createServer } from "node:http";
import { KeptSocket } from ${JSON.stringify(new URL("kept-socket.ts", import.meta.url).href)};
const [number, address] = process.argv.slice(1);
const socket = await KeptSocket.take(process.env, address);
const server = createServer(async (request, response) => {
  for (let piece = 0; request.url === "/stream" && piece < 10; piece++) {
    response.write("piece ");
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  response.end(number);
});
const [host, port] = address.split(":");
server.listen({ host, port, ...(socket.descriptor !== undefined && { fd: socket.descriptor }) }, () => {
  socket.keep(server);
  console.log(JSON.stringify({ ...server.address(), isPassed: socket.descriptor !== undefined, left: process.env.LISTEN_FDS }));
});
process.once("SIGTERM", () => {
  socket.stopping(5000.4);
  return socket.leave(server, 5000).then(() => process.exit());
});
`;
const folder = mkdtempSync(join(tmpdir(), "kept-socket-"));
const started: ChildProcess[] = [];
afterAll(() => {
  for (const child of started) child.kill("SIGKILL");
  rmSync(folder, { recursive: true });
});

it.skipIf(process.platform !== "linux")("callers wait while a service starts anew", async () => {
  const manager = new Manager(join(folder, "notify"));
  const address = `127.0.0.1:${await freePort()}`;
  const first = await start("first", address, manager);
  expect(first.said).toMatchObject({ isPassed: false });
  const kept = manager.receive();
  expect(kept.lines).toBe(`FDSTORE=1\nFDNAME=${encodeURIComponent(address)}`);

  // A stream goes on, a connection asks without a pause, and somebody calls while nobody listens.
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const stream = await answer(address, "/stream");
  const seen: string[] = [];
  let isAsking = true;
  const asking = (async () => {
    while (isAsking) seen.push(await text(await answer(address, "/", agent)));
  })();
  await until(() => seen.length > 3);
  first.child.kill("SIGTERM");
  expect(await text(stream)).toBe(`${"piece ".repeat(10)}first`);
  expect(manager.receive().lines).toBe("STOPPING=1\nEXTEND_TIMEOUT_USEC=5000400");
  await once(first.child, "exit");
  const waiting = answer(address, "/");
  const second = await start("second", address, manager, kept);
  expect(second.said).toMatchObject({ isPassed: true });
  expect(second.said).not.toHaveProperty("left");
  expect(await text(await waiting)).toBe("second");
  await until(() => seen.includes("second"));
  isAsking = false;
  await asking;
  expect(new Set(seen)).toEqual(new Set(["first", "second"]));
  agent.destroy();

  // Another address, on the same port: the manager still holds the old socket, and it must not be in the way.
  second.child.kill("SIGKILL");
  await once(second.child, "exit");
  const elsewhere = `0.0.0.0:${address.split(":")[1]}`;
  const third = await start("third", elsewhere, manager, kept);
  expect(third.said).toMatchObject({ isPassed: false, address: "0.0.0.0" });
  expect(manager.receive().lines).toBe(`FDSTOREREMOVE=1\nFDNAME=${kept.name}`);
  expect(manager.receive().name).toBe(encodeURIComponent(elsewhere));
  expect(await text(await answer(address, "/"))).toBe("third");
  manager.close();
});

async function start(name: string, address: string, manager: Manager, kept?: Kept) {
  // Like systemd, which passes the number of the process to itself.
  const passed = kept === undefined ? "" : `LISTEN_PID=$$ LISTEN_FDS=1 LISTEN_FDNAMES=${kept.name} `;
  const child = spawn(
    "sh",
    [
      "-c",
      `${passed}exec "$0" --input-type=module -e "$1" "$2" "$3"`,
      process.execPath,
      service,
      name,
      address,
    ],
    {
      env: { NOTIFY_SOCKET: manager.path },
      stdio: ["ignore", "pipe", "inherit", ...(kept === undefined ? [] : [kept.descriptor])],
    },
  );
  started.push(child);
  const [line] = await once(child.stdout!, "data");
  return { child, said: JSON.parse(String(line)) as object };
}

async function answer(address: string, path: string, agent?: Agent): Promise<IncomingMessage> {
  const request = get(`http://${address}${path}`, agent ? { agent } : { agent: false });
  const [response] = await once(request, "response");
  return response as IncomingMessage;
}

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 10));
}

interface Kept {
  readonly lines: string;
  readonly name: string;
  readonly descriptor: number;
}

/** What systemd is for a service: it receives messages, and descriptors with them. */
class Manager {
  readonly path: string;
  readonly #socket: number;
  readonly #received: number[] = [];
  readonly #recvmsg;

  constructor(path: string) {
    this.path = path;
    const library = koffi.load(null);
    const part = koffi.struct({ base: "uint8_t *", length: "size_t" });
    const message = koffi.struct({
      name: "uint8_t *",
      nameLength: "uint32_t",
      parts: koffi.pointer(part),
      partsLength: "size_t",
      control: "uint8_t *",
      controlLength: "size_t",
      flags: "int",
    });
    this.#recvmsg = library.func("recvmsg", "intptr_t", ["int", koffi.pointer(message), "int"]);
    this.#socket = library.func("socket", "int", ["int", "int", "int"])(1, 2, 0);
    const address = Buffer.concat([Buffer.from([1, 0]), Buffer.from(`${path}\0`)]);
    expect(
      library.func("bind", "int", ["int", "uint8_t *", "uint32_t"])(this.#socket, address, address.length),
    ).toBe(0);
  }

  /** The next message, which must have come. */
  receive(): Kept {
    const [bytes, control] = [Buffer.alloc(512), Buffer.alloc(64)];
    const message = {
      name: null,
      nameLength: 0,
      parts: [{ base: bytes, length: bytes.length }],
      partsLength: 1,
      control,
      controlLength: control.length,
      flags: 0,
    };
    // MSG_DONTWAIT; MSG_CMSG_CLOEXEC, so that no other program that this worker starts gets the socket.
    const length = Number(this.#recvmsg(this.#socket, message, 0x40 | 0x40000000));
    expect(length).toBeGreaterThan(0);
    const lines = bytes.toString("utf8", 0, length);
    const descriptor = control.readInt32LE(16);
    if (/^FDSTORE=/m.test(lines)) this.#received.push(descriptor);
    return { lines, name: /FDNAME=(.*)/.exec(lines)?.[1] ?? "", descriptor };
  }

  close(): void {
    for (const descriptor of [this.#socket, ...this.#received]) closeSync(descriptor);
  }
}
