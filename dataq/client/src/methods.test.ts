import { operations } from "@dataq/contract";
import { describe, expect, expectTypeOf, test } from "vitest";
import { DataQuery, DataQuerySync, type IndexState, operationNames, type Result } from "./index.ts";

const asked: unknown[] = [];
const fetch = async (_url: string, init: RequestInit): Promise<Response> => {
  asked.push(JSON.parse(String(init.body)));
  return Response.json({ data: [], page: 1, total_pages: 0 });
};
const client = new DataQuery({ apiKey: "k", fetch });

describe("every operation of the contract", () => {
  test("has a name here", () => {
    expect([...operationNames]).toEqual(operations.map(({ name }) => name));
  });

  test.each(operations.map(({ name, domain, example }) => [name, domain, example] as const))(
    "%s is a method under its own name and under its domain, on both clients",
    async (name, domain, example) => {
      const short = name
        .slice(domain.length + 1)
        .replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
      for (const face of [DataQuery, DataQuerySync]) {
        expect(face.prototype).toHaveProperty(name);
        expect(new face({ apiKey: "k" })).toHaveProperty([domain, short]);
      }
      asked.length = 0;
      await (client as never as Record<string, (params: object) => Promise<unknown>>)[name]?.(example);
      await (client as never as Record<string, Record<string, (params: object) => Promise<unknown>>>)[
        domain
      ]?.[short]?.(example);
      const request = { domain, operation: name, params: example };
      expect(asked).toEqual([request, request]);
    },
  );
});

test("unknown names and options do not compile", () => {
  // The compiler is the test: each of these lines must be a type error. None of them runs.
  const calls = (sync: DataQuerySync): unknown[] => [
    // @ts-expect-error no such operation
    client.legal_lawz({ query: "x" }),
    // @ts-expect-error no such operation
    client.query("legal_lawz", { query: "x" }),
    // @ts-expect-error no such parameter
    client.legal_laws({ query: "x", court: "y" }),
    // @ts-expect-error a parameter is missing
    client.legal_laws({}),
    // @ts-expect-error a parameter of the wrong type
    client.legal_laws({ query: 1 }),
    // @ts-expect-error pages are numbers
    client.legal.laws({ query: "x", page: "2" }),
    // @ts-expect-error this operation has no parameters
    client.legal_law_catalog({ query: "x" }),
    // @ts-expect-error no such operation
    client.paginate("legal_lawz", { query: "x" }),
    // @ts-expect-error no such option
    client.paginate("legal_laws", { query: "x" }, { budget: 1 }),
    // @ts-expect-error the synchronous client has no signal
    sync.legal_laws({ query: "x" }, { signal: new AbortController().signal }),
    // @ts-expect-error the synchronous client has no fetch
    new DataQuerySync({ fetch }),
  ];
  expect(calls).toBeTypeOf("function");
});

test("answers have the type of their operation", () => {
  expectTypeOf(client.legal_laws).returns.resolves.toEqualTypeOf<Result<"legal_laws">>();
  expectTypeOf<Result<"legal_laws">["data"][number]["article_no"]>().toEqualTypeOf<string>();
  expectTypeOf<Result<"legal_laws">["data"][number]["chapter"]>().toEqualTypeOf<string | null>();
  expectTypeOf<Result<"legal_laws">["operation"]>().toEqualTypeOf<"legal_laws">();
  expectTypeOf<Result<"legal_laws">["response"]["requestId"]>().toEqualTypeOf<string | undefined>();
  expectTypeOf<Result<"enterprise_company_detail">["name"]>().toEqualTypeOf<string>();
  expectTypeOf<Result<"enterprise_shixin_check">["data"]>().items.toHaveProperty("case_no");
  expectTypeOf<
    NonNullable<Result<"enterprise_shixin_check">["summary"]>["listed"]
  >().toEqualTypeOf<boolean>();
  // Both the record and the envelope have an `index`. The envelope's field is on the result; the record's
  // field is under `data`.
  expectTypeOf<Result<"content_keyword_index">["index"]>().toEqualTypeOf<IndexState | undefined>();
  expectTypeOf<Result<"content_keyword_index">["data"]["index"]>().toEqualTypeOf<number>();
  expectTypeOf<DataQuerySync["legal_laws"]>().returns.toEqualTypeOf<Result<"legal_laws">>();
});
