import { chinaDate } from "@dataq/contract";
import { readConfig } from "../../src/config.ts";
import { inEnglish } from "../../src/importer/message.ts";
import {
  kindGroups,
  type ListedLaw,
  type ListPage,
  type ListQuestion,
  listBody,
  listPath,
  readListPage,
} from "../../src/importer/national-laws/list-page.ts";
import { readText } from "../../src/importer/national-laws/read-text.ts";
import { findSet, type LiveSet } from "../../src/importer/open-data/sets.ts";
import { PoliteClient } from "../../src/importer/origin/polite-client.ts";
import { readLawText } from "../../src/operations/legal/laws/import/law-text.ts";
import { paceMs } from "../../src/operations/legal/laws/official/national-laws.ts";
import { levelOfKind } from "../../src/operations/legal/laws/official/text-order.ts";

/** Two pages of the list, the filters of state and kind, and three texts: ten requests, one a second. */
export async function askNationalLaws(print: (line: string) => void): Promise<void> {
  const set = findSet("national-laws") as LiveSet;
  const { nationalLaws: standIn } = readConfig();
  const client = new PoliteClient({
    publisher: set.title,
    address: standIn?.address ?? set.address,
    referer: set.address,
    paceMs: standIn?.paceMs ?? paceMs,
    progress: (message) => print(inEnglish(message)),
  });
  try {
    print(`${standIn === undefined ? set.address : `a stand-in at ${standIn.address}`}, ten requests\n`);
    print("| question | total | rows | ms |");
    print("| --- | --- | --- | --- |");
    const ask = async (name: string, question: ListQuestion, page: number): Promise<ListPage> => {
      const begun = performance.now();
      const what = { en: name, zh: name };
      const answer = readListPage(
        set.title,
        what,
        await client.json(what, listPath, listBody(question, page)),
      );
      print(
        `| ${name} | ${answer.total} | ${answer.laws.length} | ${Math.round(performance.now() - begun)} |`,
      );
      return answer;
    };
    const first = await ask("page 1 of the list", {}, 1);
    const second = await ask("page 2 of the list", {}, 2);
    const coming = await ask("page 1 of what is not yet in force", { states: [4] }, 1);
    const national = await ask("page 1 of national kinds", { kinds: kindGroups.slice(0, -1).flat() }, 1);
    const pages = [first, second, coming, national];
    const laws = [...new Map(pages.flatMap((page) => page.laws).map((law) => [law.id, law])).values()];
    print("");
    const again = new Set(first.laws.map(({ id }) => id));
    print(
      `Page 2 has ${second.laws.filter(({ id }) => !again.has(id)).length} documents that page 1 has not.`,
    );
    print(
      `The filter of states is ${coming.total < first.total && coming.laws.every(({ state }) => state === 4) ? "obeyed" : "NOT obeyed"}, that of kinds ${national.total < first.total ? "obeyed" : "NOT obeyed"}.`,
    );
    print(`Kinds: ${[...new Set(laws.map(({ kind }) => `${kind} (${levelOfKind(kind)})`))].join(", ")}.`);
    print(
      `Without a state ${laws.filter(({ state }) => state === null).length}, without a day of promulgation ${laws.filter(({ promulgated }) => promulgated === null).length}, of effect ${laws.filter(({ inForceFrom }) => inForceFrom === null).length}, of ${laws.length}.`,
    );
    print("\n| text | kind | promulgated | state | paragraphs | articles |");
    print("| --- | --- | --- | --- | --- | --- |");
    for (const law of ofEachLevel(laws)) {
      const { paragraphs, lacks } = await readText(client, set.title, law, chinaDate(new Date()));
      const { articles } = readLawText((paragraphs ?? []).join("\n"));
      print(
        `| ${law.title} | ${law.kind} | ${law.promulgated} | ${law.state} | ${paragraphs?.length ?? `none: ${lacks}`} | ${articles.length} |`,
      );
    }
    print(`\n${client.asked} requests.`);
  } finally {
    client.close();
  }
}

/** A law, a regulation and an interpretation, or others where there is none. */
function ofEachLevel(laws: readonly ListedLaw[]): readonly ListedLaw[] {
  const chosen = ["法律", "行政法规", "司法解释"].flatMap(
    (level) => laws.find(({ kind }) => levelOfKind(kind) === level) ?? [],
  );
  return [...new Set([...chosen, ...laws])].slice(0, 3);
}
