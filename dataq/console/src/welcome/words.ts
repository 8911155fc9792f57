import { citationsEn, citationsZh } from "../text/citations.ts";
import { readLook } from "../ui/kept-look.ts";

interface Words {
  readonly citations: typeof citationsEn;
  readonly unreachable: string;
  readonly searching: string;
  readonly checking: string;
  readonly nothing: string;
  readonly noCitations: string;
  readonly found: (shown: number, total: number) => string;
  readonly checked: (citations: number, problems: number) => string;
  readonly cost: (tokens: string) => string;
  readonly source: (name: string) => string;
  readonly lawStates: Readonly<
    Record<"in_force" | "amended" | "repealed" | "not_yet_effective" | "unknown", string>
  >;
  readonly effective: (date: string) => string;
  readonly sum: (yuan: string, tokens: string) => string;
}

const en: Words = {
  citations: citationsEn,
  unreachable: "The service does not answer. Try again in a moment.",
  searching: "Searching…",
  checking: "Checking…",
  nothing: "Nothing found. Try other words.",
  noCitations: "The text cites no law.",
  found: (shown, total) => `${shown} of ${total.toLocaleString("en")} found`,
  checked: (citations, problems) =>
    `${citations === 1 ? "1 citation" : `${citations} citations`}, ${problems === 0 ? "no problem" : `${problems} with a problem`}`,
  cost: (tokens) => `Free here; ${tokens} tokens with a key`,
  source: (name) => `Source: ${name}`,
  lawStates: {
    in_force: "In force",
    amended: "Older version",
    repealed: "Repealed",
    not_yet_effective: "Not yet in force",
    unknown: "Status not stated",
  },
  effective: (date) => `in force since ${date}`,
  sum: (yuan, tokens) => `¥${yuan} · ${tokens} tokens`,
};

const zh: Words = {
  citations: citationsZh,
  unreachable: "服务没有响应，请稍后再试。",
  searching: "检索中…",
  checking: "核查中…",
  nothing: "没有查到，换个说法试试。",
  noCitations: "文中没有引用法律。",
  found: (shown, total) => `共 ${total.toLocaleString("en")} 条，显示前 ${shown} 条`,
  checked: (citations, problems) =>
    `共 ${citations} 处引注，${problems === 0 ? "未发现问题" : `${problems} 处有问题`}`,
  cost: (tokens) => `试用免费，使用密钥调用为 ${tokens} 点`,
  source: (name) => `来源：${name}`,
  lawStates: {
    in_force: "现行有效",
    amended: "已修改",
    repealed: "已废止",
    not_yet_effective: "尚未施行",
    unknown: "时效性未注明",
  },
  effective: (date) => `${date} 起施行`,
  sum: (yuan, tokens) => `¥${yuan} · ${tokens} 点`,
};

/** The texts of the script in the language of the page. */
export function words(): Words {
  return readLook().language === "zh" ? zh : en;
}
