import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { makeFormat, TOKENS_PER_YUAN } from "./format.tsx";

const run = { seed: 20_260_310 };
const locales = { en: "en-GB", zh: "zh-CN" } as const;
const amount = fc.integer({ min: -1e12, max: 1e12 });

describe.each(["en", "zh"] as const)("numbers and moments in %s", (language) => {
  const format = makeFormat(language);
  const locale = locales[language];

  test("match the language's own tables, except for the minus", () => {
    const whole = new Intl.NumberFormat(locale, { maximumFractionDigits: 0 });
    const percent = new Intl.NumberFormat(locale, { style: "percent", maximumFractionDigits: 1 });
    fc.assert(
      fc.property(amount, fc.integer({ min: 0, max: 1000 }), (value, thousandths) => {
        expect(format.tokens(value)).toBe(whole.format(value).replace("-", "−"));
        expect(format.percent(thousandths / 1000)).toBe(percent.format(thousandths / 1000));
      }),
      run,
    );
  });

  test("yuan have two digits, four below a fen", () => {
    const yuan = new Intl.NumberFormat(locale, { minimumFractionDigits: 2, maximumFractionDigits: 2 });
    fc.assert(
      fc.property(fc.integer({ min: -1e7, max: 1e7 }), (fen) => {
        const text = yuan.format(Math.abs(fen) / 100);
        expect(format.yuan((fen / 100) * TOKENS_PER_YUAN)).toBe(`${fen < 0 ? "−" : ""}¥${text}`);
      }),
      run,
    );
    expect([0, 250, 25, -5].map(format.yuan)).toEqual(["¥0.00", "¥0.005", "¥0.0005", "−¥0.0001"]);
  });

  test("a moment is shown in China's time", () => {
    expect(format.moment("2026-03-10T16:00:01.999Z")).toBe("2026-03-11 00:00:01");
    expect(format.moment(null)).toBe("–");
  });
});
