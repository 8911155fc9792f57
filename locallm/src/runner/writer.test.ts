import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Writer } from "./writer.ts";

describe("Writer", () => {
  let writer: Writer;
  const sockets: Socket[] = [];
  const server = createServer();

  beforeEach(async () => {
    writer = new Writer();
    writer.open(-1).close();
    await vi.waitUntil(() => writer.isReady, { timeout: 30_000 });
    if (!server.listening) await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  });
  afterEach(async () => {
    writer.close();
    for (const socket of sockets.splice(0)) socket.destroy();
    server.close();
  });

  /** A connection whose other end is read by nobody yet. */
  async function connection() {
    const arrived = once(server, "connection") as Promise<[Socket]>;
    const client = connect((server.address() as { port: number }).port, "127.0.0.1").pause();
    const [socket] = await arrived;
    sockets.push(client, socket);
    return { client, fd: (socket as unknown as { _handle: { fd: number } })._handle.fd };
  }

  /** What the client gets, until nothing more comes. */
  async function read(client: Socket, bytes: number): Promise<Buffer> {
    const chunks: Buffer[] = [];
    client.on("data", (chunk: Buffer) => void chunks.push(chunk)).resume();
    const count = () => chunks.reduce((sum, { length }) => sum + length, 0);
    await vi.waitUntil(() => count() >= bytes, { timeout: 30_000 });
    await sleep(20);
    return Buffer.concat(chunks);
  }

  it("writes the lines of more connections than it has places for, each whole and in order", async () => {
    const all = [];
    for (let index = 0; index < 260; index++) all.push(await connection());
    const lines = all.map(({ fd }) => writer.open(fd));
    const sent = all.map(() => "");
    for (let step = 0; step < 40; step++) {
      for (const [index, line] of lines.entries())
        for (let part = 0; part <= (index + step) % 3; part++) {
          // Some fit a place only alone, and some not at all.
          const length = [1, 90, 4095, 4096, 4097, 9000][(index * 7 + step + part) % 61] ?? 200;
          const text = `${index}.${step}.${part};`.padEnd(length, "x");
          sent[index] += text;
          expect(line.add(Buffer.from(text))).toBe(true);
        }
      writer.flush();
    }
    for (const line of lines) expect(line.close()).toBeNull();
    const got = await Promise.all(all.map(({ client }, index) => read(client, sent[index]!.length)));
    expect(got.map(String)).toEqual(sent);
  });

  it("loses nothing and writes nothing twice if the client reads nothing until the system takes no more", async () => {
    const { client, fd } = await connection();
    const lines = writer.open(fd);
    const sent: Buffer[] = [];
    for (let number = 0; number < 100_000; number++) {
      const line = Buffer.from(`${number};`.padEnd(1 + ((number * 977) % 3000), "x"));
      if (!lines.add(line)) break;
      sent.push(line);
      if (number % 3 === 0) writer.flush();
    }
    expect(sent.length).toBeLessThan(100_000);
    expect(lines.add(Buffer.from("more"))).toBe(false);
    const rest = lines.close()!;
    const all = Buffer.concat(sent);
    expect(rest.length).toBeGreaterThan(0);
    const got = await read(client, all.length - rest.length);
    expect(Buffer.concat([got, rest]).equals(all)).toBe(true);
  });

  it("gives back all that was for a connection that is closed, and uses its place again", async () => {
    const lines = writer.open(-1);
    expect(lines.add(Buffer.from("one"))).toBe(true);
    expect(lines.add(Buffer.from("two"))).toBe(true);
    expect(Buffer.from(lines.close()!).toString()).toBe("onetwo");
    const { client, fd } = await connection();
    const next = writer.open(fd);
    next.add(Buffer.from("three"));
    expect(next.close()).toBeNull();
    expect((await read(client, 5)).toString()).toBe("three");
  });

  it("ends its thread when nothing is lent for a while, and begins another for the next line", async () => {
    const brief = new Writer(50);
    const { client, fd } = await connection();
    for (const text of ["one", "two"]) {
      const lines = brief.open(fd);
      await vi.waitUntil(() => brief.isReady, { timeout: 30_000 });
      await sleep(100);
      expect(brief.isReady).toBe(true);
      lines.add(Buffer.from(text));
      brief.flush();
      expect(lines.close()).toBeNull();
      await vi.waitUntil(() => !brief.isReady, { timeout: 30_000 });
    }
    expect((await read(client, 6)).toString()).toBe("onetwo");
  });
});
