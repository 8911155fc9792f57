import type { Bilingual } from "@dataq/contract";
import { presets } from "../../connector/preset.ts";
import { openSets } from "../../importer/open-data/sets.ts";
import { operator } from "../../importer/publisher.ts";

/**
 * A publisher as people of each language call it. Vendors say it in their preset and publishers of open data in their
 * set; packages and repositories are called as they are, with the place where they are. Any other name stays.
 */
export function publisherName(name: string): Bilingual {
  known ??= new Map([
    [operator.name, { en: operator.name, zh: "本服务的运营方" }],
    ...openSets().flatMap(({ publishers }) =>
      publishers.flatMap(({ name, title }) => (title === undefined ? [] : [[name, title] as const])),
    ),
    ...presets().map(({ publisher }) => [publisher.zh, publisher] as const),
  ]);
  const found = known.get(name);
  if (found !== undefined) return found;
  const wheel = /^PyPI (.+)/.exec(name)?.[1];
  if (wheel !== undefined) return placed(wheel, "PyPI");
  if (/^[\w-]+\/[\w.-]+$/.test(name)) return placed(name, "GitHub");
  return { en: name, zh: name };
}

let known: ReadonlyMap<string, Bilingual> | undefined;

function placed(name: string, place: string): Bilingual {
  return { en: `${name} (${place})`, zh: `${name}（${place}）` };
}
