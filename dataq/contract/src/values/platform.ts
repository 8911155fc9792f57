import type { Bilingual } from "../bilingual.ts";
import { bad, parameter, type Reading } from "./reading.ts";

/** Platforms that always have rankings; an imported archive adds its own. */
export const platforms = [
  "weibo",
  "douyin",
  "baidu",
  "zhihu",
  "bilibili",
  "toutiao",
  "kuaishou",
  "xiaohongshu",
] as const;

export function platform(description: Bilingual) {
  return parameter(description, { enum: platforms }, readPlatform);
}

/** Returns the platform's standard name. The source decides whether it has rankings of the platform. */
export function readPlatform(raw: string): Reading<string> {
  const text = raw.length > 100 ? "" : raw.normalize("NFKC").trim().toLowerCase();
  const value = aliases.get(text) ?? text;
  if (/^[a-z0-9][a-z0-9_-]{0,31}$/.test(value)) return { value };
  return bad(
    "unknown_platform",
    "is not a known platform",
    `use one of ${platforms.join(", ")}`,
    `可选：${platforms.join("、")}`,
  );
}

const aliases = new Map([
  ["微博", "weibo"],
  ["新浪微博", "weibo"],
  ["抖音", "douyin"],
  ["tiktok_cn", "douyin"],
  ["百度", "baidu"],
  ["知乎", "zhihu"],
  ["哔哩哔哩", "bilibili"],
  ["b站", "bilibili"],
  ["头条", "toutiao"],
  ["今日头条", "toutiao"],
  ["快手", "kuaishou"],
  ["小红书", "xiaohongshu"],
  ["贴吧", "tieba"],
  ["百度贴吧", "tieba"],
  ["虎扑", "hupu"],
  ["豆瓣", "douban"],
  ["网易新闻", "netease"],
  ["澎湃新闻", "thepaper"],
  ["腾讯新闻", "qqnews"],
  ["it之家", "ithome"],
  ["36氪", "36kr"],
  ["掘金", "juejin"],
  ["少数派", "sspai"],
  ["微信读书", "weread"],
]);
