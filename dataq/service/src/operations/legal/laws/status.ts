import type { ArticleAct, ArticleVersion, LawFacts, StoredArticle } from "./corpus.ts";

export interface Status {
  readonly status: "in_force" | "amended" | "repealed" | "not_yet_effective" | "unknown";
  readonly status_text: string;
}

/** Index of the version in force on a day: the last that has taken effect, or else the first. */
export function inForceOn(versions: readonly ArticleVersion[], today: string): number {
  for (let place = versions.length - 1; place > 0; place--) {
    const effective = versions[place]?.effective_date ?? versions[place]?.version_date ?? null;
    if (effective === null || effective <= today) return place;
  }
  return 0;
}

/** Today's status of the wording in the version at `place`. */
export function articleStatus(article: StoredArticle, place: number, today: string): Status {
  const { versions, acts = [], repealed, newer } = article;
  const version = versions[place] as ArticleVersion;
  if (isRepealed(repealed, today)) return repealedBy(repealed?.by ?? null);
  if (version.content === null) return missing(version);
  const since = version.since === undefined ? version.effective_date : version.since;
  if (since !== null && since > today) return notYet;
  const change = versions
    .slice(place + 1, inForceOn(versions, today) + 1)
    .find(({ change: done }) => isNew(done));
  if (change !== undefined) return changedBy(change);
  const newest = versions.at(-1) as ArticleVersion;
  const day = newest.version_date ?? "";
  const act = acts.findLast(({ date, effective_date }) => date > day && (effective_date ?? date) <= today);
  if (act !== undefined) return changedByAct(act);
  if (newer !== undefined && newer <= today)
    return { status: "unknown", status_text: `另有${newer}的版本，尚未收录` };
  return lawStatus(article, today);
}

/**
 * The status of a version of a law, for the catalogue. `isNewest` means that no later version has taken
 * effect.
 */
export function entryStatus(
  facts: LawFacts & Pick<StoredArticle, "repealed">,
  isNewest: boolean,
  today: string,
): Status {
  const { status_text: text, effective_date: effective, repealed } = facts;
  if (isRepealed(repealed, today)) return repealedBy(repealed?.by ?? null);
  if (effective !== null && effective > today) return notYet;
  if (!isNewest) return { status: "amended", status_text: text ?? "历史版本" };
  return text === null ? unknown : readStatus(text);
}

/** The status of the law according to the packs. */
function lawStatus({ versions, amendments_known: isTold }: StoredArticle, today: string): Status {
  const current = inForceOn(versions, today);
  const place = versions.findLastIndex(({ status_text }, at) => at <= current && status_text !== null);
  if (place === -1) return unknown;
  const text = versions[place]?.status_text as string;
  const told = readStatus(text);
  // A law that was amended is still in force in its amended version.
  if (place < current)
    return told.status === "amended" ? inForce : told.status === "repealed" ? told : unknown;
  const isReplacedLater = text === "历史版本" && current < versions.length - 1;
  return told.status === "amended" && (isTold === true || isReplacedLater) ? inForce : told;
}

function readStatus(text: string): Status {
  if (text.includes("废止") || text.includes("失效")) return { status: "repealed", status_text: text };
  if (text === "历史版本" || text.includes("修改")) return { status: "amended", status_text: text };
  if (text.includes("有效")) return { status: "in_force", status_text: text };
  return { status: "unknown", status_text: text };
}

function isRepealed(repealed: StoredArticle["repealed"], today: string): boolean {
  return repealed !== undefined && (repealed.date === null || repealed.date <= today);
}

function repealedBy(by: string | null): Status {
  return { status: "repealed", status_text: by === null ? "已废止" : `已被《${by}》废止` };
}

function missing({ moved_to, change }: ArticleVersion): Status {
  return moved_to !== undefined && change === "renumbered"
    ? { status: "amended", status_text: `本条已调整为${moved_to}` }
    : { status: "repealed", status_text: "本条已删去" };
}

function changedBy({ change, version_date: date }: ArticleVersion): Status {
  return change === "repealed"
    ? { status: "repealed", status_text: `本条已于${date ?? "其后"}删去` }
    : { status: "amended", status_text: `本条已于${date ?? "其后"}修改` };
}

function changedByAct({ change, by, date }: ArticleAct): Status {
  const act = by === null ? date : `《${by}》`;
  return change === "repealed"
    ? { status: "repealed", status_text: `已被${act}删去` }
    : { status: "amended", status_text: `已被${act}修改` };
}

function isNew(change: ArticleVersion["change"]): boolean {
  return change !== "unchanged" && change !== null;
}

const notYet: Status = { status: "not_yet_effective", status_text: "尚未施行" };
const unknown: Status = { status: "unknown", status_text: "未注明" };
const inForce: Status = { status: "in_force", status_text: "现行有效" };

export function levelOf(text: string | null): string {
  return levels.find(([name]) => text?.includes(name))?.[1] ?? "other";
}

const levels: readonly (readonly [string, string])[] = [
  ["宪法", "constitution"],
  ["行政法规", "administrative_regulation"],
  ["司法解释", "judicial_interpretation"],
  ["地方", "local"],
  ["规章", "departmental_rule"],
  ["法律", "law"],
];
