import { describe, expect, test } from "vitest";
import type { Send, VendorAnswer, VendorRequest } from "../adapter.ts";
import { mappedAdapter } from "./mapped-adapter.ts";
import { operationMapping, shared } from "./mapping-file.ts";
import { computed } from "./template.ts";

const answerOf = (body: unknown, status = 200): VendorAnswer => ({
  status,
  headers: {},
  text: typeof body === "string" ? body : JSON.stringify(body),
});

function adapter(mapping: object, common: object = {}, credentials: Record<string, string> = {}) {
  return mappedAdapter({
    operation: "legal_cases",
    mapping: operationMapping.parse(mapping),
    shared: shared.parse(common),
    credentials,
    constants: { base: "http://vendor.example/api" },
    now: () => new Date("2026-03-01T00:00:00Z"),
  });
}

/** A vendor with numbered records, which gives at most `most` at once. */
function library(count: number, most: number, by: "page" | "offset" | "cursor") {
  const requests: VendorRequest[] = [];
  const send: Send = async (request) => {
    requests.push(request);
    const query = new URL(request.url).searchParams;
    const size = Math.min(Number(query.get("size")), most);
    const from = {
      page: () => Number(query.get("page")) * size,
      offset: () => Number(query.get("offset")),
      cursor: () => Number(query.get("cursor") ?? 0),
    }[by]();
    const list = Array.from({ length: Math.max(0, Math.min(size, count - from)) }, (_, n) => ({
      n: from + n,
    }));
    const next = from + size < count ? String(from + size) : null;
    return answerOf({ total: count, list, next });
  };
  return { send, requests };
}

describe("a list in pieces", () => {
  // Sizes that divide each other, that do not, and that are larger than the list.
  const cases = (["page", "offset", "cursor"] as const).flatMap((by) =>
    [
      [57, 10, 20],
      [57, 7, 20],
      [57, 50, 20],
      [57, 20, 20],
      [1, 10, 20],
      [0, 10, 20],
      [40, 20, 20],
      [41, 13, 13],
      [23, 3, 5],
    ].map(([count, most, size]) => ({ by, count: count!, most: most!, size: size! })),
  );

  test.each(cases)(
    "gives every record once, in order: $by, $count records, $most at once, our pages of $size",
    async ({ by, count, most, size }) => {
      const file = {
        request: {
          url: "{base}/list",
          query: { size: "{page_size}", page: "{page}", offset: "{offset}", cursor: "{cursor}" },
        },
        paging: { by, most, first: 0, next: "next" },
        answer: { record: "list", total: "total", fields: { id: "n" } },
      };
      const seen: unknown[] = [];
      for (let page = 1; page <= Math.ceil(count / size) + 1; page++) {
        const { send, requests } = library(count, most, by);
        const found = await adapter(file).ask({ page: String(page), page_size: String(size) }, send);
        if (found.outcome === "wrong") {
          // A cursor is followed from the first record on, so far pages are told to be out of reach after one request.
          expect([by, requests.length, found.isBlameless]).toEqual(["cursor", 1, true]);
          return;
        }
        expect(requests.length).toBeLessThanOrEqual(10);
        expect(found).toMatchObject({ outcome: "records", total: count });
        if (found.outcome === "records") seen.push(...found.list.map(({ id }) => id));
      }
      expect(seen).toEqual(Array.from({ length: count }, (_, n) => n));
    },
  );

  test.each(["page", "offset", "cursor"] as const)(
    "is never sold in part: a page that needs more than ten requests is wrong (%s)",
    async (by) => {
      const { send, requests } = library(100, 1, by);
      const file = {
        request: {
          url: "{base}/list",
          query: { size: "{page_size}", page: "{page}", offset: "{offset}", cursor: "{cursor}" },
        },
        paging: { by, most: 1, first: 0, next: "next" },
        answer: { record: "list", total: "total", fields: { id: "n" } },
      };
      const found = await adapter(file).ask({ page: "1", page_size: "20" }, send);
      expect(found.outcome).toBe("wrong");
      expect(requests).toHaveLength(1);
    },
  );

  test.each(["page", "offset", "cursor"] as const)(
    "of which nobody tells the number is read to its end (%s)",
    async (by) => {
      const file = {
        request: {
          url: "{base}/list",
          query: { size: "{page_size}", page: "{page}", offset: "{offset}", cursor: "{cursor}" },
        },
        paging: { by, most: 4, first: 0, next: "next" },
        answer: { record: "list", fields: { id: "n" } },
      };
      const seen: unknown[] = [];
      const told: unknown[] = [];
      for (const page of ["1", "2", "3"]) {
        const found = await adapter(file).ask({ page, page_size: "8" }, library(19, 4, by).send);
        if (found.outcome !== "records") throw new Error(found.outcome);
        seen.push(...found.list.map(({ id }) => id));
        told.push([found.total, found.isAtLeast ?? false]);
      }
      expect(seen).toEqual(Array.from({ length: 19 }, (_, n) => n));
      expect(told).toEqual([
        [8, true],
        [16, true],
        [19, false],
      ]);
    },
  );

  test.each([undefined, "total"])(
    "with a cursor goes on after pieces that are not full (count at %s)",
    async (total) => {
      const { send } = library(17, 3, "cursor");
      const file = {
        request: { url: "{base}/list", query: { size: "{page_size}", cursor: "{cursor}" } },
        paging: { by: "cursor", most: 5, next: "next" },
        answer: { record: "list", fields: { id: "n" }, ...(total && { total }) },
      };
      const found = await adapter(file).ask({ page: "2", page_size: "10" }, send);
      expect(found).toMatchObject({
        total: 17,
        list: [10, 11, 12, 13, 14, 15, 16].map((id) => ({ id })),
      });
    },
  );

  test("is wrong where the vendor has no further cursor, although it counts more records", async () => {
    const { send } = library(5, 5, "cursor");
    const short: Send = async (request) => {
      const body = JSON.parse((await send(request)).text);
      return answerOf({ ...body, total: 50 });
    };
    const file = {
      request: { url: "{base}/list", query: { size: "{page_size}", cursor: "{cursor}" } },
      paging: { by: "cursor", most: 5, next: "next" },
      answer: { record: "list", total: "total", fields: { id: "n" } },
    };
    expect((await adapter(file).ask({ page: "1", page_size: "20" }, short)).outcome).toBe("wrong");
  });

  test("asks for nothing beyond the deepest record that can be reached", async () => {
    const { send, requests } = library(100_000, 50, "page");
    const file = {
      request: { url: "{base}/list", query: { size: "{page_size}", page: "{page}" } },
      paging: { by: "page", most: 50, first: 0, deepest: 10_000 },
      answer: { record: "list", total: "total", fields: { id: "n" } },
    };
    const found = await adapter(file).ask({ page: "501", page_size: "20" }, send);
    expect(found).toEqual({ outcome: "records", list: [], total: 10_000 });
    expect(requests).toHaveLength(0);
  });
});

describe("errors of a vendor", () => {
  const file = { request: { url: "{base}/one" }, answer: { record: "data", fields: { id: "id" } } };
  const common = {
    ok: { path: "code", equals: [0] },
    message: "reason",
    errors: [
      { path: "code", equals: ["1"], means: "not_found" },
      { path: "code", equals: [2], means: "out_of_money" },
      { path: "code", equals: [3], means: "again" },
      { status: [418], means: "refused" },
      { path: "code", equals: [5], status: [200], means: "limited" },
    ],
  };
  test.each([
    [{ code: 1 }, 200, { outcome: "not_found" }],
    [
      { code: "2", reason: "余额不足" },
      200,
      { reason: "out_of_money", why: { en: 'the vendor answered with code "2" (余额不足)' } },
    ],
    [{ code: 3 }, 500, { reason: "busy" }],
    ["<html>", 418, { reason: "refused" }],
    [{ code: 5 }, 200, { reason: "limited" }],
    [{ code: 5 }, 404, { outcome: "wrong" }],
    [
      { code: 9, reason: "新的错误" },
      200,
      { outcome: "wrong", why: { en: "code is 9, not one of 0 (新的错误)" } },
    ],
    [{ code: 0 }, 200, { outcome: "wrong", why: { en: "data is missing from the answer" } }],
    ["", 402, { reason: "out_of_money" }],
    ["", 401, { reason: "refused" }],
    [{ code: 0, data: { id: "x" } }, 200, { outcome: "record", fields: { id: "x" } }],
  ])("%j with status %i", async (body, status, wanted) => {
    expect(await adapter(file, common).ask({}, async () => answerOf(body, status))).toMatchObject(wanted);
  });

  test("an answer that is not JSON has no meaning", async () => {
    await expect(adapter(file, common).ask({}, async () => answerOf("<html>"))).rejects.toThrow("not JSON");
  });
});

describe("requests", () => {
  test("a value of a caller stays one value in an address, a header and a body", async () => {
    const sent: VendorRequest[] = [];
    const file = {
      request: {
        method: "POST",
        url: "{base}/{query}/x",
        query: { q: "{query}", court: "{court}", mixed: "a-{court}" },
        headers: { "x-query": "{query}" },
        json: { q: ["{query}"], court: "{court}", constant: 1 },
      },
      answer: { record: "data", fields: {} },
    };
    const query = 'a/../b?c=d&e#f\r\nx-evil: 1"{key}';
    await adapter(file, {}, { key: "secret-1" }).ask({ query }, async (request) => {
      sent.push(request);
      return answerOf({ data: {} });
    });
    const { url, headers, body } = sent[0]!;
    const read = new URL(url);
    expect(read.origin).toBe("http://vendor.example");
    expect(read.pathname.split("/")).toHaveLength(4);
    expect([...read.searchParams]).toEqual([["q", query]]);
    expect(headers["x-query"]).toBe('a/../b?c=d&e#fx-evil: 1"{key}');
    expect(JSON.parse(body!)).toEqual({ q: [query], constant: 1 });
  });

  test("hashes and signatures are those of the standards, and what is made from a secret is secret", () => {
    const { values, secrets } = computed(
      {
        time: { now: "s" },
        china: { now: "china" },
        plain: { of: "abc", hash: "md5", as: "hex" },
        upper: { of: "{key}{time}", hash: "md5", as: "HEX" },
        signed: { of: "what do ya want for nothing?", hash: "hmac-sha256", secret: "{jefe}", as: "hex" },
        again: { of: "{signed}!", hash: "none", as: "hex" },
        body: { json: { key: "{key}", none: "{missing}", n: 1 } },
      },
      { key: "k-1", jefe: "Jefe" },
      new Set(["key", "jefe"]),
      new Date("2026-03-01T16:30:00Z"),
    );
    expect(values).toMatchObject({
      time: "1772382600",
      china: "2026-03-02 00:30:00",
      plain: "900150983cd24fb0d6963f7d28e17f72",
      signed: "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
      body: '{"key":"k-1","n":1}',
    });
    expect(values["upper"]).toMatch(/^[0-9A-F]{32}$/);
    expect(secrets).toEqual([values["upper"], values["signed"], values["again"], values["body"]]);
  });
});

test("fields are read by rules, and what cannot be converted stays for the check of the record", async () => {
  const file = {
    request: { url: "{base}/one" },
    answer: {
      record: "data",
      fields: {
        first: { path: ["empty", "dash", "second"] },
        day: { path: "ms", as: "epoch_ms" },
        written: { path: "date", as: "day" },
        moment: { path: "time", as: "instant" },
        amount: { path: "amount", as: "number" },
        bad: { path: "bad", as: "number" },
        names: { path: "names", item: "n" },
        people: { path: "names", each: { name: "n", age: { path: "age", as: "number", otherwise: 0 } } },
        words: { path: "text", as: "list", split: "、" },
        address: { path: "lines", as: "text", join: " " },
        "source.url": { path: "id", format: "https://vendor.example/{}?id={}" },
        state: { path: "state", values: { A: "active" }, otherwise: "other" },
        "__proto__.polluted": "id",
      },
    },
  };
  const data = {
    empty: "",
    dash: "-",
    second: 7,
    // 2016-03-01 in China, still February in Greenwich.
    ms: 1_456_761_600_000,
    date: "2024年3月1日",
    time: "2024-03-01 12:30:00",
    amount: "1,234.5",
    bad: "viel",
    names: [{ n: "甲", age: "3" }, { n: "乙" }],
    text: "甲、乙、",
    lines: ["a", "b"],
    id: "$&",
    state: "B",
  };
  const found = await adapter(file).ask({}, async () => answerOf({ data }));
  expect(found).toMatchObject({
    fields: {
      first: 7,
      day: "2016-03-01",
      written: "2024-03-01",
      moment: "2024-03-01T12:30:00+08:00",
      amount: 1234.5,
      bad: "viel",
      names: ["甲", "乙"],
      people: [
        { name: "甲", age: 3 },
        { name: "乙", age: 0 },
      ],
      words: ["甲", "乙"],
      address: "a b",
      source: { url: "https://vendor.example/$&?id=$&" },
      state: "other",
    },
  });
  expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
});
