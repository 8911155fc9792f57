import { afterEach, describe, expect, test, vi } from "vitest";
import { AuthenticationError, ConfigurationError, DataQuery, DataQuerySync } from "./index.ts";
import { defaultRetry, readRetry, readSettings } from "./settings.ts";

afterEach(() => vi.unstubAllEnvs());

describe("the key and the address", () => {
  test("come from the environment by default", () => {
    vi.stubEnv("DATAQ_API_KEY", "dq_live_from_environment");
    vi.stubEnv("DATAQ_BASE_URL", "https://data.example/api/");
    expect(readSettings({})).toMatchObject({
      apiKey: "dq_live_from_environment",
      baseUrl: "https://data.example/api",
    });
    expect(readSettings({ apiKey: "mine", base_url: "http://other:1" })).toMatchObject({
      apiKey: "mine",
      baseUrl: "http://other:1",
    });
  });

  test("throws AuthenticationError without a key, before anything is sent", () => {
    vi.stubEnv("DATAQ_API_KEY", "");
    for (const make of [() => new DataQuery(), () => new DataQuerySync()]) {
      expect(make).toThrow(AuthenticationError);
      expect(make).toThrow(expect.objectContaining({ code: "missing_api_key", status: 401 }));
    }
  });

  test("trims a key with a line break at its end, and rejects one with a space without repeating it", () => {
    expect(readSettings({ apiKey: "dq_live_x\n" }).apiKey).toBe("dq_live_x");
    expect(() => readSettings({ apiKey: "two words" })).toThrow(
      /^apiKey must be printable ASCII without spaces\.$/,
    );
  });

  test.each(["localhost:1", "ftp://a", "http://user:pass@a", "http://a?x=1", "http://a#x", ""])(
    "rejects the address %j",
    (baseUrl) => {
      expect(() => readSettings({ apiKey: "k", baseUrl })).toThrow(/^baseUrl must/);
    },
  );
});

test("accepts a header whose name is a property of every object", () => {
  expect(readSettings({ apiKey: "k", headers: { constructor: "x" } }).headers).toEqual({ constructor: "x" });
});

describe("options", () => {
  test("are read in camelCase and in the specification's spelling", () => {
    const spelt = readRetry({ max_retries: 5, retry_delay: 0.5, retry_backoff: 3 }, defaultRetry);
    expect(readRetry({ maxRetries: 5, retryDelay: 0.5, retryBackoff: 3 }, defaultRetry)).toEqual(spelt);
    expect(spelt).toMatchObject({ maxRetries: 5, retryDelayS: 0.5, retryBackoff: 3 });
  });

  test("rejects two spellings of an option with different values", () => {
    expect(readRetry({ max_retries: 1, maxRetries: 1 }, defaultRetry).maxRetries).toBe(1);
    expect(() => readRetry({ max_retries: 1, maxRetries: 2 }, defaultRetry)).toThrow(
      /maxRetries and max_retries/,
    );
  });

  test("have the specification's defaults", () => {
    expect(readRetry({}, defaultRetry)).toMatchObject({ maxRetries: 3, retryDelayS: 1, retryBackoff: 2 });
  });

  test.each([
    { maxRetries: -1 },
    { maxRetries: 1.5 },
    { max_retries: Number.NaN },
    { timeout: 0 },
    { retryDelay: -1 },
    { retryDelay: "1" },
    { retryBackoff: Number.POSITIVE_INFINITY },
    { retryNetworkErrors: 1 },
    { maxResponseBytes: 0 },
    { maxRetry: 3 },
    { headers: { authorization: "Bearer other" } },
    { headers: { "Idempotency-Key": "x" } },
    { headers: { "x-bad": "line\nbreak" } },
    { headers: { "": "x" } },
  ])("rejects %j by name", (option) => {
    const [name = ""] = Object.keys(option);
    const make = () => new DataQuery({ apiKey: "k", ...(option as object) });
    expect(make).toThrow(ConfigurationError);
    expect(make).toThrow(new RegExp(name.replace("max_retries", "maxRetries")));
  });

  test.each(["dq_live_x", null, 5])("rejects %j as options without repeating it", (options) => {
    for (const face of [DataQuery, DataQuerySync]) {
      expect(() => new face(options as never)).toThrow(/^options must be an object/);
    }
  });

  test.each(["fetch", "fetchOptions", "onRequest", "onResponse", "onRetry"])(
    "the synchronous client rejects %s by name",
    (name) => {
      const make = () => new DataQuerySync({ apiKey: "k", [name]: () => {} });
      expect(make).toThrow(ConfigurationError);
      expect(make).toThrow(new RegExp(`^${name} works only with the asynchronous client`));
    },
  );

  test("the synchronous client rejects a signal and names timeout", () => {
    const client = new DataQuerySync({ apiKey: "k" });
    const options = { signal: new AbortController().signal } as object;
    for (const call of [
      () => client.query("legal_laws", { query: "x" }, options),
      () => client.paginate("legal_laws", { query: "x" }, options),
      () => client.estimate("legal_laws", { query: "x" }, options),
      () => client.balance(options),
      () => client.usage({}, options),
    ]) {
      expect(call).toThrow(/^signal works only with the asynchronous client.*timeout/);
    }
  });
});

test("requires an explicit option in a web page", () => {
  vi.stubGlobal("window", {});
  vi.stubGlobal("document", {});
  try {
    expect(() => new DataQuery({ apiKey: "k" })).toThrow(/^dangerouslyAllowBrowser/);
    expect(new DataQuery({ apiKey: "k", dangerouslyAllowBrowser: true })).toBeInstanceOf(DataQuery);
  } finally {
    vi.unstubAllGlobals();
  }
});
