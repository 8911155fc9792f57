import type { Bilingual } from "@dataq/contract";
import type { ArticleAct, ArticleVersion, LawTimeline, OfficialFact, StoredArticle } from "./corpus.ts";

/** The state of a law or of an article on a day. */
export interface Status {
  readonly status: "in_force" | "amended" | "repealed" | "not_yet_effective" | "unknown";
  readonly status_text: string;
  /** The evidence for the state, in plain words. */
  readonly status_basis: string;
  /** The same in Chinese. */
  readonly status_basis_zh: string;
}

/** The fields of a basis. */
export function basisOf({ en, zh }: Bilingual): Pick<Status, "status_basis" | "status_basis_zh"> {
  return { status_basis: en, status_basis_zh: zh };
}

/** The basis of a law's end. Where no act is known, the law's own history says it. */
export function repealBasis(date: string | null, by: string | null): Bilingual {
  const on = date === null ? "on an unknown day" : `on ${date}`;
  const since = date === null ? "" : `于 ${date} `;
  return by === null
    ? { en: `repealed ${on}, says the law's history`, zh: `据该法沿革，已${since}废止` }
    : { en: `repealed ${on} by 《${by}》`, zh: `已${since}被《${by}》废止` };
}

/** The basis of a wording that is in force since a day, which may be unknown. */
export function sinceBasis(date: string | null): Bilingual {
  return date === null
    ? { en: "in force since a later day", zh: "其后施行" }
    : { en: `in force since ${date}`, zh: `自 ${date} 起施行` };
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
  const shown = shownState(law, day, place);
  const { official } = law.versions[place] ?? {};
  if (official !== undefined) {
    const listed = listedStatus(law, official, day, place, shown);
    if (listed !== undefined) return listed;
  }
  return shown ?? toldOf(law, inForceOn(law.versions, day));
}

/** The state for which texts, acts and days are the evidence; undefined if only a pack tells it. */
function shownState(law: LawTimeline, day: string, place: number): Status | undefined {
  const { versions, repealed, newer } = law;
  if (isRepealed(law, day)) return repealedBy(repealed as Repealed);
  const from = startOf(versions[place]);
  if (from !== null && from > day) return notYet(from);
  const current = inForceOn(versions, day);
  if (place < current) return replacedBy(versions[place + 1] as Version);
  if (newer !== undefined && isNewerBy(law, day)) return newerThan(newer, law.newer_listed);
  return endingLater(law, current);
}

/**
 * The state that the official list gives a version. It outranks what packs say and what texts show, except what
 * happened after the list's day. Undefined for a day on which the list says nothing of the version.
 */
function listedStatus(
  law: LawTimeline,
  { state, on }: OfficialFact,
  day: string,
  place: number,
  shown: Status | undefined,
): Status | undefined {
  const { versions, repealed, newer, newer_from: newerFrom = newer } = law;
  const from = startOf(versions[place]);
  const isAfter = (date: string | null | undefined) => date != null && date > on && date <= day;
  if (isAfter(repealed?.date) || isAfter(newerFrom)) return undefined;
  if (versions.slice(place + 1).some((version) => isAfter(startOf(version)))) return undefined;
  // What is in force now was so since it took effect, and what is not yet was not; an end may have come at any time.
  if (day < on && state !== 4 && (state !== 3 || from === null || from > day)) return undefined;
  if (state === 1) return byList(on, "repealed", "已废止", shown);
  // Amended by a text that has not taken effect yet.
  if (state === 2 && shown?.status === "in_force") return byList(on, "in_force", "已修改", shown);
  // The list has the day from which it applies, too, and no law is in force before that.
  if (state !== 4 && from !== null && from > day) return undefined;
  if (state === 2)
    return law.amendments_known === true && place === versions.length - 1
      ? byList(on, "in_force", "已修改", shown, listedAmended)
      : byList(on, "amended", "已修改", shown);
  if (state === 3) return byList(on, "in_force", "有效", shown);
  return from !== null && from <= day
    ? byList(on, "in_force", "尚未生效", shown, sinceBasis(from))
    : byList(on, "not_yet_effective", "尚未生效", shown);
}

/** A state of the official list, with what else shows it. `word` is the list's own. */
function byList(
  on: string,
  status: Status["status"],
  word: string,
  shown: Status | undefined,
  also: Bilingual | undefined = shown?.status === status
    ? { en: shown.status_basis, zh: shown.status_basis_zh }
    : undefined,
): Status {
  const list = listBasis(on, word);
  const basis = also === undefined ? list : { en: `${list.en}; ${also.en}`, zh: `${list.zh}；${also.zh}` };
  const text = shown?.status === status ? shown.status_text : listedTexts[status];
  return { status, status_text: text, ...basisOf(basis) };
}

function listBasis(on: string, word: string): Bilingual {
  return {
    en: `official list of ${on}: ${listedWords[word] ?? word}`,
    zh: `国家法律法规数据库 ${on} 目录注明“${word}”`,
  };
}

const listedAmended: Bilingual = {
  en: "in force as amended, all amending acts are known",
  zh: "经修改后现行有效，历次修改文件均已知",
};
const listedWords: Readonly<Record<string, string>> = {
  已废止: "repealed",
  已修改: "amended since",
  有效: "in force",
  尚未生效: "not yet in force",
};
const listedTexts: Readonly<Record<Status["status"], string>> = {
  in_force: "现行有效",
  amended: "已修改",
  repealed: "已废止",
  not_yet_effective: "尚未施行",
  unknown: "未注明",
};

/** The state on a day of the wording in the version at `place`. */
export function articleStatus(article: StoredArticle, place: number, day: string): Status {
  const { versions, acts = [], newer } = article;
  const version = versions[place] as ArticleVersion;
  const current = inForceOn(versions, day);
  const ofLaw = lawStatus(article, day, current);
  const listed = versions[current]?.official;
  const isEnded = isRepealed(article, day) || (listed?.state === 1 && listed.on <= day);
  if (isEnded && ofLaw.status === "repealed") return ofLaw;
  if (version.content === null) return missing(version);
  const since = version.since === undefined ? version.effective_date : version.since;
  if (since !== null && since > day) {
    const isOfLaw = ofLaw.status === "not_yet_effective" && startOf(versions[current]) === since;
    return isOfLaw ? ofLaw : notYet(since);
  }
  const change = versions.slice(place + 1, current + 1).find(({ change: done }) => isNew(done));
  if (change !== undefined) return changedBy(change);
  const newest = versions.at(-1) as ArticleVersion;
  const last = newest.version_date ?? "";
  const act = acts.findLast(({ date, effective_date }) => date > last && (effective_date ?? date) <= day);
  if (act !== undefined) return changedByAct(act);
  // What the list calls in force on its day has no newer text that applied then.
  const isCurrent =
    listed?.state === 3 && listed.on <= day && (article.newer_from ?? newer ?? "") <= listed.on;
  if (newer !== undefined && isNewerBy(article, day) && !isCurrent)
    return newerThan(newer, article.newer_listed);
  // Which articles the newer text changed is not known.
  if (listed?.state === 2 && listed.on <= day && ofLaw.status === "amended") {
    const { en, zh } = listBasis(listed.on, "已修改");
    return unsure(`${en}; the newer text is not in the data`, `${zh}，新文本尚未收录`);
  }
  // The words are older than the oldest version held.
  if (ofLaw.status === "not_yet_effective" && since !== null) return inForce(sinceBasis(since));
  return ofLaw;
}

/** The version is in force because it is known when and by what it ends. */
function endingLater(
  { versions, repealed, newer, newer_from: newerFrom }: LawTimeline,
  current: number,
): Status | undefined {
  const next = versions[current + 1];
  const until = next === undefined ? null : startOf(next);
  if (next !== undefined && until !== null)
    return inForce({
      en: `in force until ${until}, when ${nameOf(next).en} takes effect`,
      zh: `${nameOf(next).zh}自 ${until} 起施行，此前有效`,
    });
  if (newer !== undefined && newerFrom !== undefined)
    return inForce({
      en: `in force until ${newerFrom}, when the version of ${newer} takes effect, which is not in the data`,
      zh: `该法 ${newer} 版本自 ${newerFrom} 起施行，此前有效；该版本尚未收录`,
    });
  if (repealed === undefined || repealed.date === null) return undefined;
  const { by, date } = repealed;
  return inForce({
    en: `in force until ${date}, when ${by === null ? "an act" : `《${by}》`} repeals it`,
    zh: by === null ? `自 ${date} 起废止，此前有效` : `自 ${date} 起被《${by}》废止，此前有效`,
  });
}

/** What the packs say of the law. They may repeat what was true of an older version. */
function toldOf({ versions, repealed, amendments_known: isTold }: LawTimeline, current: number): Status {
  const place = versions.findLastIndex(({ status_text }, at) => at <= current && status_text !== null);
  const text = versions[place]?.status_text ?? null;
  if (text === null)
    return unknown("未注明", { en: "no pack states the status", zh: "数据包均未注明时效性" });
  if (/废止|失效/.test(text))
    return repealed === undefined
      ? unsure(
          `the pack says ${text} (repealed); no repealing act is known`,
          `数据包注明“${text}”，未见废止该法的文件`,
        )
      : repealedBy(repealed);
  if (text === "历史版本" || text.includes("修改")) {
    // A law that was amended is still in force in its amended version.
    if (place < current) {
      const { en, zh } = nameOf(versions[current] as Version);
      return inForce({ en: `in force as amended: ${en}`, zh: `经修改后现行有效：${zh}` });
    }
    return isTold === true
      ? inForce({
          en: "in force as amended; all amending acts are known",
          zh: "经修改后现行有效，历次修改文件均已知",
        })
      : unsure(
          `the pack says ${text} (amended); no newer version is known`,
          `数据包注明“${text}”，未见新版本`,
        );
  }
  if (place < current)
    return unknown("未注明", {
      en: "the pack states the status of an older version only",
      zh: "数据包仅注明旧版本的时效性",
    });
  const told = `数据包注明“${text}”`;
  return text.includes("有效")
    ? inForce({ en: `the pack says ${text} (in force)`, zh: told }, text)
    : unknown(text, { en: `the pack says ${text}`, zh: told });
}

type Version = LawTimeline["versions"][number];
type Repealed = NonNullable<LawTimeline["repealed"]>;

/** The day from which a version applies; where it is not known, the day on which it was passed. */
function startOf(version: Version | undefined): string | null {
  return version?.effective_date ?? version?.version_date ?? null;
}

function nameOf({ version_date: date }: Version): Bilingual {
  return date === null
    ? { en: "a newer version", zh: "该法新版本" }
    : { en: `the version of ${date}`, zh: `该法 ${date} 版本` };
}

/** Whether a text that is not held applies on a day. */
function isNewerBy({ newer, newer_from: from }: LawTimeline, day: string): boolean {
  return (from ?? newer ?? "") <= day;
}

function isRepealed({ repealed }: LawTimeline, day: string): boolean {
  return repealed !== undefined && repealed.date !== null && repealed.date <= day;
}

function repealedBy({ by, date }: Repealed): Status {
  const text = by === null ? "已废止" : `已被《${by}》废止`;
  return { status: "repealed", status_text: text, ...basisOf(repealBasis(date, by)) };
}

function replacedBy(next: Version): Status {
  const from = startOf(next);
  const { en, zh } = nameOf(next);
  const basis = {
    en: `replaced on ${from ?? "an unknown day"} by ${en}`,
    zh: from === null ? `已被${zh}取代` : `已于 ${from} 被${zh}取代`,
  };
  return { status: "amended", status_text: "历史版本", ...basisOf(basis) };
}

function newerThan(date: string, listed?: string): Status {
  const [en, zh] =
    listed === undefined
      ? ["", ""]
      : [`official list of ${listed}: `, `国家法律法规数据库 ${listed} 目录载明，`];
  return unsure(
    `${en}there is a version of ${date}, which is not in the data`,
    `${zh}另有 ${date} 的版本，尚未收录`,
  );
}

function missing({ moved_to, change, version_date: date }: ArticleVersion): Status {
  const { en, zh } = laterVersion(date, "an unknown day");
  return moved_to !== undefined && change === "renumbered"
    ? {
        status: "amended",
        status_text: `本条已调整为${moved_to}`,
        ...basisOf({ en: `renumbered by ${en}`, zh: `${zh}调整了条号` }),
      }
    : { status: "repealed", status_text: "本条已删去", ...lacking({ en, zh }) };
}

function changedBy({ change, version_date: date }: ArticleVersion): Status {
  const { en, zh } = laterVersion(date, "a later day");
  return change === "repealed"
    ? { status: "repealed", status_text: `本条已于${date ?? "其后"}删去`, ...lacking({ en, zh }) }
    : {
        status: "amended",
        status_text: `本条已于${date ?? "其后"}修改`,
        ...basisOf({ en: `changed by ${en}`, zh: `${zh}修改了本条` }),
      };
}

function laterVersion(date: string | null, unknownDay: string): Bilingual {
  return { en: `the version of ${date ?? unknownDay}`, zh: date === null ? "其后的版本" : `${date} 版本` };
}

function lacking({ en, zh }: Bilingual): ReturnType<typeof basisOf> {
  return basisOf({ en: `${en} lacks the article`, zh: `${zh}没有本条` });
}

function changedByAct({ change, by, date }: ArticleAct): Status {
  const act = by === null ? date : `《${by}》`;
  const en = by === null ? `the act of ${date}` : `《${by}》 of ${date}`;
  const zh = by === null ? ` ${date} 的修改文件` : `《${by}》（${date}）`;
  return change === "repealed"
    ? {
        status: "repealed",
        status_text: `已被${act}删去`,
        ...basisOf({ en: `struck out by ${en}`, zh: `已被${zh}删去` }),
      }
    : {
        status: "amended",
        status_text: `已被${act}修改`,
        ...basisOf({ en: `changed by ${en}`, zh: `已被${zh}修改` }),
      };
}

function isNew(change: ArticleVersion["change"]): boolean {
  return change !== "unchanged" && change !== null;
}

function notYet(from: string): Status {
  const basis = { en: `takes effect on ${from}`, zh: `自 ${from} 起施行` };
  return { status: "not_yet_effective", status_text: "尚未施行", ...basisOf(basis) };
}

function unknown(text: string, basis: Bilingual): Status {
  return { status: "unknown", status_text: text, ...basisOf(basis) };
}

/** A state that is unknown for a reason that its text says, too. */
function unsure(en: string, zh: string): Status {
  return unknown(zh, { en, zh });
}

function inForce(basis: Bilingual, text = "现行有效"): Status {
  return { status: "in_force", status_text: text, ...basisOf(basis) };
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
