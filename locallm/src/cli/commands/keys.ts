import { Command } from "commander";
import type { z } from "zod";
import { readCommandConfig } from "../../config.ts";
import {
  type ApiKey,
  apiKey,
  hashOf,
  type KeyWish,
  modelPattern,
  mostRequestsPerMinute,
  newKey,
  permission,
  permissions,
} from "../../keys/api-key.ts";
import { commandLineFile, commandLineName } from "../../keys/command-line-key.ts";
import { KeysFile } from "../../keys/keys-file.ts";
import { type UsageRecord, unused } from "../../keys/usage.ts";
import { UsageFile } from "../../keys/usage-file.ts";
import { checkPart } from "../../wire/body.ts";
import { counted } from "../../wire/counted.ts";
import { LocallmError } from "../../wire/errors.ts";
import { humanTime, plain, table } from "../text.ts";

export function keysCommand(): Command {
  return new Command("keys")
    .description("manage API keys: who may use the server, which models, and how much")
    .addCommand(createCommand())
    .addCommand(listCommand())
    .addCommand(showCommand())
    .addCommand(revokeCommand())
    .addHelpText(
      "after",
      `
With the first key, every request to /api and /v1 needs one. A running server reads changes within a second.

Examples:
  locallm keys create --name alice
  locallm keys create --name team-a --models "qwen3:8b,team-a/*" --rate 60 --tokens-per-day 200000
  locallm keys create --name monitoring --may usage
  locallm keys list
  locallm keys revoke alice`,
    );
}

interface CreateOptions {
  readonly name: string;
  readonly models?: string;
  readonly rate?: string;
  readonly tokensPerDay?: string;
  readonly may: string;
}

function createCommand(): Command {
  return new Command("create")
    .description("create a key and print it; it cannot be shown again")
    .requiredOption("--name <name>", "the key's name, for lists and metrics")
    .option("--models <names>", "the models it may use, comma-separated; * matches any text (default: all)")
    .option("--rate <requests>", "the most requests per minute (default: no limit)")
    .option("--tokens-per-day <tokens>", "the most prompt and answer tokens per UTC day (default: no limit)")
    .option("--may <permissions>", `comma-separated: ${permissions.join(", ")}`, "ask")
    .action(async (options: CreateOptions) => {
      const { file, folder } = keysHere();
      const { secret, record } = newKey(wishOf(options), new Date());
      let isFirst = false;
      await file.change(async (keys) => {
        isFirst = keys === null;
        const others = keys ?? [await commandLineRecord(folder)];
        if (others.some(({ name }) => isSameName(name, record.name)))
          throw new LocallmError("key_exists", { name: record.name });
        return [...others, record];
      });
      if (isFirst)
        console.error(
          `From now on, every request to /api and /v1 needs a key. Commands on this machine use the one in ${commandLineFile(folder).path}.`,
        );
      console.error("Save this key now; it is not stored and cannot be shown again:");
      console.log(secret);
    });
}

/** Makes the key for commands on this machine, so that they still work when the server requires keys. */
async function commandLineRecord(folder: string): Promise<ApiKey> {
  const limits = { models: null, requests_per_minute: null, tokens_per_day: null };
  const { secret, record } = newKey({ name: commandLineName, may: ["administer"], ...limits }, new Date());
  await commandLineFile(folder).write(`${secret}\n`);
  return record;
}

function listCommand(): Command {
  return new Command("list")
    .alias("ls")
    .description("list the keys and what they used today")
    .action(async () => {
      const { file, folder } = keysHere();
      const keys = await file.read();
      if (keys === null) return console.log("There are no keys, so requests do not need one.");
      const usage = await new UsageFile(folder).read();
      const now = new Date();
      const rows = keys.map((key) => {
        const { today, lastUsed } = currentUsage(usage.get(key.id), now);
        return [
          ...[key.id, key.name, key.may.join(","), shortened(key.models)],
          limitText(key.requests_per_minute),
          `${today.promptTokens + today.generatedTokens} of ${limitText(key.tokens_per_day)}`,
          lastUsed === null ? "Never" : humanTime(new Date(lastUsed), now),
        ];
      });
      console.log(table(["ID", "NAME", "MAY", "MODELS", "RATE", "TOKENS TODAY", "LAST USED"], rows));
    });
}

function showCommand(): Command {
  return new Command("show")
    .description("show a key's limits and usage, but not the key itself")
    .argument("<key>", "its name or id")
    .action(async (wanted: string) => {
      const { file, folder } = keysHere();
      const key = found(await file.read(), wanted);
      const now = new Date();
      const { today, total, lastUsed } = currentUsage((await new UsageFile(folder).read()).get(key.id), now);
      const counts = ({ requests, promptTokens, generatedTokens }: typeof today) =>
        [
          counted(requests, "request"),
          counted(promptTokens, "prompt token"),
          counted(generatedTokens, "generated token"),
        ].join(", ");
      const rows = [
        ["ID", key.id],
        ["NAME", key.name],
        ["CREATED", key.created],
        ["MAY", key.may.join(", ")],
        ["MODELS", key.models?.join(", ") ?? "all"],
        ["REQUESTS PER MINUTE", limitText(key.requests_per_minute)],
        ["TOKENS PER DAY", limitText(key.tokens_per_day)],
        ["TODAY (UTC)", counts(today)],
        ["TOTAL", counts(total)],
        ["LAST USED", lastUsed === null ? "never" : new Date(lastUsed).toISOString()],
      ];
      console.log(plain(rows.map(([label = "", value = ""]) => `${label.padEnd(22)}${value}`).join("\n")));
    });
}

function revokeCommand(): Command {
  return new Command("revoke")
    .description("revoke keys; the server rejects them within a second")
    .argument("<key...>", "names or ids")
    .action(async (wanted: string[]) => {
      const { file, folder } = keysHere();
      let isEmpty = false;
      const revoked: ApiKey[] = [];
      await file.change(async (keys) => {
        for (const each of wanted) revoked.push(found(keys, each));
        const left = (keys ?? []).filter((key) => !revoked.includes(key));
        isEmpty = left.length === 0;
        return left;
      });
      const hash = (await commandLineFile(folder).read())?.trim() ?? "";
      if (revoked.some(({ sha256 }) => sha256 === hashOf(hash))) await commandLineFile(folder).remove();
      for (const { name } of new Set(revoked)) console.log(plain(`revoked ${name}`));
      if (isEmpty)
        console.error(
          `No key is left, so only the administrator (LOCALLM_API_KEY) can call the server. To run without keys, delete ${file.path} and restart the server.`,
        );
    });
}

function keysHere(): { readonly folder: string; readonly file: KeysFile } {
  const folder = readCommandConfig().keysFolder;
  return { folder, file: new KeysFile(folder) };
}

const wish = apiKey.pick({
  name: true,
  may: true,
  models: true,
  requests_per_minute: true,
  tokens_per_day: true,
});

function wishOf({ name, models, rate, tokensPerDay, may }: CreateOptions): KeyWish {
  return {
    name: checkPart(wish.shape.name, name, "--name"),
    may: [...new Set(checkPart(wish.shape.may, checkedList(permission, may, "--may"), "--may"))],
    models:
      models === undefined
        ? null
        : checkPart(wish.shape.models, checkedList(modelPattern, models, "--models"), "--models"),
    requests_per_minute: numberOf(rate, "--rate", mostRequestsPerMinute),
    tokens_per_day: numberOf(tokensPerDay, "--tokens-per-day", Number.MAX_SAFE_INTEGER),
  };
}

/** The entries of a comma-separated list. The error quotes the first wrong one. */
function checkedList<Schema extends z.ZodType>(
  schema: Schema,
  text: string,
  option: string,
): z.output<Schema>[] {
  const entries = text.split(",").map((entry) => entry.trim());
  return entries
    .filter((entry) => entry !== "")
    .map((entry) => checkPart(schema, entry, `${option}: "${entry}"`));
}

function numberOf(text: string | undefined, option: string, most: number): number | null {
  if (text === undefined) return null;
  const number = Number(text);
  if (!/^\d{1,16}$/.test(text) || number < 1 || number > most)
    throw new LocallmError("invalid_field", {
      field: option,
      problem: `must be an integer between 1 and ${most}`,
    });
  return number;
}

function found(keys: readonly ApiKey[] | null, wanted: string): ApiKey {
  const key = keys?.find(({ id, name }) => id === wanted || isSameName(name, wanted));
  if (key === undefined) throw new LocallmError("key_not_found", { name: wanted });
  return key;
}

function isSameName(a: string, b: string): boolean {
  return a.toLowerCase() === b.normalize("NFC").toLowerCase();
}

/** Resets today's counts if they were stored on an earlier day. */
function currentUsage(record: UsageRecord = unused, now: Date): UsageRecord {
  return record.day === now.toISOString().slice(0, 10) ? record : { ...record, today: unused.today };
}

function limitText(limit: number | null): string {
  return limit === null ? "no limit" : String(limit);
}

function shortened(models: readonly string[] | null): string {
  const text = models?.join(",") ?? "all";
  return text.length <= 40 ? text : `${text.slice(0, 39)}…`;
}
