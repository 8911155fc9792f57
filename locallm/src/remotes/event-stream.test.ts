import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { EventStreamReader } from "./event-stream.ts";

const limit = 4096;

function read(chunks: readonly Uint8Array[]) {
  const reader = new EventStreamReader(limit);
  const events = [...chunks.flatMap((chunk) => reader.push(chunk)), ...reader.end()];
  return events.map(({ name, data }) => ({ name, data: Buffer.from(data).toString() }));
}

const whole = (text: string) => read([Buffer.from(text)]);
const data = (text: string) => ({ name: "", data: text });

describe("EventStreamReader", () => {
  it.each([
    ["a stream with CRLF", 'data: {"a":1}\r\n\r\ndata: [DONE]\r\n\r\n', [data('{"a":1}'), data("[DONE]")]],
    ["comments, ids and retry times", ": ping\n\nid: 7\nretry: 1\ndata: x\n\n", [data("x")]],
    ["no space after the colon", "data:x\n\n", [data("x")]],
    ["several data lines", "data: a\ndata:\ndata: b\n\n", [data("a\n\nb")]],
    ["a name", "event: ping\ndata: {}\n\n", [{ name: "ping", data: "{}" }]],
    ["a name without data", "event: ping\n\ndata: x\n\n", [data("x")]],
    ["a byte order mark", "\ufeffdata: x\n\n", [data("x")]],
    ["no empty line at the end", "data: x", [data("x")]],
    ["an error field", 'error: {"e":1}\n\n', [{ name: "error", data: '{"e":1}' }]],
    ["JSON without a field name", '{"error":"x"}\n', [data('{"error":"x"}')]],
    ["unknown fields and lines without a colon", "dataset: 1\nrubbish\n\n", []],
  ])("reads %s", (_, text, events) => {
    expect(whole(text)).toEqual(events);
  });

  const line = fc.oneof(
    fc.constantFrom("", "data:", "data: [DONE]", ": ping", "event: error", "error: {}", "{", "\r", "id: 1"),
    fc.string({ unit: "binary" }).map((text) => `data: ${text}`),
    fc.string({ unit: "grapheme" }),
  );

  it("reads the same events from a stream that is cut at any bytes", () => {
    const stream = fc.array(fc.tuple(line, fc.constantFrom("\n", "\r\n")), { maxLength: 20 });
    fc.assert(
      fc.property(stream, fc.array(fc.nat(400), { maxLength: 12 }), (lines, cuts) => {
        const bytes = Buffer.from(lines.flat().join(""));
        const at = [0, ...cuts.map((cut) => Math.min(cut, bytes.length)).sort((a, b) => a - b), bytes.length];
        const chunks = at.slice(1).map((end, index) => bytes.subarray(at[index], end));
        expect(read(chunks)).toEqual(read([bytes]));
        expect(read([...bytes].map((byte) => Uint8Array.of(byte)))).toEqual(read([bytes]));
      }),
    );
  });

  it.each([
    ["a line without an end", () => Buffer.from("x".repeat(1000))],
    ["an event without an end", () => Buffer.from(`data: ${"x".repeat(1000)}\n`)],
    ["an event of empty lines of data", () => Buffer.from("data:\n".repeat(1000))],
  ])("rejects %s beyond the limit", (_, chunk) => {
    const reader = new EventStreamReader(limit);
    const pushAll = () => {
      for (let count = 0; count < 10; count++) reader.push(chunk());
    };
    expect(pushAll).toThrow(/longer than 4096 bytes/);
  });
});
