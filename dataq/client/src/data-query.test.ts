import { inspect } from "node:util";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  AbortError,
  ConnectionError,
  DataQuery,
  type DataQueryOptions,
  DataQuerySync,
  isDataQueryError,
  type PageState,
} from "./index.ts";

const apiKey = "dq_live_abcdefghijklmnopqrstuvwxyz0123456789";
const good = { data: [{ id: "a" }], page: 1, total_pages: 1 };

function clientOf(answer: () => Response | Promise<Response>, options: DataQueryOptions = {}): DataQuery {
  return new DataQuery(
    { apiKey, fetch: async () => answer(), ...options },
    { sleep: async () => {}, random: () => 0.5 },
  );
}

describe("the key", () => {
  test("does not appear in any form of the client", () => {
    const client = clientOf(() => Response.json(good));
    expect(inspect(client, { depth: 9, showHidden: true }) + JSON.stringify(client)).not.toContain(apiKey);
  });

  test("does not appear in hooks or errors", async () => {
    const seen: unknown[] = [];
    const hook = (event: object): void => void seen.push(event);
    const echo = () =>
      Response.json(
        { code: "x", detail: apiKey },
        { status: 500, headers: { "x-echo": `Bearer ${apiKey}` } },
      );
    const client = clientOf(echo, { onRequest: hook, onResponse: hook, onRetry: hook });
    const error = await client.legal_laws({ query: "x" }).catch((thrown: unknown) => thrown);
    expect(seen).toHaveLength(4 + 4 + 3);
    const all = inspect([seen, error], { depth: 9, showHidden: true });
    expect(all).toContain("Bearer [key]");
    expect(all).not.toContain(apiKey);
  });

  test("does not appear in network errors", async () => {
    const client = clientOf(() => {
      throw new TypeError("fetch failed", { cause: new Error(`bad header Bearer ${apiKey}`) });
    });
    const error = await client.legal_laws({ query: "x" }).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ConnectionError);
    expect(inspect(error, { depth: 9 })).not.toContain(apiKey);
  });
});

describe("hooks", () => {
  test("see every attempt, its response and the wait after it", async () => {
    const events: string[] = [];
    const answers = [
      Response.json({}, { status: 503, headers: { "x-request-id": "req_1" } }),
      Response.json(good),
    ];
    const client = clientOf(() => answers.shift() as Response, {
      onRequest: ({ attempt, method, url }) => events.push(`${attempt} ${method} ${new URL(url).pathname}`),
      onResponse: ({ attempt, status, requestId }) => events.push(`${attempt} ${status} ${requestId}`),
      onRetry: ({ attempt, delayMs, error }) => events.push(`${attempt} ${delayMs} ${error.name}`),
    });
    await client.legal_laws({ query: "x" });
    expect(events).toEqual([
      "1 POST /v1/data/query",
      "1 503 req_1",
      "1 1000 ServerError",
      "2 POST /v1/data/query",
      "2 200 undefined",
    ]);
  });
});

describe("an AbortSignal", () => {
  test("cancels the call if it is already aborted", async () => {
    const client = new DataQuery({ apiKey, baseUrl: "http://127.0.0.1:9" });
    const call = client.legal_laws({ query: "x" }, { signal: AbortSignal.abort() });
    await expect(call).rejects.toThrow(AbortError);
  });

  test("cancels a running request", async () => {
    const controller = new AbortController();
    const fetch = (_url: string, init: RequestInit): Promise<Response> =>
      new Promise((_, reject) => {
        init.signal?.addEventListener("abort", () => reject(init.signal?.reason));
        controller.abort();
      });
    const call = new DataQuery({ apiKey, fetch }).legal_laws({ query: "x" }, { signal: controller.signal });
    await expect(call).rejects.toMatchObject({ name: "AbortError", code: "aborted" });
  });

  test("cancels the wait for the next attempt", async () => {
    const controller = new AbortController();
    const failing = async () => Response.json({}, { status: 500 });
    const client = new DataQuery({
      apiKey,
      fetch: failing,
      retryDelay: 3_600,
      onRetry: () => controller.abort(),
    });
    const call = client.legal_laws({ query: "x" }, { signal: controller.signal });
    await expect(call).rejects.toThrow(AbortError);
  });
});

describe("answers", () => {
  test("larger than maxResponseBytes are rejected", async () => {
    const client = clientOf(() => new Response("x".repeat(2_000)), { maxResponseBytes: 1_000 });
    await expect(client.legal_laws({ query: "x" })).rejects.toMatchObject({ code: "response_too_large" });
  });

  test("print as the server sent them", async () => {
    const single = { data: { id: "1", name: "某公司" }, page: 1, total_pages: 1 };
    const result = await clientOf(() => Response.json(single)).query("legal_laws", { query: "x" });
    expect(result).toHaveProperty("name", "某公司");
    expect(JSON.parse(JSON.stringify(result))).toEqual(single);
  });

  test("are returned unparsed by queryRaw", async () => {
    const client = clientOf(() => new Response(' {"data": [] }', { headers: { "x-request-id": "req_2" } }));
    const raw = await client.queryRaw("legal_laws", { query: "x" });
    expect(raw).toMatchObject({ status: 200, requestId: "req_2", attempts: 1, text: ' {"data": [] }' });
  });

  test("a record with a `__proto__` field changes no prototype", async () => {
    const text =
      '{"data":{"__proto__":{"polluted":1},"constructor":2},"page":1,"total_pages":1,"__proto__":{"x":1}}';
    const result = await clientOf(() => new Response(text)).query("legal_laws", { query: "x" });
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
    expect((result as { polluted?: unknown }).polluted).toBeUndefined();
    expect(result.constructor).toBe(Object);
  });
});

test("recognises errors of another copy of the package", () => {
  const foreign = Object.assign(new Error("x"), { [Symbol.for("dataq.error")]: true });
  expect(isDataQueryError(foreign)).toBe(true);
  expect(isDataQueryError(new Error("x"))).toBe(false);
  expect(isDataQueryError(null)).toBe(false);
});

test("an error prints its class, status, code and request ID", async () => {
  const client = clientOf(() =>
    Response.json({ code: "not_found", detail: "Nothing there." }, { status: 404 }),
  );
  const error = await client.legal_laws({ query: "x" }).catch((thrown: Error) => thrown);
  expect(String(error)).toBe("NotFoundError: Nothing there. (404 not_found)");
});

describe("paginate", () => {
  /** A search of `count` records whose ids are 0, 1, 2 … */
  function searchOf(count: number, requests: number[] = []): DataQuery {
    const fetch = async (_url: string, init: RequestInit): Promise<Response> => {
      const { page, page_size: size } = JSON.parse(String(init.body)) as { page: number; page_size: number };
      requests.push(page);
      const data = Array.from({ length: count }, (_, id) => ({ id })).slice((page - 1) * size, page * size);
      return Response.json({ data, page, total_pages: Math.ceil(count / size) });
    };
    return new DataQuery({ apiKey, fetch });
  }

  test("returns every record once and in order, wherever it is stopped and resumed", async () => {
    const law = fc.asyncProperty(
      fc.integer({ min: 0, max: 40 }),
      fc.integer({ min: 1, max: 7 }),
      fc.array(fc.integer({ min: 1, max: 12 }), { maxLength: 8 }),
      async (count, page_size, stops) => {
        const params = { query: "x", page_size };
        const given: unknown[] = [];
        let resume: PageState | undefined;
        for (const limit of [...stops, 1_000]) {
          const pages = searchOf(count).paginate(
            "legal_laws",
            params,
            resume === undefined ? {} : { resume },
          );
          given.push(...(await pages.toArray({ limit })).map(({ id }) => id));
          resume = JSON.parse(JSON.stringify(pages.state())) as PageState;
        }
        expect(given).toEqual(Array.from({ length: count }, (_, id) => id));
        expect(resume?.done).toBe(true);
      },
    );
    await fc.assert(law, { seed: 11, numRuns: 200 });
  });

  test("a loop that was left continues at the same place without another request", async () => {
    const requests: number[] = [];
    const pages = searchOf(5, requests).paginate("legal_laws", { query: "x", page_size: 2 });
    expect((await pages.toArray({ limit: 3 })).map(({ id }) => id)).toEqual([0, 1, 2]);
    expect((await pages.toArray({ limit: 9 })).map(({ id }) => id)).toEqual([3, 4]);
    expect(requests).toEqual([1, 2, 3]);
  });

  test("toArray without a usable limit names what is missing, and fetches nothing", async () => {
    const requests: number[] = [];
    const pages = searchOf(5, requests).paginate("legal_laws", { query: "x", page_size: 2 });
    const sync = new DataQuerySync({ apiKey }).paginate("legal_laws", { query: "x" });
    for (const given of [undefined, null, {}, { limit: undefined }, { limits: 5 }, 5])
      for (const call of [() => pages.toArray(given as never), async () => sync.toArray(given as never)])
        await expect(call(), JSON.stringify(given)).rejects.toMatchObject({
          name: "ConfigurationError",
          message: "limit is missing; call toArray({ limit: 100 }).",
        });
    for (const limit of [-1, 1.5, "5", Number.NaN])
      await expect(pages.toArray({ limit } as never)).rejects.toThrow("limit must be a ");
    expect(requests).toEqual([]);
    expect(await pages.toArray({ limit: 0 })).toEqual([]);
    expect(await pages.toArray({ limit: Number.POSITIVE_INFINITY })).toHaveLength(5);
  });

  test("rejects an idempotency key, because each page has its own", () => {
    const options = { idempotencyKey: "x" } as object;
    expect(() => searchOf(1).paginate("legal_laws", { query: "x" }, options)).toThrow(
      /^idempotencyKey cannot/,
    );
  });

  test.each([{ maxPages: 0 }, { maxItems: 1.5 }, { maxTokens: -1 }, { startPage: 0 }])(
    "%j is refused before anything is sent",
    (options) => {
      expect(() => searchOf(1).paginate("legal_laws", { query: "x" }, options)).toThrow(
        new RegExp(`^${Object.keys(options)[0]} must be`),
      );
    },
  );
});
