import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { availableBytes } from "../src/gpu/available-memory.ts";
import { MediaDecoder } from "../src/vision/decoder.ts";
import { installVision } from "../src/vision/install.ts";
import { seeded } from "../test/crowd.ts";
import { hostilePictures } from "../test/hostile-pictures.ts";
import { noise, randomTalk, type Said, startSeeing } from "../test/seeing.ts";
import { families } from "../test/small-projector.ts";

export const title =
  "Pictures: llama.cpp's server with the same files, conversations that go on, and hostile pictures";

/** `--engines FOLDER` uses a folder of engines where the part that reads pictures may be already. */
export async function run(
  print: (line: string) => void,
  folder: string,
  args: readonly string[] = [],
): Promise<void> {
  const engines = args[0] === "--engines" ? args[1]! : join(folder, "engines");
  await mkdir(engines, { recursive: true });
  const begunMs = performance.now();
  const origin = await installVision(engines, { onLine: () => {}, availableBytes: availableBytes() });
  const seconds = Math.round((performance.now() - begunMs) / 1000);
  print(`The part that reads pictures: ${origin === "build" ? `built in ${seconds} s` : origin}.\n`);
  const seeing = await startSeeing(engines, 3);
  try {
    await compare(seeing, print);
    await goOn(seeing, print);
    await attack(seeing, print);
  } finally {
    await seeing.stop();
  }
  await decodeHostile(print, 2000);
}

type Seeing = Awaited<ReturnType<typeof startSeeing>>;

async function compare(seeing: Seeing, print: (line: string) => void): Promise<void> {
  print(
    "| family | conversations | pictures | same prompt_tokens | same text | lead of the first other token over the next best |",
  );
  print("| --- | --: | --: | --: | --: | --: |");
  for (const family of families) {
    const random = seeded(families.indexOf(family) + 1);
    const below = (limit: number) => Math.floor(random() * limit);
    const peer = await seeing.peer(family);
    const leads: number[] = [];
    const sums = { asked: 0, pictures: 0, text: 0, tokens: 0 };
    try {
      while (sums.asked < 25) {
        const pictures = 1 + below(3);
        const messages = await randomTalk(below, pictures);
        const [ours, theirs] = [await seeing.ask(family, messages), await peer.ask(messages)];
        sums.asked++;
        sums.pictures += pictures;
        if (ours.text === theirs.text) sums.text++;
        else leads.push(leadWhereTheyPart(ours, theirs));
        if (ours.promptTokens === theirs.promptTokens) sums.tokens++;
      }
    } finally {
      await peer.stop();
    }
    const told = leads.map((lead) => lead.toFixed(4)).join(", ");
    print(`| ${family} | ${sums.asked} | ${sums.pictures} | ${sums.tokens} | ${sums.text} | ${told} |`);
  }
  print(
    "\nWhere two tokens are equally likely, the order of sums decides, which depends on how a prompt is cut into steps.\n",
  );
}

/** By how much the first token that the other server did not choose was more likely than the next best. */
function leadWhereTheyPart(ours: Said, theirs: Said): number {
  return ours.steps.find(({ token }, at) => token !== theirs.steps[at]?.token)?.lead ?? Number.NaN;
}

/** Three turns with a picture each, then the same conversation again after another one took the slot. */
async function goOn(seeing: Seeing, print: (line: string) => void): Promise<void> {
  print(
    "\n| family | pictures | encoded in 3 turns | encoded when it returns | of its prompt's cells, computed again |",
  );
  print("| --- | --: | --: | --: | --: |");
  for (const family of families) {
    const random = seeded(40);
    const talk = await randomTalk((limit) => Math.floor(random() * limit), 3);
    const before = await seeing.counts();
    for (const end of [1, 3, 5]) await seeing.ask(family, talk.slice(0, end));
    const after = await seeing.counts();
    await seeing.ask(family, [{ role: "user", content: "Something else. ".repeat(8) }]);
    const again = await seeing.ask(family, talk);
    const last = await seeing.counts();
    print(
      `| ${family} | 3 | ${after.encoded - before.encoded} | ${last.encoded - after.encoded} | ${again.promptTokens - again.cachedTokens} of ${again.promptTokens} |`,
    );
  }
}

/** Hostile pictures in requests, with one client beside them that asks of a good picture. */
async function attack(seeing: Seeing, print: (line: string) => void): Promise<void> {
  const good = `data:image/png;base64,${(await noise(64, 64, 120)).toString("base64")}`;
  const ask = () =>
    seeing.ask("llava", [{ role: "user", content: [{ type: "image_url", image_url: { url: good } }] }]);
  const right = (await ask()).text;
  const statuses = new Map<number, number>();
  let isOver = false;
  const attackers = [1, 2, 3, 4].map(async (seed) => {
    for await (const bytes of hostilePictures(75, seed)) {
      const body = { model: "llava:1", stream: false, options: { num_predict: 4, temperature: 0 } };
      const images = [bytes.toString("base64")];
      const response = await seeing.server.post("/api/chat", {
        ...body,
        messages: [{ role: "user", content: "?", images }],
      });
      await response.text();
      statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1);
    }
  });
  let longestMs = 0;
  let wrong = 0;
  const victim = async () => {
    while (!isOver) {
      const begunMs = performance.now();
      if ((await ask()).text !== right) wrong++;
      longestMs = Math.max(longestMs, performance.now() - begunMs);
    }
  };
  const beside = victim();
  await Promise.all(attackers);
  isOver = true;
  await beside;
  const told = [...statuses].map(([status, count]) => `${count} × ${status}`).join(", ");
  print(
    `\n300 hostile pictures by four clients at once: ${told}. A client beside them with a good picture: ${wrong} wrong answers, the slowest after ${Math.round(longestMs)} ms.`,
  );
}

async function decodeHostile(print: (line: string) => void, count: number): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "locallm-pictures-"));
  const decoder = new MediaDecoder();
  const ends: Record<string, number> = {};
  let slowestMs = 0;
  try {
    for await (const bytes of hostilePictures(count, 99)) {
      const from = join(folder, "picture");
      await writeFile(from, bytes);
      const begunMs = performance.now();
      const decoded = await decoder.decode(
        { kind: "picture", from, to: `${from}.rgb` },
        new AbortController().signal,
      );
      slowestMs = Math.max(slowestMs, performance.now() - begunMs);
      const end = !("problem" in decoded)
        ? "read"
        : decoded.problem.startsWith("reading it failed")
          ? decoded.problem
          : "refused";
      ends[end] = (ends[end] ?? 0) + 1;
    }
    const told = Object.entries(ends)
      .map(([end, times]) => `${times} ${end}`)
      .join(", ");
    print(
      `\n${count} hostile pictures, one after the other: ${told}; the slowest took ${Math.round(slowestMs)} ms.`,
    );
  } finally {
    decoder.close();
    await rm(folder, { recursive: true, force: true });
  }
}
