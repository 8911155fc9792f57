import { type Language, operations } from "@dataq/contract";
import type { HealthState, Sent, status } from "@dataq/contract/wire";
import type { MaintenanceWindow } from "../../maintenance/maintenance.ts";
import type { WelcomeFiles } from "../console/files.ts";
import { html, type Markup } from "./markup.ts";
import { plainPage } from "./plain-page.ts";
import type { Look } from "./welcome.ts";

/** What the page shows: the answer of /v1/status, and the maintenance of the last weeks. */
export interface Standing {
  readonly status: Sent<typeof status>;
  readonly past: readonly MaintenanceWindow[];
  readonly now: Date;
}

const texts = {
  en: {
    title: "Status of the service",
    overall: {
      maintenance: "Under maintenance",
      down: "Calls of some operations fail",
      disturbed: "Some calls fail",
      working: "No known failures",
    },
    maintenance:
      "Calls are refused with the code maintenance and cost nothing. Pages and accounts can be read.",
    seen: (time: string) => `As of ${time}, China time.`,
    again: "Refresh",
    since: (time: string) => `Since ${time}.`,
    until: (time: string) => `Expected to end at ${time}.`,
    operations: "Operations",
    about:
      "How calls fared in the last hour, and the share that was answered in the last 24 hours. Failed calls cost nothing.",
    operation: "Operation",
    state: "Last hour",
    answered: "Last 24 hours",
    data: "Answered from",
    states: { quiet: "No calls", working: "Works", disturbed: "Some calls fail", down: "Fails" },
    kinds: {
      imported: "Records held here",
      connector: "A source, live",
      sample: "Samples only",
      none: "Not offered",
    },
    few: "Too few calls",
    past: "Maintenance in the last 30 days",
    none: "None.",
    time: "China time, UTC+8. The same for programs:",
  },
  zh: {
    title: "服务状态",
    overall: {
      maintenance: "正在维护",
      down: "部分接口调用失败",
      disturbed: "少数调用失败",
      working: "未发现异常",
    },
    maintenance: "维护期间调用会返回 maintenance 错误，不扣费；页面和账户仍可查看。",
    seen: (time: string) => `北京时间 ${time} 的情况。`,
    again: "刷新",
    since: (time: string) => `${time} 开始。`,
    until: (time: string) => `预计 ${time} 结束。`,
    operations: "各接口",
    about: "最近一小时的调用情况，以及最近 24 小时的成功率。调用失败不收费。",
    operation: "接口",
    state: "最近一小时",
    answered: "最近 24 小时",
    data: "数据来源",
    states: { quiet: "没有调用", working: "正常", disturbed: "少数失败", down: "失败" },
    kinds: { imported: "本服务收录", connector: "实时查询数据源", sample: "仅有样例", none: "暂未提供" },
    few: "调用太少，不计",
    past: "最近 30 天的维护",
    none: "没有。",
    time: "以上为北京时间。程序可查询：",
  },
} as const;

const colours = { quiet: "", working: "good", disturbed: "warn", down: "bad" } as const satisfies Record<
  HealthState,
  string
>;

/** The page at /status for people: whether calls are answered now, and how they fared. */
export function statusPage({ status, past, now }: Standing, look: Look, files?: WelcomeFiles): string {
  const { language } = look;
  const t = texts[language];
  const { maintenance } = status;
  const worst = worstOf(status.operations.map(({ health }) => health));
  const body = html`<section class="hero">
<h1>${t.overall[maintenance === null ? worst : "maintenance"]}</h1>
<p>${t.seen(timeOf(now, now))} <a href="/status">${t.again}</a></p>
${
  maintenance === null
    ? undefined
    : html`<p class="problem" role="status">${maintenance.message[language]} ${t.since(timeOf(maintenance.since, now))} ${maintenance.until === null ? "" : t.until(timeOf(maintenance.until, now))} ${t.maintenance}</p>`
}
</section>
<section id="operations">
<h2>${t.operations}</h2>
<p>${t.about}</p>
<div class="prices states">
<table aria-label="${t.operations}">
<thead><tr><th scope="col">${t.operation}</th><th scope="col">${t.state}</th><th scope="col" class="number">${t.answered}</th><th scope="col">${t.data}</th></tr></thead>
<tbody>${status.operations.map((one) => row(one, language))}</tbody>
</table>
</div>
</section>
<section id="past">
<h2>${t.past}</h2>
${
  past.length === 0
    ? html`<p>${t.none}</p>`
    : html`<ul>${past.map(({ since, ended, message }) => html`<li>${timeOf(since, now)} – ${timeOf(ended!, now)}: ${message[language]}</li>`)}</ul>`
}
</section>`;
  const foot = html`<p>${t.time} <a href="/v1/status">/v1/status</a></p>`;
  return plainPage({ title: t.title, body, foot }, look, files);
}

function row(one: Standing["status"]["operations"][number], language: Language): Markup {
  const t = texts[language];
  const { operation, health, answered, data } = one;
  const title = operations.find(({ name }) => name === operation)!.title[language];
  return html`<tr>
<th scope="row">${title}<code>${operation}</code></th>
<td data-column="${t.state}"><span class="verdict ${colours[health]}">${t.states[health]}</span></td>
<td class="number" data-column="${t.answered}">${answered === null ? html`<small>${t.few}</small>` : `${answered.toFixed(1)} %`}</td>
<td data-column="${t.data}">${t.kinds[data]}</td>
</tr>`;
}

function worstOf(states: readonly HealthState[]): "down" | "disturbed" | "working" {
  return (["down", "disturbed"] as const).find((state) => states.includes(state)) ?? "working";
}

/** China's clock, with the day unless it is today. */
function timeOf(time: Date, now: Date): string {
  const [day, clock] = chinaTime(time);
  return day === chinaTime(now)[0] ? clock : `${day} ${clock}`;
}

function chinaTime(time: Date): [day: string, clock: string] {
  const text = new Date(time.getTime() + 8 * 3_600_000).toISOString();
  return [text.slice(0, 10), text.slice(11, 16)];
}
