import { type Bilingual, Failure } from "@dataq/contract";
import { type Author, writeAudit } from "../accounts/audit.ts";
import type { Database, Queries } from "../database/database.ts";
import { lockTransaction } from "../database/locks.ts";
import { inTransaction } from "../database/transaction.ts";

/** A time in which calls are refused. */
export interface MaintenanceWindow {
  readonly since: Date;
  /** When the operator expects to be done; null if unknown. */
  readonly until: Date | null;
  /** Null while it lasts. */
  readonly ended: Date | null;
  /** What customers are told. */
  readonly message: Bilingual;
}

/** What an operator says when it begins, or later. */
export interface Announcement {
  readonly until: Date | null;
  readonly message: Partial<Bilingual>;
}

/** How long a process uses the state that it read: every call needs it, and all instances follow within this time. */
const FRESH_MS = 1_000;
/** When callers should ask again if nobody knows when it ends. */
const UNKNOWN_S = 60;

const defaultMessage: Bilingual = { en: "It will be back soon.", zh: "很快恢复。" };

/** Whether the service is under maintenance, as this process last read it. */
export class Maintenance {
  readonly #database: Database;
  #state: MaintenanceWindow | undefined;
  #readAtMs = Number.NEGATIVE_INFINITY;
  #reading: Promise<void> | undefined;

  constructor(database: Database) {
    this.#database = database;
  }

  /** The window that is open, at most a second old. */
  async current(): Promise<MaintenanceWindow | undefined> {
    if (performance.now() - this.#readAtMs > FRESH_MS) {
      this.#reading ??= this.#read().finally(() => {
        this.#reading = undefined;
      });
      await this.#reading;
    }
    return this.#state;
  }

  /** Throws `maintenance` while it lasts. */
  async assertOff(now: Date): Promise<void> {
    const open = await this.current();
    if (open === undefined) return;
    const leftS = open.until === null ? 0 : (open.until.getTime() - now.getTime()) / 1000;
    throw new Failure("maintenance", {
      retry_after: leftS > 0 ? Math.ceil(leftS) : UNKNOWN_S,
      notice: open.message.en,
      zh: { notice: open.message.zh },
    });
  }

  /** The next use reads the state again. */
  forget(): void {
    this.#readAtMs = Number.NEGATIVE_INFINITY;
  }

  async #read(): Promise<void> {
    this.#state = await openWindow(this.#database.pool);
    this.#readAtMs = performance.now();
  }
}

export async function openWindow(queries: Queries): Promise<MaintenanceWindow | undefined> {
  return windowOf((await queries.query<Row>(`${SELECT} where ended_at is null`)).rows[0]);
}

/** Windows that ended since a time, newest first. */
export async function pastWindows(queries: Queries, since: Date): Promise<MaintenanceWindow[]> {
  const found = await queries.query<Row>(`${SELECT} where ended_at >= $1 order by begun_at desc limit 50`, [
    since,
  ]);
  return found.rows.map((row) => windowOf(row)!);
}

/** Begins maintenance, or changes what customers are told while it lasts. */
export function beginMaintenance(
  database: Database,
  { until, message }: Announcement,
  author: Author,
): Promise<MaintenanceWindow> {
  return inTransaction(database, async (transaction) => {
    await lockTransaction(transaction, "maintenance");
    const before = await openWindow(transaction);
    const told = { ...(before?.message ?? defaultMessage), ...message };
    await transaction.query(
      before === undefined
        ? "insert into maintenance (begun_at, until, message_en, message_zh) values ($1, $2, $3, $4)"
        : "update maintenance set until = $2, message_en = $3, message_zh = $4 where ended_at is null and $1::timestamptz is not null",
      [author.now, until, told.en, told.zh],
    );
    const after = (await openWindow(transaction))!;
    await writeAudit(transaction, author, "maintenance.begin", "service", before ?? null, after);
    return after;
  });
}

/** Returns false if there was none. */
export function endMaintenance(database: Database, author: Author): Promise<boolean> {
  return inTransaction(database, async (transaction) => {
    await lockTransaction(transaction, "maintenance");
    const before = await openWindow(transaction);
    if (before === undefined) return false;
    await transaction.query("update maintenance set ended_at = $1 where ended_at is null", [author.now]);
    await writeAudit(transaction, author, "maintenance.end", "service", before, null);
    return true;
  });
}

interface Row {
  readonly since: Date;
  readonly until: Date | null;
  readonly ended: Date | null;
  readonly en: string;
  readonly zh: string;
}

const SELECT = `select begun_at as since, until, ended_at as ended, message_en as en, message_zh as zh from maintenance`;

function windowOf(row: Row | undefined): MaintenanceWindow | undefined {
  if (row === undefined) return undefined;
  const { en, zh, ...rest } = row;
  return { ...rest, message: { en, zh } };
}
