import { afterAll, beforeAll, describe, expect, test } from "vitest";
import * as exported from "../src/index.ts";
import {
  type ClientCase,
  camelCase,
  caseKey,
  type Happened,
  type LoggedRequest,
  readCases,
  runAsync,
  runSync,
  startScriptedServer,
} from "./client-case.ts";

let server: Awaited<ReturnType<typeof startScriptedServer>>;
beforeAll(async () => {
  server = await startScriptedServer();
});
afterAll(() => server.close());

describe.each([
  ["DataQuery", runAsync],
  ["DataQuerySync", runSync],
])("%s", (_, run) => {
  describe.each(["retries", "errors", "requests", "pages"])("%s", (file) => {
    test.each(readCases(file).map((one) => [one.name, one] as const))("%s", async (_, one) => {
      await server.script(one.answers);
      const happened = await run(one, server.url);
      compare(one, happened, await server.log());
    });
  });
});

function compare({ expect: expected }: ClientCase, happened: Happened, log: readonly LoggedRequest[]): void {
  if (expected.error === undefined && happened.error !== undefined) throw happened.error;
  if (expected.attempts !== undefined) expect(log.length, "requests that arrived").toBe(expected.attempts);
  if (expected.delays !== undefined) {
    expect(happened.delays).toHaveLength(expected.delays.length);
    for (const [index, delay] of expected.delays.entries())
      expect(happened.delays[index]).toBeCloseTo(delay, 3);
  }
  if (expected.result !== undefined) expectContained(happened.result, expected.result);
  for (const name of expected.absent ?? []) expect(happened.result).not.toHaveProperty(name);
  if (expected.pages !== undefined) {
    expect((happened.given ?? []).map((page) => ids((page as { data: unknown[] }).data))).toEqual(
      expected.pages,
    );
  }
  if (expected.items !== undefined) expect(ids(happened.given ?? [])).toEqual(expected.items);
  if (expected.state !== undefined) expect(happened.state).toMatchObject(expected.state);
  if (expected.error !== undefined) compareError(expected.error, happened.error);
  for (const [index, request] of (expected.requests ?? []).entries()) {
    expect(log[index]).toMatchObject(request);
  }
  if (expected.idempotency_keys !== undefined) compareKeys(expected.idempotency_keys, log);
}

function compareError(expected: NonNullable<ClientCase["expect"]["error"]>, error: Error | undefined): void {
  if (error === undefined) throw new Error("The call succeeded, and should not have.");
  const { class: name, bases = [], ...fields } = expected;
  const classes = exported as unknown as Record<string, new () => Error>;
  if (name !== undefined) {
    expect(error.name).toBe(name);
    for (const one of [name, ...bases, "DevnorsDataError"]) expect(error).toBeInstanceOf(classes[one]);
  }
  expectContained(error, fields);
  expect(`${error.stack} ${JSON.stringify(error)}`).not.toContain(caseKey);
}

function compareKeys(expected: "one" | "each" | "none", log: readonly LoggedRequest[]): void {
  const keys = log.map(({ headers }) => headers["idempotency-key"]);
  if (expected === "none") expect(keys.filter(Boolean)).toEqual([]);
  else {
    expect(keys.every((key) => typeof key === "string" && key.length > 0)).toBe(true);
    expect(new Set(keys).size).toBe(expected === "one" ? 1 : log.length);
  }
}

/**
 * Compares field by field, so that non-enumerable fields are compared too. Our own field names are in
 * camelCase.
 */
function expectContained(actual: unknown, expected: object): void {
  for (const [name, value] of Object.entries(expected)) {
    const target = actual as Record<string, unknown>;
    const field = target[name] === undefined ? target[camelCase(name)] : target[name];
    if (typeof value === "object" && value !== null && !Array.isArray(value)) expectContained(field, value);
    else if (Array.isArray(value)) expect(field).toMatchObject(value);
    else expect(field, name).toBe(value);
  }
}

function ids(records: readonly unknown[]): unknown[] {
  return records.map((record) => (record as { id: unknown }).id);
}
