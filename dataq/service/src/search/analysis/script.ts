import type { DictLike } from "opencc-js/core";
import { ConverterFactory, Locale } from "opencc-js/t2cn";

const firstHan = 0x4e00;
const lastHan = 0x9fff;
/** Characters with a simplified form for only some of their meanings; they also occur in simplified texts. */
const inBothScripts = "乾著瞭藉覆摺鍾麽蘋讎";
/**
 * Words of the mainland's laws that mean something else where Taiwan speaks of computers: 強制執行 is not 强制运行, and
 * 徵信資料 are not 征信数据. OpenCC would replace them.
 */
const lawWords =
  "執行 建立 程序 文件 資料 檔案 儲存 宣告 裝置 指標 複製 查詢 設定 核心 使用者 搜尋 效能 通訊 行程 新增 支援 內建 即時 區域性 物件 開啟 整合 傳送 序列 聯絡 影片 稽核 線上 存檔 全形 啟用 智慧 取樣 外接 正規化 簡報 影像 相容 停用 匯出 互動 呼叫 列舉 匯入 存取 撥出 優先順序 類比 音訊";
/** Characters of Hong Kong that Taiwan writes otherwise. */
const hongKong = "衞 衛|敍 敘|枱 檯|粧 妝|糭 粽|衹 只";

interface Script {
  readonly convert: (text: string) => string;
  /**
   * Characters that occur only in traditional texts. A character that simplified texts also use, such as 著 in 著作权,
   * does not make a text traditional.
   */
  readonly onlyTraditional: Uint8Array;
}

let script: Script | undefined;

/** A text in simplified characters. Taiwanese words become those of the mainland: 軟體 → 软件. */
export function simplified(text: string): string {
  script ??= readScript();
  for (let at = 0; at < text.length; at++)
    if (script.onlyTraditional[text.charCodeAt(at)] === 1) return script.convert(text);
  return text;
}

/** At first use, because it takes a tenth of a second and most commands do not search. */
function readScript(): Script {
  const taiwan = Locale.from["twp"]?.[0] ?? [];
  const convert = ConverterFactory([...taiwan.map(withoutLawWords), hongKong], ...(Locale.to["cn"] ?? []));
  return { convert, onlyTraditional: findOnlyTraditional(convert) };
}

function withoutLawWords(dictionary: DictLike): DictLike {
  if (typeof dictionary !== "string") return dictionary;
  const kept = new Set(lawWords.split(" "));
  return dictionary
    .split("|")
    .filter((line) => !kept.has(line.split(" ", 1)[0] ?? ""))
    .join("|");
}

function findOnlyTraditional(convert: Script["convert"]): Uint8Array {
  const marks = new Uint8Array(1 << 16);
  const results = new Set<string>();
  for (let code = firstHan; code <= lastHan; code++) {
    const character = String.fromCharCode(code);
    const result = convert(character);
    // 埠 alone would become the port of a computer: 端口.
    if (result === character || result.length !== 1) continue;
    marks[code] = 1;
    results.add(result);
  }
  for (const character of [...results, ...inBothScripts]) marks[character.charCodeAt(0)] = 0;
  return marks;
}
