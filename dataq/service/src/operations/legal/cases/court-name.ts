import { districts } from "../../../sample/districts.ts";

/**
 * Reads the name of a court and checks it against the administrative divisions. Text before the name is
 * removed. Null if no court of an existing place is named.
 */
export function courtName(text: string): string | null {
  const name = text.normalize("NFKC").replace(/\s/g, "");
  if (name.length > longestText || !ending.test(name)) return null;
  const supreme = name.indexOf("最高人民法院");
  if (supreme !== -1) return name.slice(supreme);
  if (divisions.some((division) => name.startsWith(division) && name.length > division.length)) return name;
  for (let start = 1; start < name.length; start++) {
    const rest = name.slice(start);
    if (largeDivisions.some((division) => rest.startsWith(division))) return rest;
  }
  return countyCourt.test(name) ? name : null;
}

/** The first court that a text names. */
export function courtIn(text: string): string | null {
  for (const [candidate] of text.matchAll(/[\p{Script=Han}]{2,40}?法院/gu)) {
    const name = courtName(candidate);
    if (name !== null) return name;
  }
  return null;
}

const ending = /(?:人民法院|海事法院|知识产权法院|互联网法院|金融法院|铁路运输(?:中级)?法院)$/;
/**
 * Matches county courts by form, because there are more counties than our list has. Excludes words that
 * precede a court in a sentence.
 */
const countyCourt =
  /^(?!.*(?:[被向由经于在至到对从的日月年书案人某]|原审|提交)[\p{Script=Han}]*(?:县|市|旗|区))[\p{Script=Han}]{2,12}(?:县|市|旗|区)人民法院$/u;

/**
 * Full names of provinces and cities only, because a district's name may be the end of another one: 西湖区 and
 * 东西湖区.
 */
const largeDivisions: readonly string[] = [
  ...new Set([...districts.flatMap(({ province, city }) => [province, city]), "新疆生产建设兵团"]),
];

const divisions: readonly string[] = [
  ...new Set([
    ...largeDivisions,
    ...largeDivisions.map((name) => name.replace(/(?:省|市|(?:壮族|回族|维吾尔)?自治区)$/, "")),
    ...districts
      .map(({ name }) => name)
      .filter((name) => !["城区", "郊区", "矿区", "东区", "西区"].includes(name)),
  ]),
].filter((name) => name.length > 1);

const longestText = 100;
