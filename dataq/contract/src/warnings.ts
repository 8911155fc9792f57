import type { Bilingual, Language } from "./bilingual.ts";
import { fill } from "./failure.ts";

/**
 * Every warning of an answer, in both languages. `{name}` is filled from the warning's values as in the error table. An
 * answer is kept with codes and values, so that each caller of a kept answer reads it in the own language.
 */
export const warnings = {
  parameter_ignored: row("{param} is not a parameter; it was ignored.", "参数 {param} 不存在，已忽略。"),
  organisation_code: row(
    "Characters 9 to 17 of tax_id are not a valid organisation code. Check the tax_id for typing errors.",
    "tax_id 的第 9 至 17 位不是有效的组织机构代码，请检查是否输错。",
  ),

  samples: row(
    "These records are generated samples, not facts. The call is free.",
    "这些记录是生成的样例，并非真实数据，未扣费。",
  ),
  some_samples: row(
    "{count|of these records is a generated sample|of these records are generated samples}; see the field source.",
    "其中 {count} 条是生成的样例，见 source 字段。",
  ),
  sample_older: row("The newest sample is from {date}.", "最新的样例是 {date} 的。"),
  ranked_otherwise: row(
    "The first page was also ranked by meaning, which is not available now; records of earlier pages may repeat.",
    "第一页还按语义排过序，而语义检索目前不可用，前几页的记录可能会重复出现。",
  ),
  close_in_meaning: row(
    "No record has these words; the records are close to the question in meaning.",
    "没有记录含有这些词，以下记录与问题意思相近。",
  ),
  word_corrected: row(
    "No record has {word}; {instead} was searched.",
    "没有记录含有“{word}”，已改为检索“{instead}”。",
  ),
  words_not_found: row(
    "No record has {words}; the other words were searched.",
    "没有记录含有“{words}”，已用其余的词检索。",
  ),
  related_words: row(
    "None of these records has {words}; they were found by related words.",
    "以下记录不含“{words}”原词，是按相关用词找到的。",
  ),
  some_words: row(
    "No record has all the words; these have some.",
    "没有记录含有全部检索词，以下记录含有其中一部分。",
  ),
  not_joined: row(
    "{publishers} did not answer in time; what they know of these records is missing.",
    "{publishers} 未能及时响应，缺少其对这些记录的说法。",
  ),
  held_here: row("Held here: {held}.", "本服务现有：{held}。"),
  undated_left_out: row(
    "{count|record without a date was|records without a date were} left out by the date filter.",
    "另有 {count} 条记录没有日期，已被日期条件筛掉。",
  ),

  law_read_as: row(
    "This service does not have {name}; {law} was searched.",
    "本服务未收录《{name}》，已改为检索《{law}》。",
  ),
  law_ended: row("{law} ended on {date}.", "《{law}》已于 {date} 失效。"),
  law_replaced: row(
    "{law} ended on {date}; {by} replaced it.",
    "《{law}》已于 {date} 失效，由《{by}》取代。",
  ),
  law_replaced_by_unheld: row(
    "{law} ended on {date}; {by} replaced it, which this service does not have.",
    "《{law}》已于 {date} 失效，由《{by}》取代，而本服务尚未收录《{by}》。",
  ),
  law_replaced_ask: row(
    "{law} ended on {date}; {by} replaced it. Ask {by} in words, or name its article.",
    "《{law}》已于 {date} 失效，由《{by}》取代。请用关键词查询《{by}》，或指明其条号。",
  ),
  law_replaced_searched: row(
    "{law} ended on {date}; {by} replaced it. The articles are those of {by}.",
    "《{law}》已于 {date} 失效，由《{by}》取代。以下是《{by}》的条文。",
  ),
  law_not_held: row("This service does not have the law {law}.", "本服务未收录《{law}》。"),
  source_not_held: row("This service does not have {title}.", "本服务未收录《{title}》。"),
  sources_answer_rest: row(
    "Not held here: {titles}; these articles answer a part.",
    "本服务未收录{titles}，以下条文只能回答一部分。",
  ),
  sources_alone_answer: row(
    "Not held here: {titles}; these articles only share words with the question. The call is free.",
    "本服务未收录{titles}，以下条文只是与问题有相同的字词，未扣费。",
  ),
  version_not_held: row(
    "This service does not have the version {version} of {law}. It has: {held}.",
    "本服务未收录《{law}》的 {version} 版本，已收录的版本：{held}。",
  ),
  undated_version_held: row(
    "This service does not have the version {version} of {law}. It has one without a date.",
    "本服务未收录《{law}》的 {version} 版本，只有一个未注明日期的版本。",
  ),
  no_such_article: row("{law} has no article {articles}.", "《{law}》没有{articles}。"),
  no_such_article_after: row(
    "{law} has no article {articles}; it ends at article {last}.",
    "《{law}》没有{articles}，最后一条是第{last}条。",
  ),
  no_citations: row(
    "The text cites no law and no case number. The call is free.",
    "文中没有引用法律或案号，未扣费。",
  ),
  court_without_judgments: row(
    "This service has no judgment for this court.",
    "本服务未收录该法院的裁判文书。",
  ),
  case_number_not_held: row(
    "This service has no judgment for this case number.",
    "本服务未收录该案号的裁判文书。",
  ),
  time_without_judgments: row(
    "This service has no judgment from {time}.",
    "本服务未收录 {time} 的裁判文书。",
  ),

  ranking_not_held: row(
    "This service does not have the ranking of {platform} on {date}.",
    "本服务未收录 {platform} 在 {date} 的榜单。",
  ),
  ranking_older: row(
    "The newest ranking of {platform} is from {date}.",
    "{platform} 最新的榜单是 {date} 的。",
  ),

  journal_not_held: row("This service has no journal with this number.", "本服务未收录该编号的期刊。"),
  issn_check: row(
    "The ISSN's check character is wrong; searched as words.",
    "ISSN 的校验位不对，已按普通文字检索。",
  ),
  doi_not_held: row("This service has no paper with this DOI.", "本服务未收录该 DOI 的论文。"),
  arxiv_not_held: row(
    "This service has no paper with this arXiv number.",
    "本服务未收录该 arXiv 编号的论文。",
  ),
  time_without_papers: row("This service has no paper from {time}.", "本服务未收录 {time} 的论文。"),
  patent_check: row(
    "The application number's check character should be {check}; searched as words.",
    "申请号的校验位应为 {check}，已按普通文字检索。",
  ),
  patent_not_held: row("This service has no patent with this number.", "本服务未收录该编号的专利。"),
  time_without_patents: row("This service has no patent from {time}.", "本服务未收录 {time} 的专利。"),
  researcher_not_held: row("This service has no researcher with this name.", "本服务未收录该姓名的学者。"),
} as const satisfies Record<string, Bilingual>;

export type WarningCode = keyof typeof warnings;

/** A warning as answers keep it. A value that differs between the languages has both. */
export interface Warning {
  readonly code: WarningCode;
  readonly values: Readonly<Record<string, Value | readonly Value[]>>;
}

type Value = string | number | Bilingual;

/** Makes a warning from its code and the values that its text names. */
export function warning<Code extends WarningCode>(
  code: Code,
  ...[values]: NamesOf<Code> extends never
    ? []
    : [values: Readonly<Record<NamesOf<Code>, Value | readonly Value[]>>]
): Warning {
  return { code, values: values ?? {} };
}

/** The sentence that a caller reads. */
export function warningText({ code, values }: Warning, language: Language): string {
  const shown = Object.entries(values).map(([name, value]) => [
    name,
    Array.isArray(value)
      ? value.map((each: Value) => valueIn(each, language)).join(separators[language])
      : valueIn(value as Value, language),
  ]);
  return fill(warnings[code][language], Object.fromEntries(shown));
}

const separators = { en: ", ", zh: "、" };

function valueIn(value: Value, language: Language): string | number {
  if (typeof value === "object") return value[language];
  return typeof value === "number" && value >= 1_000 ? value.toLocaleString("en") : value;
}

type NamesOf<Code extends WarningCode> = NamesIn<(typeof warnings)[Code]["en"]>;
type NamesIn<Text extends string> = Text extends `${string}{${infer Inside}}${infer Rest}`
  ? (Inside extends `${infer Name}|${string}` ? Name : Inside) | NamesIn<Rest>
  : never;

function row<const En extends string>(en: En, zh: string) {
  return { en, zh };
}
