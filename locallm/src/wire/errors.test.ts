import { describe, expect, expectTypeOf, it } from "vitest";
import { LocallmError } from "./errors.ts";

describe("LocallmError", () => {
  it("fills in its message from the details and keeps the cause", () => {
    const cause = new Error("below");
    const error = new LocallmError("model_not_found", { model: "x" }, { cause });
    expect(error.message).toBe("model 'x' not found");
    expect(error.status).toBe(404);
    expect(error.cause).toBe(cause);
  });

  it("requires the details that its message names", () => {
    expectTypeOf<ConstructorParameters<typeof LocallmError<"model_not_found">>[1]>().toEqualTypeOf<
      Record<"model", string | number>
    >();
    // @ts-expect-error: a detail is missing
    expect(new LocallmError("model_not_found", {}).message).toBe("model '{model}' not found");
  });
});
