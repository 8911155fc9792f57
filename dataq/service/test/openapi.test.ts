import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type ErrorCode, errors, type Operation, operations } from "@dataq/contract";
import { consoleRoutes, errorCodesOf, type Route, routes } from "@dataq/contract/wire";
import { Ajv2020 } from "ajv/dist/2020.js";
import formats from "ajv-formats";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { checkAnswer } from "./answer-check.ts";
import { type InProcessService, startInProcess } from "./in-process.ts";

const list: readonly Operation[] = operations;

let service: InProcessService;
/** A test key: samples, never charged. */
let key: string;

beforeAll(async () => {
  service = await startInProcess({}, { isScripted: false });
  key = (await service.call("/v1/keys", { body: { name: "fuzz", mode: "test" } })).body.key;
});
afterAll(() => service?.[Symbol.asyncDispose]());

describe("/openapi.json", () => {
  interface Described {
    readonly security?: readonly object[];
    readonly requestBody?: object;
    readonly responses: Readonly<Record<string, { readonly content?: Record<string, { schema?: object }> }>>;
  }
  let document: Record<string, unknown> & { paths: Record<string, Record<string, Described>> };
  let described: (readonly [string, Described])[];

  beforeAll(async () => {
    document = (await service.call("/openapi.json")).body;
    described = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, route]) => [`${method.toUpperCase()} ${path}`, route] as const),
    );
  });

  test("lists exactly the routes of the service, except the pages of the console and the documentation", async () => {
    const served = service.routes
      .filter(({ url }) => url !== "/" && !/^\/(?:console|docs\/\*)/.test(url))
      .map(({ method, url }) => `${method} ${url.replace(/:(\w+)/g, "{$1}")}`);
    expect(described.map(([name]) => name).sort()).toEqual(served.sort());
  });

  test("names the address of the service", () => {
    expect(document["servers"]).toMatchObject([{ url: "/" }]);
  });

  test("describes the errors of each route", () => {
    for (const [name, { security, requestBody, responses }] of described) {
      const statuses = Object.keys(responses);
      expect(statuses, name).toEqual(expect.arrayContaining(["500", "503"]));
      if (security === undefined)
        expect(statuses, name).toEqual(expect.arrayContaining(["401", "403", "429"]));
      if (requestBody !== undefined)
        expect(statuses, name).toEqual(expect.arrayContaining(["400", "413", "415"]));
      if (name.includes("{")) expect(statuses, name).toContain("404");
    }
    const query = Object.keys(document.paths["/v1/data/query"]!["post"]!.responses);
    expect(query).toEqual(expect.arrayContaining(["402", "409", "422", "429", "501", "502", "504"]));
    const estimate = Object.keys(document.paths["/v1/data/estimate"]!["post"]!.responses);
    expect(estimate).toEqual(expect.arrayContaining(["429", "501"]));
    expect(Object.keys(document.paths["/v1/vouchers/redeem"]!["post"]!.responses)).toContain("422");
  });

  // That no route answers with an error that it does not declare, `checkAnswer` sees in each exchange of every live test.
  test("every error is declared by a route, and every declared error is thrown somewhere", () => {
    const all: readonly Route[] = [...Object.values(routes), ...Object.values(consoleRoutes)];
    const declared = new Set(all.flatMap(errorCodesOf));
    // The provider of single sign-on calls the route of the last one, which is in no contract.
    const ofNoRoute = [
      "no_such_route",
      "method_not_allowed",
      "client_closed_request",
      "invalid_logout_token",
    ];
    expect(Object.keys(errors).filter((code) => !declared.has(code as ErrorCode))).toEqual(
      expect.arrayContaining(ofNoRoute),
    );
    expect(declared.size).toBe(Object.keys(errors).length - ofNoRoute.length);
    const folder = join(import.meta.dirname, "../src");
    const source = globSync("**/*.ts", { cwd: folder })
      .filter((path) => !path.endsWith(".test.ts"))
      .map((path) => readFileSync(join(folder, path), "utf8"))
      .join("\n");
    const thrown = new Set([...source.matchAll(/"([a-z_]+)"/g)].map(([, code]) => code));
    // `invalid` makes this one.
    expect([...declared].filter((code) => !thrown.has(code) && code !== "invalid_params")).toEqual([]);
  });

  test("contains only valid schemas", () => {
    const ajv = new Ajv2020({ strict: false });
    formats.default(ajv);
    ajv.addFormat("credit-code", true).addFormat("parcel-number", true).addFormat("network-block", true);
    ajv.addSchema({ $id: "document", ...document });
    // Many routes share their errors' schemas, and compiling one takes milliseconds.
    const places = new Map<string, string>();
    for (const [name, { responses }] of described)
      for (const [status, { content }] of Object.entries(responses))
        for (const { schema } of Object.values(content ?? {})) {
          if (schema === undefined) continue;
          const text = JSON.stringify(absolute(schema));
          if (!places.has(text)) places.set(text, `${name} ${status}`);
        }
    for (const [text, place] of places)
      expect(() => ajv.compile(JSON.parse(text) as object), place).not.toThrow();
  });
});

test("every live test fails if an answer does not match the contract", () => {
  const balance = {
    balance: 1,
    trial_balance: 0,
    paid_balance: 1,
    held: 0,
    currency: "CNY",
    tokens_per_cny: 50_000,
    trial_expires_at: null,
    frozen: false,
  };
  const check =
    (body: object, status = 200) =>
    () =>
      checkAnswer(
        {
          method: "GET",
          path: "/v1/balance?x=1",
          sent: undefined,
          status,
          type: "application/json",
          text: JSON.stringify(body),
        },
        { hasRealRecords: true },
      );
  expect(check(balance)).not.toThrow();
  expect(check({ ...balance, trialBalance: 0 })).toThrow("trialBalance");
  expect(check({ ...balance, held: undefined })).toThrow("held");
  expect(check({ ...balance, trial_expires_at: "tomorrow" })).toThrow("trial_expires_at");
  expect(check(balance, 201)).toThrow("the status should be 200");
  expect(check({ detail: "no" }, 402)).toThrow("type");
});

/** Makes references point into the document that contains them. */
function absolute(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(absolute);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [
      name,
      name === "$ref" ? `document${inner as string}` : absolute(inner),
    ]),
  );
}

/** What people and programs send by mistake or on purpose. */
const hostile = [
  "",
  "   ",
  "\u0000",
  "a\u0007b",
  "\ud800",
  "'; drop table account; --",
  "$1 %s {{7*7}} #{7*7}",
  "../../etc/passwd",
  "<script>alert(1)</script>",
  '"()[]《》:-OR*\\',
  "court: date:.. -",
  "％＿\u202e\u200b",
  "一".repeat(201),
  "x".repeat(20_000),
];

test.each(list.map((operation) => [operation.name, operation] as const))(
  "%s: every value of every parameter gets an answer, or an error that names it and a fix",
  async (name, operation) => {
    for (const parameter of Object.keys(operation.params.shape)) {
      const answers = await Promise.all(
        hostile.map((value) => {
          const params = { ...operation.example, [parameter]: value };
          return service.call("/v1/data/query", { key, body: { operation: name, params } });
        }),
      );
      for (const [place, { status, body }] of answers.entries()) {
        const sent = `${parameter} ${JSON.stringify(hostile[place]).slice(0, 60)}: ${status}`;
        expect([200, 400, 404, 422], sent).toContain(status);
        if (status !== 400) continue;
        // Some of these values cannot be written as JSON.
        if (body.code !== "invalid_json")
          expect(body.error.details[0].param, sent).toBe(`params.${parameter}`);
        if (body.code !== "invalid_json") expect(body.error.details[0].fix, sent).not.toBe("");
      }
    }
  },
);
