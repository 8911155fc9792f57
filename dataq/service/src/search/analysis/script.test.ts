import { Converter } from "opencc-js/cn2t";
import { expect, test } from "vitest";
import { builtInLexicon } from "../../operations/legal/lexicon/lexicon.ts";
import { simplified } from "./script.ts";

test("words of the law in traditional characters of Taiwan and Hong Kong are the law's words", () => {
  const words =
    "强制执行 执行和解 个人资料 档案 储存 复制 程序 文件 宣告破产 征收 合伙人 用于 卫生 装置 指标 查询".split(
      " ",
    );
  const terms = builtInLexicon().rows.flatMap((row) => row.terms);
  for (const to of ["tw", "hk"]) {
    const traditional = Converter({ from: "cn", to });
    const wrong = [...new Set([...words, ...terms])].filter((word) => simplified(traditional(word)) !== word);
    // Characters that also occur in simplified texts are left as they are, if nothing else is traditional.
    expect(wrong.filter((word) => !/[干着了复借折背]/.test(word))).toEqual([]);
  }
});

test("words that only Taiwan uses become those of the mainland", () => {
  expect(simplified("軟體")).toBe("软件");
  expect(simplified("積體電路")).toBe("集成电路");
  expect(simplified("著作权")).toBe("著作权");
});
