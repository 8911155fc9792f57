import { Command } from "commander";
import { readCommandConfig } from "../../config.ts";
import { psAnswer } from "../../wire/api/answers.ts";
import { counted } from "../../wire/counted.ts";
import { Client } from "../client.ts";
import { humanBytes, humanTime, plain, table } from "../text.ts";

export function psCommand(): Command {
  return new Command("ps").description("list the loaded models").action(async () => {
    const { models, explain } = await new Client(readCommandConfig()).json("/api/ps?explain", psAnswer);
    const now = new Date();
    const rows = models.map((model) => [
      model.name,
      model.digest.slice(0, 12),
      humanBytes(model.size),
      processor(model),
      String(model.context_length ?? ""),
      humanTime(new Date(model.expires_at), now),
    ]);
    console.log(table(["NAME", "ID", "SIZE", "PROCESSOR", "CONTEXT", "UNTIL"], rows));
    for (const { model, context_length, context_why, cache_refused } of explain?.loaded ?? []) {
      if (context_why)
        console.log(plain(`${model}: context of ${counted(context_length, "token")}: ${context_why}`));
      if (cache_refused !== undefined) console.log(plain(`${model}: ${refusedLine(cache_refused, now)}`));
    }
    for (const [where, kept] of Object.entries(explain?.conversations ?? {}))
      if (kept !== null && kept.count > 0) console.log(keptLine(where, kept));
  });
}

/** `3 conversations kept in memory: 104 MB of 2.8 GB` */
function keptLine(where: string, kept: { count: number; bytes: number; limit_bytes: number }): string {
  const place = where === "disk" ? "on disk" : "in memory";
  const sizes = `${humanBytes(kept.bytes)} of ${humanBytes(kept.limit_bytes)}`;
  return `${counted(kept.count, "conversation")} kept ${place}: ${sizes}`;
}

/** `its cache could not grow by 52 MB 3 minutes ago: memory is short` */
function refusedLine(refused: { bytes: number; why: string; at: string }, now: Date): string {
  const when = humanTime(new Date(refused.at), now);
  return `its cache could not grow by ${humanBytes(refused.bytes)} ${when}: ${refused.why}`;
}

function processor({ size, size_vram: onGpu }: { size: number; size_vram: number }): string {
  if (onGpu <= 0) return "100% CPU";
  if (onGpu >= size) return "100% GPU";
  const cpu = Math.round((100 * (size - onGpu)) / size);
  return `${cpu}%/${100 - cpu}% CPU/GPU`;
}
