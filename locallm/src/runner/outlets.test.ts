import { closeSync, fstatSync, openSync, readFileSync, rmSync } from "node:fs";
import { connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { SlotEvent } from "../engine/slots.ts";
import type { GenerateDone } from "../wire/inference/generate.ts";
import { Outlets } from "./outlets.ts";
import { socketRoom } from "./socket-room.ts";
import { Writer } from "./writer.ts";

const text = (id: number, words: string): SlotEvent => ({
  ...{ id, text: words, tokens: 1 },
  ...{ done: null, error: null },
});
const end = (id: number): SlotEvent => ({ ...text(id, ""), done: { kind: "done" } as GenerateDone });
const restOf = (rest: Uint8Array | null) =>
  rest === null
    ? ""
    : `, then ${JSON.stringify(Buffer.from(rest).toString()).slice(1, -1).replaceAll('\\"', '"')}`;
const shape = ["<", { put: "text" }, " ", { put: "number" }, ">"] as const;

describe("Outlets", () => {
  const file = join(tmpdir(), `outlets-${process.pid}`);
  /** What the server was sent, in order. */
  let sent: string[];
  let hasRoom: boolean;
  /** How often the system was asked for room. */
  let asked: number;
  /** The texts that the server awaits to lend a connection. */
  let awaited: string[];
  let outlets: Outlets;
  let writer: Writer;
  let connection: { fd: number; isOpen: boolean; close(): void };

  beforeEach(() => {
    vi.useFakeTimers();
    sent = [];
    hasRoom = true;
    asked = 0;
    awaited = [];
    const tell = (events: readonly SlotEvent[]) => {
      for (const event of events)
        sent.push(
          event.done ? "end" : `${event.text}${event.toldIn === undefined ? "" : ` in ${event.toldIn}`}`,
        );
    };
    writer = new Writer();
    outlets = new Outlets({
      pass: (events, isAwaited) => {
        tell(events);
        if (isAwaited) awaited.push(...events.map((event) => event.text));
      },
      send: tell,
      report: (report) =>
        sent.push(
          report.kind === "back"
            ? `back ${report.tokens}${report.isSlow ? " slow" : ""}${restOf(report.rest)}`
            : report.kind,
        ),
      hasRoom: () => {
        asked++;
        return hasRoom;
      },
      writer,
      now: () => new Date(0),
    });
    const fd = openSync(file, "w");
    connection = {
      ...{ fd, isOpen: true },
      close() {
        this.isOpen = false;
        closeSync(fd);
      },
    };
  });
  afterEach(() => {
    vi.useRealTimers();
    writer.close();
    rmSync(file, { force: true });
  });

  const lend = (seen: number, { markers = [] as string[], number = 7, first = true } = {}) =>
    outlets.lend({ kind: "lend", id: 1, seen, shape, markers, number }, first ? connection : null);
  /** The lines that the client got, without the lengths of their chunks, which must be right. */
  const written = () => {
    let rest = readFileSync(file, "latin1");
    const lines: string[] = [];
    while (rest !== "") {
      const [, length = "", after = ""] = /^([0-9a-f]+)\r\n(.*)$/s.exec(rest)!;
      const size = Number.parseInt(length, 16);
      lines.push(Buffer.from(after.slice(0, size), "latin1").toString());
      expect(after.slice(size, size + 2)).toBe("\r\n");
      rest = after.slice(size + 2);
    }
    return lines;
  };

  it("writes the lines of a lent connection, tells what they said once a second, and gives it back at the end", () => {
    outlets.open(1);
    outlets.add([text(1, "one")]);
    lend(1);
    outlets.add([text(1, ' "two"'), text(2, "other")]);
    outlets.add([text(1, " 三\n")]);
    expect(sent).toEqual(["one", "holds", "other"]);
    expect(written()).toEqual(['<" \\"two\\"" 7>', '<" 三\\n" 8>']);
    vi.advanceTimersByTime(1000);
    outlets.add([text(1, " four"), text(2, "another")]);
    outlets.add([end(1)]);
    expect(sent.slice(3)).toEqual([' "two" 三\n in 2', "another", " four in 1", "back 0", "end"]);
    expect(connection.isOpen).toBe(false);
    outlets.add([text(1, "late")]);
    expect(sent.at(-1)).toBe("late");
    writer.close();
    expect(vi.getTimerCount()).toBe(0);
  });

  it("takes no loan while text is under way, but waits for the next, and writes what it held then", () => {
    outlets.open(1);
    outlets.add([text(1, "one")]);
    outlets.add([text(1, "two")]);
    lend(1);
    outlets.add([text(1, "three")]);
    expect(sent).toEqual(["one", "two", "holds"]);
    // The first two do not wait for those of other steps: what follows would wait for them.
    expect(awaited).toEqual(["one", "two"]);
    lend(2, { first: false });
    outlets.add([text(1, "four")]);
    expect(sent).toEqual(["one", "two", "holds"]);
    expect(written()).toEqual(['<"three" 7>', '<"four" 8>']);
  });

  it("sends what it held if no loan comes in time, and does not take an old one", () => {
    outlets.open(1);
    outlets.add([text(1, "one"), text(1, "two")]);
    lend(1);
    outlets.add([text(1, "three")]);
    vi.advanceTimersByTime(20);
    expect(sent.slice(2)).toEqual(["holds", "three"]);
    expect(awaited).toEqual(["one", "two"]);
    lend(2, { first: false });
    outlets.add([text(1, "four"), end(1)]);
    expect(sent.slice(4)).toEqual(["four", "end"]);
    expect(written()).toEqual([]);
    writer.close();
    expect([connection.isOpen, vi.getTimerCount()]).toEqual([false, 0]);
  });

  it.each(["a [CALL", "x<", "space ", "line\n"])(
    "gives it back before %j, because a marker may begin there",
    (words) => {
      outlets.open(1);
      outlets.add([text(1, "one")]);
      lend(1, { markers: ["<tool>", "[CALL]"] });
      outlets.add([text(1, " two")]);
      outlets.add([text(1, words)]);
      expect(sent.slice(2)).toEqual([" two in 1", "back 0", words]);
      expect(written()).toEqual(['<" two" 7>']);
      outlets.add([text(1, "three")]);
      // The text that was told counts like those that were sent.
      lend(4, { first: false, number: 9 });
      outlets.add([text(1, "four")]);
      expect(written()).toEqual(['<" two" 7>', '<"four" 9>']);
    },
  );

  it("gives it back before its client's buffer is full, or when the connection takes nothing", () => {
    outlets.open(1);
    outlets.add([text(1, "one")]);
    lend(1);
    asked = 0;
    const long = "x".repeat(1000);
    for (let line = 0; line < 4; line++) outlets.add([text(1, long)]);
    expect([asked, sent.slice(2)]).toEqual([1, []]);
    hasRoom = false;
    outlets.add([text(1, long)]);
    expect(sent.slice(2)).toEqual([`${long.repeat(4)} in 4`, "back 0 slow", long]);
    sent.splice(2, 3, "back", "two");
    hasRoom = true;
    // A descriptor that takes nothing, and that stays taken: what is closed may be another file's at once.
    connection.fd = openSync(file, "r");
    lend(3, { first: false });
    outlets.add([text(1, "three")]);
    outlets.add([text(1, "four")]);
    expect(sent.slice(4)).toEqual(["three in 1", 'back 0 slow, then b\\r\\n<"three" 7>\\r\\n', "four"]);
    closeSync(connection.fd);
  });

  it("gives it back if nothing is written for some seconds, so that the server can write its own lines", () => {
    outlets.open(1);
    outlets.add([text(1, "one")]);
    lend(1);
    vi.advanceTimersByTime(5000);
    expect(sent).toEqual(["one", "holds"]);
    vi.advanceTimersByTime(1000);
    expect(sent).toEqual(["one", "holds", "back 0"]);
    writer.close();
    expect(vi.getTimerCount()).toBe(0);
  });

  it("ends a job whose client has left, and says how many of its tokens no event counts", () => {
    outlets.open(1);
    outlets.add([text(1, "one")]);
    lend(1);
    for (let token = 0; token < 3; token++) outlets.add([text(1, "more")]);
    outlets.cancel(1);
    expect(sent.slice(2)).toEqual(["back 3"]);
    expect(connection.isOpen).toBe(false);
    writer.close();
    expect(vi.getTimerCount()).toBe(0);
  });

  it("closes a connection that comes after its job has ended", () => {
    const { dev, ino } = fstatSync(connection.fd);
    lend(1);
    expect(sent).toEqual(["holds"]);
    expect(connection.isOpen).toBe(false);
    // Something else may have been opened under the same number meanwhile.
    const now = attempted(() => fstatSync(connection.fd));
    expect([now?.dev, now?.ino]).not.toEqual([dev, ino]);
  });
});

it.runIf(process.platform === "linux")(
  "socketRoom sees the buffer of a client that reads nothing fill up before a write is cut",
  async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const arrived = new Promise<Socket>((resolve) => server.once("connection", resolve));
    const client = connect((server.address() as { port: number }).port, "127.0.0.1").pause();
    const socket = await arrived;
    const { fd } = (socket as unknown as { _handle: { fd: number } })._handle;
    const room = socketRoom();
    let bytes = 0;
    for (; room(fd) && bytes < 2 ** 28; bytes += 1000) socket.write(Buffer.alloc(1000));
    expect(bytes).toBeGreaterThan(10_000);
    expect([bytes < 2 ** 28, socket.writableLength]).toEqual([true, 0]);
    client.resume();
    await vi.waitUntil(() => room(fd), { timeout: 10_000 });
    expect(room(-1)).toBe(false);
    client.destroy();
    socket.destroy();
    server.close();
  },
);

function attempted<Result>(work: () => Result): Result | null {
  try {
    return work();
  } catch {
    return null;
  }
}
