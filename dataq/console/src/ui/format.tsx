import { useMemo } from "react";
import { useLook } from "./look.ts";

/** Numbers and moments as people read them; days are China's, as the bills are. */
export interface Format {
  tokens(value: number): string;
  /** 50,000 tokens are 1 yuan; shown to the fen, and to its hundredth for less than one. */
  yuan(tokens: number): string;
  number(value: number, digits?: number): string;
  percent(share: number): string;
  moment(iso: string | number | null | undefined): string;
  day(iso: string): string;
  ago(iso: string | null | undefined, now?: number): string;
  bytes(size: number): string;
}

export const TOKENS_PER_YUAN = 50_000;

export function makeFormat(language: "en" | "zh"): Format {
  const locale = language === "zh" ? "zh-CN" : "en-GB";
  const whole = new Intl.NumberFormat(locale, { maximumFractionDigits: 0 });
  const yuan = new Intl.NumberFormat(locale, { minimumFractionDigits: 2, maximumFractionDigits: 2 });
  const fine = new Intl.NumberFormat(locale, { minimumFractionDigits: 2, maximumFractionDigits: 4 });
  const percent = new Intl.NumberFormat(locale, { style: "percent", maximumFractionDigits: 1 });
  const moment = new Intl.DateTimeFormat(locale, {
    timeZone: "Asia/Shanghai",
    year: "numeric",
    month: "2-digit",
    day: "2-digit",
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
    hour12: false,
  });
  const relative = new Intl.RelativeTimeFormat(locale, { numeric: "auto" });
  return {
    tokens: (value) => whole.format(value).replace("-", "−"),
    yuan: (tokens) => {
      const value = tokens / TOKENS_PER_YUAN;
      const text = (Math.abs(value) < 0.01 && value !== 0 ? fine : yuan).format(Math.abs(value));
      return `${value < 0 ? "−" : ""}¥${text}`;
    },
    number: (value, digits = 0) => value.toLocaleString(locale, { maximumFractionDigits: digits }),
    percent: (share) => percent.format(share),
    moment: (iso) => {
      if (iso === null || iso === undefined) return "–";
      const parts = Object.fromEntries(
        moment.formatToParts(new Date(iso)).map(({ type, value }) => [type, value]),
      );
      const { year, month, day, hour, minute, second } = parts;
      return `${year}-${month}-${day} ${hour}:${minute}:${second}`;
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
      return relative.format(Math.round(seconds / size), unit);
    },
    bytes: (size) => {
      const units = ["B", "kB", "MB", "GB", "TB"];
      const step = size < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log10(size) / 3));
      const value = size / 1000 ** step;
      return `${value.toFixed(step === 0 || value >= 100 ? 0 : 1)} ${units[step]}`;
    },
  };
}

export function useFormat(): Format {
  const { language } = useLook();
  return useMemo(() => makeFormat(language), [language]);
}
