import { expect, test } from "vitest";
import { builtInLexicon } from "../../operations/legal/lexicon/lexicon.ts";
import { Analyser } from "./analyser.ts";

test("a dictionary that is read in pieces cuts every text of the lexicon as one that is read at once", async () => {
  const words = ["刮码骗", "开锁师傅"];
  const [pieces, whole] = [await Analyser.load("test", words), new Analyser("test", words)];
  const texts = [...builtInLexicon().rows.flatMap(({ terms }) => terms), "开锁师傅说刮码骗是民间借贷"];
  for (const text of texts) {
    expect(pieces.documentTerms(text, { withPairs: true })).toEqual(
      whole.documentTerms(text, { withPairs: true }),
    );
    expect(pieces.phraseTerms(text)).toEqual(whole.phraseTerms(text));
  }
});
