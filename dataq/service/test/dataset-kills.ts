import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { findDue, refreshDue } from "../src/background/refresh/refresh.ts";
import type { Database } from "../src/database/database.ts";
import { listDatasets } from "../src/importer/datasets.ts";
import { embeddedIndex } from "../src/search/open-index.ts";
import type { SearchIndex } from "../src/search/search-index.ts";

/**
 * The arguments of `dataq`, as an operator types them. With `killAt` the command is killed before its n-th statement.
 */
export type RunCommand = (words: readonly string[], killAt?: number) => Promise<CommandRun>;

export interface CommandRun {
  readonly killed: boolean;
  /** Statements that it sent until it ended or was killed. */
  readonly statements: number;
}

export const killTargets = ["research_journal_search", "legal_laws"] as const;
export const killActions = ["import", "update", "remove", "restore", "refresh"] as const;
type Target = (typeof killTargets)[number];
type Action = (typeof killActions)[number];

export interface KillReport {
  readonly statements: number;
  readonly kills: number;
  /** Kills that left the old state; the others left the new one. */
  readonly keptOld: number;
}

/**
 * Changes data sets and kills the command before its statements. After each kill, the state must be the old
 * or the new one, and running the command again must produce the new state. Throws at the first difference.
 */
export class DatasetKills {
  readonly #database: Database;
  readonly #index: SearchIndex;
  readonly #folder: string;
  readonly #run: RunCommand;
  readonly #size: number;
  readonly #pages = new Map<string, string>();
  readonly #server = createServer((request, response) => response.end(this.#pages.get(request.url ?? "")));
  #turn = 0;

  constructor(parts: {
    /** An observer, which is never killed. */
    readonly database: Database;
    readonly folder: string;
    readonly run: RunCommand;
    /** Records of a data set. */
    readonly size: number;
  }) {
    this.#database = parts.database;
    this.#index = embeddedIndex(parts.database, { now: () => Number.POSITIVE_INFINITY });
    this.#folder = parts.folder;
    this.#run = parts.run;
    this.#size = parts.size;
  }

  async start(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    for (const target of killTargets)
      await this.#whole(["import", target, this.#file(target, "beside", 5, 15, 2021), "--dataset", "beside"]);
  }

  close(): void {
    this.#server.close();
  }

  /** `choose` picks the statements before which the command is killed, from their number. */
  async killAt(
    target: Target,
    action: Action,
    choose: (statements: number) => readonly number[],
  ): Promise<KillReport> {
    const words = await this.#prepare(target, action);
    const { statements } = await this.#whole(words);
    const after = await this.#look(target);
    await this.#prepare(target, action);
    let before = await this.#look(target);
    if (same(before, after)) throw new Error(`${target} ${action} changes nothing`);
    let keptOld = 0;
    let killed = 0;
    const steps = choose(statements);
    for (const step of steps) {
      // A command that continues a killed one sends fewer statements, and may end before its kill.
      if ((await this.#run(words, step)).killed) killed++;
      const seen = await this.#look(target);
      const isOld = same(seen.sets, before.sets);
      const context = `${target} ${action}, killed before statement ${step} of ${statements}`;
      if (!isOld && !same(seen.sets, after.sets))
        throw new Error(differences(context, { before, seen, after }));
      if (!same(seen.served, before.served) && !same(seen.served, after.served))
        throw new Error(differences(context, { before, seen, after }));
      await this.#assertSound(context, target);
      // As the hourly check of a service does.
      await refreshDue(this.#needs(), await findDue(this.#database, new Date()));
      const healed = await this.#look(target);
      if (!same(healed, isOld ? before : after))
        throw new Error(differences(context, { before, seen: healed, after }));
      if (isOld) keptOld++;
      else {
        await this.#prepare(target, action);
        before = await this.#look(target);
      }
    }
    await this.#whole(words);
    const last = await this.#look(target);
    if (!same(last, after))
      throw new Error(differences(`${target} ${action}, at last`, { before, seen: last, after }));
    await this.#assertSound(`${target} ${action}, at last`, target);
    await this.#assertNothingLeft(target);
    return { statements, kills: killed, keptOld };
  }

  /** Creates the state in which the action starts, and returns the arguments of the action. */
  async #prepare(target: Target, action: Action): Promise<readonly string[]> {
    const set = ["--dataset", "killed", "--again", "--yes"];
    const bring = (origin: string, ...more: string[]) => ["import", target, origin, ...set, ...more];
    const old = this.#file(target, "old", 0, 10, 2020);
    const fresh = this.#file(target, "fresh", 5, 20, 2020);
    if (action !== "refresh") await this.#whole(bring(old));
    if (action === "import") return bring(fresh);
    if (action === "update") return bring(fresh, "--update");
    if (action === "remove") return ["datasets", "remove", "killed", "--operation", target];
    if (action === "restore") {
      await this.#whole(bring(fresh));
      return ["datasets", "restore", "killed", "--operation", target];
    }
    const { port } = this.#server.address() as AddressInfo;
    const page = (name: string) => `http://127.0.0.1:${port}/${target}/${name}.jsonl`;
    this.#pages.set(`/${target}/a.jsonl`, this.#rows(target, "a", 0, 10, 2020));
    this.#pages.set(`/${target}/b.jsonl`, this.#rows(target, "b", 8, 12, 2020));
    await this.#whole(bring(page("a")));
    await this.#whole(bring(page("b"), "--update"));
    this.#pages.set(`/${target}/b.jsonl`, this.#rows(target, "new b", 8, 14, 2020));
    // The refresh uses another dictionary for all data sets.
    await this.#index.lexicons.set([["条还款", "方签章"][this.#turn++ % 2] as string]);
    return ["index", "build", target];
  }

  async #whole(words: readonly string[]): Promise<CommandRun> {
    const run = await this.#run(words);
    if (run.killed) throw new Error(`${words.join(" ")} was killed`);
    return run;
  }

  #file(target: Target, text: string, from: number, to: number, year: number): string {
    const path = join(this.#folder, `${target}-${text}.jsonl`);
    writeFileSync(path, this.#rows(target, text, from, to, year));
    return path;
  }

  /** `from` and `to` are tenths of a data set's size. Ranges of different data sets overlap. */
  #rows(target: Target, text: string, from: number, to: number, year: number): string {
    const row = (n: number) =>
      target === "legal_laws"
        ? {
            category: "经济法",
            title: `测试${n}法`,
            version_date: `${year}-01-01`,
            text: `第一条 借条还款${text}。`,
          }
        : { title: `期刊${n} 借条还款 ${text}`, issn: `${String(n).padStart(4, "0")}-0000` };
    const [first, end] = [from, to].map((tenths) => Math.round((tenths * this.#size) / 10)) as [
      number,
      number,
    ];
    return Array.from({ length: end - first }, (_, n) => JSON.stringify(row(first + n))).join("\n");
  }

  #needs() {
    return { database: this.#database, index: this.#index, dataFolder: this.#folder, progress: () => {} };
  }

  /** The visible state, without times. */
  async #look(target: Target): Promise<Seen> {
    const all = await listDatasets(this.#database, this.#index);
    const sets = all
      .filter((set) => set.target === target)
      .map(({ name, state, served, records, duplicates, runs, past }) => {
        if (state === "serving" && records !== served + duplicates)
          throw new Error(`${target} ${name}: ${records} records are not ${served} + ${duplicates}`);
        return { name, state, served, records, imports: runs.length, restorable: past?.served ?? null };
      });
    const served: string[] = [];
    this.#index.forget(target);
    for await (const body of this.#index.documents(target)) {
      const { name, law_name, versions } = body as {
        name?: string;
        law_name?: string;
        versions?: { version_date: string; content: string }[];
      };
      served.push(
        name ??
          [law_name, ...versions!.map(({ version_date, content }) => `${version_date} ${content}`)].join(" "),
      );
    }
    return { sets, served: served.sort() };
  }

  /**
   * Each corpus has one dictionary, the list of data sets and the index agree, and restorable states are kept.
   */
  async #assertSound(context: string, target: Target): Promise<void> {
    const wrong = await this.#database.pool.query(
      `select 'dictionaries of ' || c.corpus as what, string_agg(distinct s.analysis, ', ') as found
         from search_corpus c join search_snapshot_segment p on p.snapshot = c.snapshot
         join search_segment s on s.id = p.segment group by c.corpus having count(distinct s.analysis) > 1
       union all
       select 'unlisted', s.dataset from search_corpus c join search_snapshot_segment p on p.snapshot = c.snapshot
         join search_segment s on s.id = p.segment
        where c.corpus in (select corpus from dataset where target = $1)
          and not exists (select from dataset d where d.corpus = c.corpus and d.name = s.dataset)
       union all
       select 'not in the index', d.name from dataset d where d.target = $1
          and not exists (select from search_corpus c join search_snapshot_segment p on p.snapshot = c.snapshot
            join search_segment s on s.id = p.segment where c.corpus = d.corpus and s.dataset = d.name)
       union all
       select 'import not done', r.id::text from dataset d join import_run r on r.id = any(d.runs)
        where d.target = $1 and r.state <> 'done'
       union all
       select 'not restorable', p.name from dataset_past p
        where p.restorable_until > now() and not exists (select from search_snapshot s where s.id = p.snapshot)`,
      [target],
    );
    if (wrong.rows.length > 0) throw new Error(`${context}: ${JSON.stringify(wrong.rows)}`);
  }

  /** After a command has ended, nothing of the killed ones remains. */
  async #assertNothingLeft(target: Target): Promise<void> {
    const left = await this.#database.pool.query(
      `select 'segment' as what, s.id from search_segment s
        where s.corpus in (select corpus from dataset where target = $1)
          and not exists (select from search_snapshot_segment p where p.segment = s.id)`,
      [target],
    );
    if (left.rows.length > 0) throw new Error(`${target}: left over ${JSON.stringify(left.rows)}`);
  }
}

interface Seen {
  readonly sets: readonly object[];
  readonly served: readonly string[];
}

function same(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

function differences(context: string, states: Readonly<Record<string, Seen>>): string {
  const told = Object.entries(states).map(
    ([name, { sets, served }]) =>
      `${name}: ${JSON.stringify(sets)}, ${served.length} served: ${served.slice(0, 3)}`,
  );
  return [context, ...told].join("\n");
}
