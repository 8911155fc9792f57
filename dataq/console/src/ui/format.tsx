import { chinaInstant } from "@dataq/contract";
import { createContext, type ReactNode, useContext, useMemo } from "react";
import { type Language, useLook } from "./look.ts";

/** Formats numbers and times for display. Dates are in China time, because billing uses it. */
export interface Format {
  tokens(value: number): string;
  /**
   * Converts tokens to yuan (50,000 tokens are 1 yuan). Shows two decimals, and four for amounts below 0.01
   * yuan.
   */
  yuan(tokens: number): string;
  number(value: number, digits?: number): string;
  percent(share: number): string;
  moment(iso: string | number | null | undefined): string;
  day(iso: string): string;
  ago(iso: string | null | undefined, now?: number): string;
  bytes(size: number): string;
}

export const TOKENS_PER_YUAN = 50_000;
export const TOKENS_PER_FEN = TOKENS_PER_YUAN / 100;

/**
 * Both languages format numbers the same way, and dates are in China time, which has no daylight saving time.
 * So numbers and dates are formatted without `Intl`, whose tables take longer to load than the rest of a
 * first page.
 */
export function makeFormat(language: Language): Format {
  return {
    tokens: (value) => signed(value, grouped(Math.abs(value), 0, 0)),
    yuan: (tokens) => {
      const value = Math.abs(tokens) / TOKENS_PER_YUAN;
      return signed(tokens, `¥${grouped(value, 2, value < 0.01 ? 4 : 2)}`);
    },
    number: (value, digits = 0) => signed(value, grouped(Math.abs(value), 0, digits)),
    percent: (share) => `${grouped(share * 100, 0, 1)}%`,
    moment: (iso) => {
      if (iso === null || iso === undefined) return "–";
      const inChina = chinaInstant(new Date(iso));
      return `${inChina.slice(0, 10)} ${inChina.slice(11, 19)}`;
    },
    day: (iso) => iso.slice(0, 10),
    ago: (iso, now = Date.now()) => {
      if (!iso) return "–";
      const seconds = (new Date(iso).getTime() - now) / 1000;
      const steps = [
        [60, "second", 1],
        [3600, "minute", 60],
        [86_400, "hour", 3600],
        [86_400 * 60, "day", 86_400],
        [Number.POSITIVE_INFINITY, "month", 86_400 * 30],
      ] as const;
      const [, unit, size] = steps.find(([limit]) => Math.abs(seconds) < limit)!;
      const relative = new Intl.RelativeTimeFormat(language === "zh" ? "zh-CN" : "en-GB", {
        numeric: "auto",
      });
      const text = relative.format(Math.round(seconds / size), unit);
      // A space parts digits from Chinese words here, as everywhere else.
      return text.replace(/(\d)(?=\p{Script=Han})/u, "$1 ");
    },
    bytes: (size) => {
      const units = ["B", "kB", "MB", "GB", "TB"];
      const step = size < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log10(size) / 3));
      const value = size / 1000 ** step;
      return `${value.toFixed(step === 0 || value >= 100 ? 0 : 1)} ${units[step]}`;
    },
  };
}

const FormatContext = createContext<Format | null>(null);

export function FormatProvider({ children }: { readonly children: ReactNode }) {
  const { language } = useLook();
  const format = useMemo(() => makeFormat(language), [language]);
  return <FormatContext value={format}>{children}</FormatContext>;
}

export function useFormat(): Format {
  const format = useContext(FormatContext);
  if (!format) throw new Error("Formats are used outside of their provider.");
  return format;
}

/** Groups the integer digits by three and limits the decimals. */
function grouped(value: number, least: number, most: number): string {
  const [whole = "", part = ""] = value.toFixed(most).split(".");
  let digits = part;
  while (digits.length > least && digits.endsWith("0")) digits = digits.slice(0, -1);
  const groups = whole.replace(/\B(?=(?:\d{3})+$)/g, ",");
  return digits === "" ? groups : `${groups}.${digits}`;
}

function signed(value: number, text: string): string {
  return value < 0 ? `−${text}` : text;
}
