import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { LocallmError } from "./errors.ts";
import { reasonInChinese, reasons } from "./reasons.ts";

const source = join(import.meta.dirname, "..");

describe("reasons in Chinese", () => {
  it("each is found as itself, and no earlier one stands before it", () => {
    for (const [english, chinese] of reasons) {
      const made = (text: string) => text.replaceAll(/\{(\w+)\}/g, (_, name: string) => `<${name}>`);
      // A clause that nobody of us wrote is a quotation.
      const shown = made(chinese).replaceAll(/“?<(why|reason|words|source|type|other)>”?/g, "“<$1>”");
      expect(reasonInChinese(made(english))).toBe(shown);
    }
  });

  it("has those that are written in the code that answers the chat page", () => {
    const files = ["http/*.ts", "http/native/*.ts", "wire/*.ts", "wire/api/*.ts", "engine/grammar/*.ts"];
    const found = globSync(files, { cwd: source })
      .filter((file) => !/test|remotes?\.ts|rerank/.test(file))
      .flatMap((file) => [
        ...readFileSync(join(source, file), "utf8").matchAll(
          /(?:(?:problem|reason): |return |invalidGrammar\()"((?:is|must|needs|cannot|it|the) [^"$]+)"/g,
        ),
      ])
      .map(([, text]) => JSON.parse(`"${text}"`) as string);
    expect(found.length).toBeGreaterThan(10);
    expect(found.filter((text) => /“[a-z ]/.test(reasonInChinese(text)))).toEqual([]);
  });

  it("translates what is inside a reason, and quotes what a parser or a registry said", () => {
    const reach = new LocallmError("source_unreachable", {
      host: "hub.example",
      reason: "the connection was refused (ECONNREFUSED) (by the proxy 10.0.0.1:3128)",
    });
    expect(reach.chinese).toBe("连接不上 hub.example：连接被拒绝（ECONNREFUSED）（经代理 10.0.0.1:3128）");
    const long = new LocallmError("prompt_over_limit", {
      ...{ promptTokens: 9_000, contextLength: 2048 },
      advice:
        "shorten it: a window of 16384 tokens needs 9.1 GiB of memory, 4.0 GiB is available (LOCALLM_CONTEXT_LENGTH=auto)",
    });
    expect(long.chinese).toContain("16384 个 token 的窗口需要 9.1 GiB 内存，可用 4.0 GiB");
    const union = new LocallmError("invalid_field", {
      field: "stop",
      problem: "must be a string or an array",
    });
    expect(union.chinese).toBe("stop 无效：必须是字符串或数组");
    const hub = new LocallmError("source_failed", {
      host: "hub.example",
      reason: "it answered 404: no such tag",
    });
    expect(hub.chinese).toBe("hub.example 的应答无效：返回 404：“no such tag”");
    const parser = new LocallmError("template_invalid", { problem: "Expected {% endif %}" });
    expect(parser.chinese).toBe("模板有误：“Expected {% endif %}”");
  });
});
