import { findOperation } from "@dataq/contract";
import type { Target } from "../../../fuzz/target.ts";
import { NotReadable } from "../src/connector/adapter.ts";
import { mappedAdapter } from "../src/connector/mapping/mapped-adapter.ts";
import { operationMapping } from "../src/connector/mapping/mapping-file.ts";
import { presetFile, presets } from "../src/connector/preset.ts";

interface Case {
  readonly preset?: Record<string, unknown>;
  readonly answers?: unknown;
}

/**
 * The description of a vendor, and what the vendor answers. A description that is accepted asks only addresses of http,
 * ends after a bounded number of requests, and no answer makes it throw.
 */
export const target: Target = {
  covers: ["dataq/service/src/connector/mapping", "dataq/service/src/connector/preset.ts"],
  seeds: presets().map((preset) =>
    JSON.stringify({
      preset: { ...preset, about: undefined, documents: [] },
      answers: [
        {
          status: 200,
          text: { data: [{ id: "1", name: "x", date: "2024-03-01" }], total: 1, error_code: 0, result: {} },
        },
        { status: 500, text: "no" },
      ],
    }),
  ),
  words: [
    "{page}",
    "{cursor}",
    "{base}",
    "{query}",
    "as",
    "epoch_ms",
    "number",
    "each",
    "path",
    "0",
    "data",
    "200",
  ],
  longest: 12_000,
  bounds: { ms: 300, mib: 64 },
  async read(input) {
    const { preset, answers } = caseIn(input);
    const parsed = presetFile.safeParse(preset);
    if (!parsed.success) return;
    const { operations, base = "https://vendor.example" } = parsed.data;
    for (const [operation, mapping] of Object.entries(operations)) {
      const checked = operationMapping.safeParse(mapping);
      if (!checked.success) continue;
      let asked = 0;
      const credentials = Object.fromEntries(
        Object.keys(parsed.data.credentials).map((name) => [name, `secret-${name}`]),
      );
      const adapter = mappedAdapter({
        ...{ operation, mapping: checked.data, shared: parsed.data, credentials, constants: { base } },
        now: () => new Date(0),
      });
      const example = findOperation(operation)!.example as Record<string, unknown>;
      const params = Object.fromEntries(
        Object.entries(example).map(([name, value]) => [name, String(value)]),
      );
      await adapter.ask({ ...params, page: "2", page_size: "20" }, async ({ headers }) => {
        if (++asked > 40) throw new TypeError(`${operation} asks more than 40 times for one page.`);
        for (const value of Object.values(headers)) value.toString();
        const { status, text } = (answers[asked % Math.max(1, answers.length)] ?? {}) as {
          status?: unknown;
          text?: unknown;
        };
        return {
          status: Number.isInteger(status) ? (status as number) : 200,
          headers: {},
          text: typeof text === "string" ? text : (JSON.stringify(text) ?? "{}"),
        };
      });
    }
  },
  refuses: (error) => error instanceof NotReadable,
};

function caseIn(input: Buffer): { preset: unknown; answers: readonly unknown[] } {
  try {
    const { preset, answers } = (JSON.parse(input.toString()) ?? {}) as Case;
    return { preset, answers: Array.isArray(answers) ? answers : [] };
  } catch {
    return { preset: undefined, answers: [] };
  }
}
