import { asSample } from "../../../sample/provenance.ts";

/**
 * A fictitious law, so that the legal operations can answer where real laws cannot be downloaded. Its name
 * shows that it is a sample.
 */
export function sampleLaws() {
  return laws.map(({ key, name, department, articles }) => ({
    facts: {
      law_id: `sample-${key}`,
      law_name: name,
      level_text: "样例",
      issuing_body: null,
      promulgated_date: "2026-01-01",
      effective_date: "2026-01-01",
      version_date: "2026-01-01",
      status_text: "样例，非现行法律",
      department,
    },
    articles: articles.map((content, place) => ({
      number: place + 1,
      content,
      source: asSample({ id: `sample-${key}-${place + 1}`, content }).source,
    })),
  }));
}

const laws = [
  {
    key: "data",
    name: "样例数据条例",
    department: "样例",
    articles: [
      "为了说明本服务的用法，制定本样例。本样例不是法律，不具有任何效力。",
      "本样例所称数据，是指任何以电子方式对信息的记录。",
      "样例数据的提供者应当标明其为样例，不得使人误认为官方数据。",
      "使用者发现样例与实际不符的，应当以官方公布的数据为准。",
      "导入真实法律之后，本样例不再向正式密钥提供。",
    ],
  },
  {
    key: "contract",
    name: "样例合同条例",
    department: "样例",
    articles: [
      "本样例以合同为题，仅供试用检索之用，不具有任何效力。",
      "样例合同自双方点击确认时成立，双方另有约定的除外。",
      "一方不履行样例合同的，另一方可以请求其重新演示，或者解除样例合同。",
      "样例合同的违约金以零元为限。",
    ],
  },
];
