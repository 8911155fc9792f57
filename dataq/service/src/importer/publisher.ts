import { open } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { instantInChina } from "@dataq/contract";
import { day } from "./field.ts";

/** Who published records, under which terms, and when they were retrieved. */
export interface Publisher {
  readonly name: string;
  readonly url: string | null;
  readonly licence: string | null;
  /** Null if nothing states it. */
  readonly retrievedAt: Date | null;
}

/** The default publisher: records without a stated publisher count as the importer's own. */
export const operator: Publisher = {
  name: "The operator of this service",
  url: null,
  licence: null,
  retrievedAt: null,
};

/**
 * The publishers of a file according to the README.md beside it, in a table with the columns `file` and `origin`, and
 * optionally `licence` and `retrieved`: `owner/name @commit` on GitHub, `PyPI name version`, or words; several are
 * separated by semicolons. Without the column `retrieved`, a sentence of the README states the day.
 */
export async function publishersBeside(path: string): Promise<readonly Publisher[]> {
  const text = await startOfFile(join(dirname(path), "README.md"));
  const wanted = basename(path);
  let columns: readonly string[] = [];
  for (const line of text.split("\n")) {
    if (!line.trimStart().startsWith("|")) continue;
    const cells = line
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim());
    const names = cells.map((cell) => cell.toLowerCase());
    if (names.includes("file") && names.includes("origin")) columns = names;
    const cell = (name: string) => cells[columns.indexOf(name)] ?? "";
    const file = cell("file").replace(/[`*()\s]/g, "");
    if (file !== "" && (wanted === file || wanted.startsWith(`${file}.`)))
      return publishersIn(
        cell("origin"),
        cell("licence") || cell("license"),
        dayIn(cell("retrieved")) ?? dayOfRetrieval(text),
      );
  }
  return [];
}

/** A row's statement about its own source: a name, or an object with name, url, licence and retrieved_at. */
export function publisherOfRow(own: unknown, stated: readonly Publisher[]): Publisher | undefined {
  const retrievedAt = stated[0]?.retrievedAt ?? null;
  if (typeof own === "object" && own !== null) {
    const { name, url, licence, retrieved_at } = own as Readonly<Record<string, unknown>>;
    const said = shortText(name);
    if (said === null) return undefined;
    return {
      name: said,
      url: webAddress(url),
      licence: shortText(licence),
      retrievedAt: momentIn(retrieved_at) ?? retrievedAt,
    };
  }
  const name = shortText(own);
  if (name === null) return undefined;
  return (
    stated.find((publisher) => publisher.name.includes(name)) ??
    stated.find((publisher) => name.endsWith(publisher.name.split("/").at(-1) ?? name)) ?? {
      name,
      url: null,
      licence: null,
      retrievedAt,
    }
  );
}

/** Combines several publishers into one, for records that do not say which one they are from. */
export function together(publishers: readonly Publisher[]): Publisher {
  const [first = operator, ...others] = publishers;
  if (others.length === 0) return first;
  const licences = [...new Set(publishers.map(({ licence }) => licence).filter((each) => each !== null))];
  return {
    name: publishers.map(({ name }) => name).join("; "),
    url: first.url,
    licence: licences.join("; ") || null,
    retrievedAt: first.retrievedAt,
  };
}

function publishersIn(origin: string, licence: string, day: string | null): readonly Publisher[] {
  const origins = partsOf(origin, ";");
  const licences = [partsOf(licence, ";"), partsOf(licence, ";,")].find(
    (list) => list.length === origins.length,
  );
  return origins.map((part, place) => ({
    name: nameIn(part),
    url: addressIn(part),
    licence: licences?.[place] ?? (licence || null),
    retrievedAt: day === null ? null : beginningOf(day),
  }));
}

/** The day on which the files were retrieved, if exactly one sentence of the README states one. */
function dayOfRetrieval(readme: string): string | null {
  const sentences = readme
    .split("\n")
    .filter((line) => !line.trimStart().startsWith("|"))
    .flatMap((line) => line.split(/(?<=[.。;；])\s*(?!\d)/))
    .filter((sentence) =>
      /\b(?:taken|retrieved|downloaded|fetched|collected)\b|取自|取得|获取|下载|采集/i.test(sentence),
    );
  const days = new Set(
    sentences.flatMap((sentence) => sentence.match(new RegExp(anyDay, "g")) ?? []).map(dayIn),
  );
  const [day = null] = days;
  return days.size === 1 ? day : null;
}

const anyDay = /\d{4}-\d{1,2}-\d{1,2}|\d{4}年\d{1,2}月\d{1,2}日/;

function dayIn(text: string): string | null {
  return day({ day: anyDay.exec(text)?.[0] }, "day");
}

/** A day without a time counts from its start in China. */
export function beginningOf(day: string): Date {
  return new Date(instantInChina(day, "00:00:00"));
}

function momentIn(value: unknown): Date | null {
  if (typeof value !== "string") return null;
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d/.test(value)) {
    const only = dayIn(value);
    return only === null ? null : beginningOf(only);
  }
  const time = new Date(value);
  return Number.isNaN(time.getTime()) ? null : time;
}

/** Splits a text at separators, except inside brackets. */
function partsOf(text: string, separators: string): string[] {
  const parts = [""];
  let depth = 0;
  for (const character of text) {
    if (character === "(") depth++;
    else if (character === ")") depth = Math.max(0, depth - 1);
    if (depth === 0 && separators.includes(character)) parts.push("");
    else parts[parts.length - 1] += character;
  }
  return parts.map((part) => part.trim()).filter(Boolean);
}

function nameIn(origin: string): string {
  const end = /[@,(]/.exec(origin)?.index ?? origin.length;
  return origin.slice(0, end).trim() || origin.slice(0, longestName);
}

function addressIn(origin: string): string | null {
  const package_ = /^PyPI ([A-Za-z0-9._-]+)/.exec(origin)?.[1];
  if (package_ !== undefined) return `https://pypi.org/project/${package_}/`;
  const repository = /([A-Za-z0-9_-]+\/[A-Za-z0-9._-]+)\s*@[0-9a-f]{7,40}\b/.exec(origin)?.[1];
  if (repository !== undefined) return `https://github.com/${repository}`;
  return /https:\/\/[^\s,;()]+/.exec(origin)?.[0] ?? null;
}

const longestName = 200;

/** People open it in a browser, so a row must not bring a script: `javascript:`. */
function webAddress(given: unknown): string | null {
  const text = shortText(given);
  return text !== null && /^https?:\/\//i.test(text) ? text : null;
}

function shortText(value: unknown): string | null {
  if (typeof value !== "string") return null;
  const text = value.trim();
  return text === "" || text.length > longestName ? null : text;
}

/** Reads only as much of a README as could contain the table. A file that is not a README is ignored. */
async function startOfFile(path: string): Promise<string> {
  const file = await open(path).catch(() => undefined);
  if (file === undefined) return "";
  try {
    const { bytesRead, buffer } = await file.read({ buffer: Buffer.alloc(readmeBytes) });
    return buffer.subarray(0, bytesRead).toString();
  } catch {
    return "";
  } finally {
    await file.close();
  }
}

const readmeBytes = 256 * 1024;
