import { describe, expect, expectTypeOf, it } from "vitest";
import { type ErrorCode, errors, LocallmError } from "./errors.ts";

describe("LocallmError", () => {
  it("fills in its message from the details and keeps the cause", () => {
    const cause = new Error("below");
    const error = new LocallmError("model_not_found", { model: "x" }, { cause });
    expect(error.message).toBe("model 'x' not found");
    expect(error.status).toBe(404);
    expect(error.cause).toBe(cause);
  });

  it.each(Object.keys(errors) as ErrorCode[])("%s has no plural after 1", (code) => {
    const names = [...errors[code].message.matchAll(/\{(\w+)/g)].map(([, name]) => [name!, 1]);
    const { message } = new LocallmError(code, Object.fromEntries(names) as never);
    // Words in s that are no plural here; there are always several attempts.
    expect(message).not.toMatch(/\b1 (?!(?:is|has|does|needs|accepts|attempts|ms)\b)\w+s\b/);
  });

  it.each(Object.keys(errors) as ErrorCode[])(
    "%s says in Chinese no detail that it does not have",
    (code) => {
      const { message, zh = "" }: { message: string; zh?: string } = errors[code];
      const namesOf = (text: string) => [...text.matchAll(/\{(\w+)/g)].map(([, name]) => name!);
      expect(namesOf(message)).toEqual(expect.arrayContaining(namesOf(zh)));
      // Chinese punctuation, and nothing of the English form for counts.
      expect(zh).not.toMatch(/[\u4e00-\u9fff][,;:?!]|\|/);
    },
  );

  it("counts nothing and many in the plural", () => {
    const said = (limit: number) => new LocallmError("content_too_long", { limit }).message;
    expect(said(0)).toBe("content has more than 0 tokens; split it into several requests");
    expect(said(1)).toBe("content has more than 1 token; split it into several requests");
    expect(said(21)).toBe("content has more than 21 tokens; split it into several requests");
  });

  it("requires the details that its message names", () => {
    expectTypeOf<ConstructorParameters<typeof LocallmError<"model_not_found">>[1]>().toEqualTypeOf<
      Record<"model", string | number>
    >();
    // @ts-expect-error: a detail is missing
    expect(new LocallmError("model_not_found", {}).message).toBe("model '{model}' not found");
  });
});
