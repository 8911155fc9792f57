import { Agent, request } from "node:http";
import type { ServiceProcess } from "../../test/service-process.ts";
import { type Question, questions } from "./questions.ts";

export interface Timed {
  readonly times: readonly number[];
  readonly wallMs: number;
  readonly totals: readonly number[];
}

/** Asks `count` questions in turn, `clients` at a time, and parses each answer. */
export async function ask(
  service: ServiceProcess,
  key: string,
  count: number,
  clients: number,
): Promise<Timed> {
  const agent = new Agent({ keepAlive: true, maxSockets: clients });
  const one = async (question: Question): Promise<number> => {
    const { status, body } = await post(`${service.url}/v1/data/query`, key, agent, {
      operation: "legal_cases",
      params: { query: question.query },
      page: question.page,
      page_size: 20,
      cache: "bypass",
    });
    // With only generated judgments, a question without results is answered with 501, which is free.
    if (status === 501) return 0;
    if (status !== 200) throw new Error(`${question.query}: ${status} ${body.slice(0, 200)}`);
    const { total } = JSON.parse(body) as { total: number };
    return total;
  };
  try {
    return await timed(one, count, clients);
  } finally {
    agent.destroy();
  }
}

/** The key of an account of the operator tier that can pay for everything asked here. */
export async function openAccount(service: ServiceProcess): Promise<string> {
  const body = { name: "proof", tokens: 1_000_000_000, tier: "operator" };
  return (await service.call("/admin/v1/accounts", { body })).body.keys[0];
}

/** Like `ask`, for any engine, with a time limit. */
export async function timed(
  one: (question: Question) => Promise<number>,
  count: number,
  clients: number,
  limitMs = Number.POSITIVE_INFINITY,
): Promise<Timed> {
  const times: number[] = [];
  const totals: number[] = [];
  let next = 0;
  const begun = performance.now();
  const client = async () => {
    for (let place = next++; place < count && performance.now() - begun < limitMs; place = next++) {
      const from = performance.now();
      totals[place] = await one(questions[place % questions.length] as Question);
      times.push(performance.now() - from);
    }
  };
  await Promise.all(Array.from({ length: clients }, client));
  return { times, wallMs: performance.now() - begun, totals };
}

export const head = ["| step | p50 ms | p95 ms | max ms | per second |", "| --- | --- | --- | --- | --- |"];

export function row(name: string, { times, wallMs }: Pick<Timed, "times" | "wallMs">): string {
  const sorted = [...times].sort((a, b) => a - b);
  const at = (part: number) =>
    (sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))] ?? 0).toFixed(1);
  return `| ${name} | ${at(0.5)} | ${at(0.95)} | ${at(1)} | ${((1000 * times.length) / wallMs).toFixed(0)} |`;
}

function post(
  url: string,
  key: string,
  agent: Agent,
  question: object,
): Promise<{ status: number; body: string }> {
  const content = JSON.stringify(question);
  return new Promise((resolve, reject) => {
    const sent = request(
      url,
      {
        agent,
        method: "POST",
        headers: {
          authorization: `Bearer ${key}`,
          "content-type": "application/json",
          "content-length": Buffer.byteLength(content),
        },
      },
      (answer) => {
        let body = "";
        answer.setEncoding("utf8").on("data", (text: string) => {
          body += text;
        });
        answer.on("end", () => resolve({ status: answer.statusCode ?? 0, body }));
        answer.on("error", reject);
      },
    );
    sent.on("error", reject);
    sent.end(content);
  });
}
