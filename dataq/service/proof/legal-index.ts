import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { sampleJudgment } from "../src/sample/judgments/judgments.ts";
import { type ServiceProcess, startService } from "../test/service-process.ts";

const execute = promisify(execFile);
const main = fileURLToPath(new URL("../src/cli/main.ts", import.meta.url));

export const title = "dataq: the legal index at 68,787 judgments, through paid calls";

/**
 * Builds the full index beside a running service, then asks 200 mixed queries (`cache: bypass`, the operator's tier,
 * the client on the same machine): first of a new process, then again, then with 8 clients, then during a refresh
 * of the whole index.
 */
export async function run(print: (line: string) => void): Promise<void> {
  const first = await startService({ env: { DATAQ_SAMPLES: "off" } });
  const { folder } = first;
  const dataq = (...args: string[]) =>
    execute(process.execPath, ["--conditions=source", main, ...args], {
      env: { PATH: process.env["PATH"] ?? "", HOME: process.env["HOME"] ?? "", DATAQ_DATA: folder },
      maxBuffer: 1 << 24,
    });
  print("| step | p50 ms | p95 ms | max ms | per second |");
  print("| --- | --- | --- | --- | --- |");
  const begun = performance.now();
  await dataq("index", "build", "--full");
  print(`| built 68,787 in ${((performance.now() - begun) / 1000).toFixed(0)} s | | | | |`);
  await first.stop();
  const service = await startService({ folder, env: { DATAQ_SAMPLES: "off" } });
  try {
    print(row("cold: a new process", await ask(service, 200, 1)));
    print(row("warm", await ask(service, 200, 1)));
    print(row("warm, 8 clients", await ask(service, 1_600, 8)));
    let isRefreshing = true;
    const refresh = dataq("index", "build", "legal_cases").finally(() => {
      isRefreshing = false;
    });
    const during: number[] = [];
    const from = performance.now();
    while (isRefreshing) during.push(...(await ask(service, 50, 1)).times);
    await refresh;
    print(row("during a refresh of all", { times: during, wallMs: performance.now() - from }));
    print(row("after it", await ask(service, 200, 1)));
  } finally {
    await service[Symbol.asyncDispose]();
  }
}

const words = [
  "民间借贷 利息",
  "买卖合同 钢材",
  "离婚 抚养费",
  "盗窃 手机",
  "劳动争议 加班",
  "工程款 优先受偿权",
  "诈骗",
  "商标 服装",
  "交通事故 伤残",
  "租赁 押金",
  "锂电池",
  "微信 聊天记录",
  "笔迹 鉴定",
  "股权转让",
  "工伤",
];

/** One to three words, four in ten with a field, one in five the tenth page. */
function queryAt(place: number): { query: string; page: number } {
  const { court_name, judges, legal_basis } = sampleJudgment(place * 37);
  const fields = [
    `court:${court_name}`,
    `judge:${judges[0]?.name}`,
    `basis:${legal_basis[0]?.law_name}`,
    "date:2022..2023",
  ];
  const field = place % 5 < 2 ? ` ${fields[place % fields.length]}` : "";
  return { query: `${words[place % words.length]}${field}`, page: place % 5 === 4 ? 10 : 1 };
}

interface Timed {
  readonly times: readonly number[];
  readonly wallMs: number;
}

async function ask(service: ServiceProcess, count: number, clients: number): Promise<Timed> {
  const times: number[] = [];
  let next = 0;
  const begun = performance.now();
  const client = async () => {
    for (let place = next++; place < count; place = next++) {
      const { query, page } = queryAt(place % 200);
      const body = { operation: "legal_cases", params: { query }, page, page_size: 20, cache: "bypass" };
      const from = performance.now();
      const answer = await service.call("/v1/data/query", { key: service.key, body });
      times.push(performance.now() - from);
      if (answer.status !== 200) throw new Error(`${query}: ${answer.status} ${answer.text.slice(0, 200)}`);
    }
  };
  await Promise.all(Array.from({ length: clients }, client));
  return { times, wallMs: performance.now() - begun };
}

function row(name: string, { times, wallMs }: Timed): string {
  const sorted = [...times].sort((a, b) => a - b);
  const at = (part: number) =>
    (sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))] ?? 0).toFixed(1);
  return `| ${name} | ${at(0.5)} | ${at(0.95)} | ${at(1)} | ${((1000 * times.length) / wallMs).toFixed(0)} |`;
}
