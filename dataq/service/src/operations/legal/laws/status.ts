import type { ArticleAct, ArticleVersion, LawTimeline, StoredArticle } from "./corpus.ts";

/** The state of a law or of an article on a day. */
export interface Status {
  readonly status: "in_force" | "amended" | "repealed" | "not_yet_effective" | "unknown";
  readonly status_text: string;
  /** The evidence for the state, in plain words. */
  readonly status_basis: string;
}

/** Index of the version in force on a day: the last that has taken effect, or else the first. */
export function inForceOn(versions: LawTimeline["versions"], day: string): number {
  for (let place = versions.length - 1; place > 0; place--) {
    const from = startOf(versions[place]);
    if (from === null || from <= day) return place;
  }
  return 0;
}

/**
 * The state of a law on a day, as the version at `place` has it; by default the version in force then. The catalogue,
 * the search and the citation check all ask here. A state that denies the law (repealed, amended, not yet effective)
 * names its evidence: the repealing act, a newer version or a day. What a pack says without it is `unknown`.
 */
export function lawStatus(law: LawTimeline, day: string, place = inForceOn(law.versions, day)): Status {
  const { versions, repealed, newer } = law;
  if (isRepealed(law, day)) return repealedBy(repealed as Repealed);
  const from = startOf(versions[place]);
  if (from !== null && from > day) return notYet(from);
  const current = inForceOn(versions, day);
  if (place < current) return replacedBy(versions[place + 1] as Version);
  if (newer !== undefined && newer <= day) return newerThan(newer);
  return endingLater(law, current) ?? toldOf(law, current);
}

/** The state on a day of the wording in the version at `place`. */
export function articleStatus(article: StoredArticle, place: number, day: string): Status {
  const { versions, acts = [], newer } = article;
  const version = versions[place] as ArticleVersion;
  const current = inForceOn(versions, day);
  const ofLaw = lawStatus(article, day, current);
  if (isRepealed(article, day)) return ofLaw;
  if (version.content === null) return missing(version);
  const since = version.since === undefined ? version.effective_date : version.since;
  if (since !== null && since > day) return notYet(since);
  const change = versions.slice(place + 1, current + 1).find(({ change: done }) => isNew(done));
  if (change !== undefined) return changedBy(change);
  const newest = versions.at(-1) as ArticleVersion;
  const last = newest.version_date ?? "";
  const act = acts.findLast(({ date, effective_date }) => date > last && (effective_date ?? date) <= day);
  if (act !== undefined) return changedByAct(act);
  if (newer !== undefined && newer <= day) return newerThan(newer);
  // The words are older than the oldest version held.
  if (ofLaw.status === "not_yet_effective" && since !== null) return inForce(`in force since ${since}`);
  return ofLaw;
}

/** The version is in force because it is known when and by what it ends. */
function endingLater({ versions, repealed }: LawTimeline, current: number): Status | undefined {
  const next = versions[current + 1];
  const until = next === undefined ? null : startOf(next);
  if (next !== undefined && until !== null)
    return inForce(`in force until ${until}, when ${nameOf(next)} takes effect`);
  if (repealed === undefined || repealed.date === null) return undefined;
  return inForce(`in force until ${repealed.date}, when ${nameOfAct(repealed.by)} repeals it`);
}

/** What the packs say of the law. They may repeat what was true of an older version. */
function toldOf({ versions, repealed, amendments_known: isTold }: LawTimeline, current: number): Status {
  const place = versions.findLastIndex(({ status_text }, at) => at <= current && status_text !== null);
  const text = versions[place]?.status_text ?? null;
  if (text === null) return unknown("未注明", "no pack states the status");
  if (/废止|失效/.test(text))
    return repealed === undefined
      ? unknown(
          `数据包注明“${text}”，未见废止该法的文件`,
          `the pack says ${text} (repealed); no repealing act is known`,
        )
      : repealedBy(repealed);
  if (text === "历史版本" || text.includes("修改")) {
    // A law that was amended is still in force in its amended version.
    if (place < current) return inForce(`in force as amended: ${nameOf(versions[current] as Version)}`);
    return isTold === true
      ? inForce("in force as amended; all amending acts are known")
      : unknown(
          `数据包注明“${text}”，未见新版本`,
          `the pack says ${text} (amended); no newer version is known`,
        );
  }
  if (place < current) return unknown("未注明", "the pack states the status of an older version only");
  return text.includes("有效")
    ? inForce(`the pack says ${text} (in force)`, text)
    : unknown(text, `the pack says ${text}`);
}

type Version = LawTimeline["versions"][number];
type Repealed = NonNullable<LawTimeline["repealed"]>;

/** The day from which a version applies; where it is not known, the day on which it was passed. */
function startOf(version: Version | undefined): string | null {
  return version?.effective_date ?? version?.version_date ?? null;
}

function nameOf({ version_date: date }: Version): string {
  return date === null ? "a newer version" : `the version of ${date}`;
}

function nameOfAct(by: string | null): string {
  return by === null ? "an act" : `《${by}》`;
}

function isRepealed({ repealed }: LawTimeline, day: string): boolean {
  return repealed !== undefined && repealed.date !== null && repealed.date <= day;
}

function repealedBy({ by, date }: Repealed): Status {
  const on = date === null ? "on an unknown day" : `on ${date}`;
  const basis = by === null ? `repealed ${on}, says the law's history` : `repealed ${on} by 《${by}》`;
  return {
    status: "repealed",
    status_text: by === null ? "已废止" : `已被《${by}》废止`,
    status_basis: basis,
  };
}

function replacedBy(next: Version): Status {
  const from = startOf(next) ?? "an unknown day";
  return {
    status: "amended",
    status_text: "历史版本",
    status_basis: `replaced on ${from} by ${nameOf(next)}`,
  };
}

function newerThan(date: string): Status {
  return unknown(`另有${date}的版本，尚未收录`, `there is a version of ${date}, which is not in the data`);
}

function missing({ moved_to, change, version_date: date }: ArticleVersion): Status {
  const version = `the version of ${date ?? "an unknown day"}`;
  return moved_to !== undefined && change === "renumbered"
    ? { status: "amended", status_text: `本条已调整为${moved_to}`, status_basis: `renumbered by ${version}` }
    : { status: "repealed", status_text: "本条已删去", status_basis: `${version} lacks the article` };
}

function changedBy({ change, version_date: date }: ArticleVersion): Status {
  const version = `the version of ${date ?? "a later day"}`;
  return change === "repealed"
    ? {
        status: "repealed",
        status_text: `本条已于${date ?? "其后"}删去`,
        status_basis: `${version} lacks the article`,
      }
    : {
        status: "amended",
        status_text: `本条已于${date ?? "其后"}修改`,
        status_basis: `changed by ${version}`,
      };
}

function changedByAct({ change, by, date }: ArticleAct): Status {
  const act = by === null ? date : `《${by}》`;
  const told = by === null ? `the act of ${date}` : `《${by}》 of ${date}`;
  return change === "repealed"
    ? { status: "repealed", status_text: `已被${act}删去`, status_basis: `struck out by ${told}` }
    : { status: "amended", status_text: `已被${act}修改`, status_basis: `changed by ${told}` };
}

function isNew(change: ArticleVersion["change"]): boolean {
  return change !== "unchanged" && change !== null;
}

function notYet(from: string): Status {
  return { status: "not_yet_effective", status_text: "尚未施行", status_basis: `takes effect on ${from}` };
}

function unknown(text: string, basis: string): Status {
  return { status: "unknown", status_text: text, status_basis: basis };
}

function inForce(basis: string, text = "现行有效"): Status {
  return { status: "in_force", status_text: text, status_basis: basis };
}

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
