import { once } from "node:events";
import { copyFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { Worker } from "node:worker_threads";
import { findOperation, tokensPerCny } from "@dataq/contract";
import type {
  AnyInvoice,
  AnyPayment,
  AutoTopUp,
  Board,
  ConnectorRow,
  Packages,
  Project,
  Statement,
} from "@dataq/contract/wire";
import { findSecret } from "../src/accounts/local-account.ts";
import { verifyBooks } from "../src/accounts/verify.ts";
import { writeBackup } from "../src/backup/backup.ts";
import { rehearse } from "../src/backup/rehearse.ts";
import { restoreBackup } from "../src/backup/restore.ts";
import { readConfig } from "../src/config.ts";
import { type Database, openDatabase } from "../src/database/database.ts";
import { migrations } from "../src/schema.ts";
import { createService, type Service } from "../src/server.ts";
import {
  commitWithoutDisk,
  environmentOf,
  makeDataFolder,
  openFolder,
  removeDataFolder,
} from "../test/data-folder.ts";
import { type Charge, type Notice, onlineProviders, PaymentProviders } from "../test/payment-providers.ts";
import { callUrl } from "../test/service-process.ts";
import { mapping } from "../test/vendor.ts";

export const title =
  "A month of a business: customers, vendors, one operator, and books that agree to the fen";

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
/** The first of October 2026 in China. */
const FIRST_MS = Date.parse("2026-09-30T16:00:00Z");
const DAYS = 31;
/** What a correction of an invoice does to its amount. */
const signedFen = ({ kind, amount_fen }: AnyInvoice["corrections"][number]) =>
  kind === "red" ? -amount_fen : amount_fen;
const fenOf = (tokens: number) => (tokens * 100) / tokensPerCny;
/** Every fourth customer buys packages only: a tenth more tokens, which end during the month. */
const offered = { tokens: 110_000, price_fen: 200, days: 12 } as const;
const buysPackages = (number: number) => number % 4 === 1;
/** Every sixth customer lets a saved card be charged, a step of it at a time, until a sum of the month is used up. */
const savesCard = (number: number) => number % 6 === 0 && number % 7 !== 0;
const automatic = { amount_fen: 400, most_fen: 2_000 } as const;
/** The mark lies so far above what they begin with: charges go on until they have it, and again when calls have cost it. */
const MARK_ABOVE = 700_000;
/** Every third customer makes half of their calls by a key of a project with a budget. */
const hasProject = (number: number) => number % 3 === 2;
const BUDGET = 60_000;
const tokensOf = (fen: number) => (fen * tokensPerCny) / 100;

/** What is asked, and of whom: two vendors, each with operations and a price for a request. */
const vendors = [
  { name: "Court data", costFen: 6, operations: ["enterprise_shixin_check", "enterprise_zhixing_check"] },
  { name: "Law press", costFen: 3, operations: ["legal_laws", "legal_cases"] },
] as const;
type Asked = (typeof vendors)[number]["operations"][number];
const asked = vendors.flatMap(({ operations }) => [...operations]) as Asked[];

/**
 * `--customers 300`, `--minutes 20`: how long the month takes at least; each day, customers call until their share of it
 * is over, and once at least. `--seed`.
 */
export async function run(print: (line: string) => void, _folder: string, args: readonly string[]) {
  const { values } = parseArgs({
    args: [...args],
    options: {
      customers: { type: "string", default: "300" },
      minutes: { type: "string", default: "20" },
      seed: { type: "string", default: "20261101" },
    },
  });
  await using month = await Month.start(Number(values.seed), Number(values.customers));
  const begun = performance.now();
  const dayMs = (Number(values.minutes) * 60_000) / DAYS;
  for (let day = 1; day <= DAYS; day++) {
    await month.live(day, dayMs);
    if (day % 5 === 0 || day === DAYS) console.error(month.news(day));
  }
  const rows = await month.close();
  print("| what happened | |");
  print("|---|---:|");
  for (const [what, count] of Object.entries(month.told))
    print(`| ${what} | ${count.toLocaleString("en")} |`);
  print(`| minutes | ${((performance.now() - begun) / 60_000).toFixed(1)} |`);
  print("");
  print("| books | one side | | other side | | difference |");
  print("|---|---|---:|---|---:|---:|");
  for (const { what, left, a, right, b } of rows)
    print(
      `| ${what} | ${left} | ${a.toLocaleString("en")} | ${right} | ${b.toLocaleString("en")} | ${b - a} |`,
    );
  const wrong = rows.filter(({ a, b }) => a !== b);
  if (wrong.length > 0) throw new Error(`The books differ: ${wrong.map(({ what }) => what).join("; ")}`);
}

/** A customer with a notebook of their own: what they were told, and nothing of the service's tables. */
interface Customer {
  readonly id: string;
  readonly key: string;
  readonly number: number;
  readonly joined: number;
  readonly provider: (typeof onlineProviders)[number] | "bank";
  /** Day on which they leave; beyond the month for most. */
  readonly leaves: number;
  readonly granted: number;
  /** By operation: what the answers said that they cost, less what was given back. */
  readonly spent: Record<string, number>;
  /** A charged call to complain about. */
  charged:
    | {
        readonly id: string;
        readonly operation: Asked;
        readonly tokens: number;
        readonly isProjects: boolean;
      }
    | undefined;
  readonly projectKey: string | undefined;
  /** What calls of the project cost, and what of it came back. */
  projectSpent: number;
  projectBack: number;
  vouchers: number;
  hasLeft: boolean;
  calls: number;
  /** Of a customer who has allowed that a card is charged. */
  card: "none" | "allowed" | "stopped";
  stoppedMs: number;
}

/** A side of the books against another, in fen or tokens. */
interface Row {
  readonly what: string;
  readonly left: string;
  readonly a: number;
  readonly right: string;
  readonly b: number;
}

class Month implements AsyncDisposable {
  nowMs = FIRST_MS;
  service!: Service;
  database!: Database;
  readonly customers: Customer[] = [];
  /** Notices that are still on their way; some never arrive. */
  readonly #notices: Notice[] = [];
  /** The bank's book: transfers by payment, and what went back. */
  readonly #bank = new Map<string, { fen: number; back: number }>();
  #offer = "";
  /** Payments that customers began themselves; a card was charged for all others. */
  readonly #begun = new Set<string>();
  readonly #due: { readonly atDay: number; readonly run: () => Promise<void> }[] = [];
  readonly told: Record<string, number> = {};
  readonly #folders: string[] = [];
  readonly #random: () => number;
  readonly #size: number;
  providers!: PaymentProviders;
  meters!: Meters;

  private constructor(seed: number, size: number) {
    this.#size = size;
    let state = seed >>> 0;
    // mulberry32
    this.#random = () => {
      state = (state + 0x6d2b79f5) >>> 0;
      let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
      mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
      return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
    };
  }

  static async start(seed: number, size: number): Promise<Month> {
    const month = new Month(seed, size);
    month.providers = await PaymentProviders.start(() => month.nowMs);
    month.providers.charges = (id) => month.#charge(id);
    month.meters = await Meters.start();
    const folder = await makeDataFolder("tables");
    month.#folders.push(folder);
    await month.#open(folder);
    return month;
  }

  async #open(folder: string): Promise<void> {
    this.database = await openFolder(folder);
    await commitWithoutDisk(this.database);
    const config = readConfig({
      ...environmentOf(folder),
      DATAQ_HOST: "127.0.0.1:0",
      DATAQ_LAWS: "off",
      DATAQ_SAMPLES: "off",
      DATAQ_CONNECTORS: this.meters.configure(folder),
      ...this.providers.configure(folder),
    });
    this.service = await createService(config, {
      progress: () => {},
      clock: () => new Date(this.nowMs),
      logTo: { write: () => {} },
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.service.close();
    await this.database.close();
    await this.providers[Symbol.asyncDispose]();
    await this.meters.close();
    for (const folder of this.#folders) await removeDataFolder(folder);
  }

  /** One day: people come, pay, complain and leave; everybody calls; the operator works at the end of it. */
  async live(day: number, realMs: number): Promise<void> {
    const dayStart = FIRST_MS + (day - 1) * DAY_MS;
    this.nowMs = dayStart + 8 * HOUR_MS;
    await this.#join(day);
    await this.#announce(day);
    await this.#lookAtCards(day);
    await this.#pay(day);
    this.nowMs = dayStart + 10 * HOUR_MS;
    // One vendor is down for two days, the other answers nonsense for one.
    this.meters.isDown = day === 9 || day === 10;
    this.meters.isMad = day === 22;
    const end = performance.now() + realMs;
    do {
      await this.#callAll(day);
      this.nowMs += 60_000;
    } while (performance.now() < end);
    await this.#askFor(day);
    this.nowMs = dayStart + 18 * HOUR_MS;
    await this.#deliver(day);
    if (day === 20) await this.#moveHouse();
    for (const [place, { atDay, run }] of [...this.#due.entries()].toReversed())
      if (atDay <= day) {
        this.#due.splice(place, 1);
        await run();
      }
    await this.#leave(day);
    // What goes back after the last of these days is still due at the end.
    if (day % 6 === 5) await this.#correct();
    this.nowMs = dayStart + 23 * HOUR_MS;
    await this.service.sweep();
  }

  news(day: number): string {
    const { calls = 0, "payments that arrived": paid = 0 } = this.told;
    return `Day ${day}: ${this.customers.length} customers, ${calls} calls, ${paid} payments.`;
  }

  /** Two thirds are there from the first days, the others come later. */
  async #join(day: number): Promise<void> {
    const wanted = Math.ceil(this.#size * Math.min(1, 0.5 + day / 40));
    while (this.customers.length < wanted) {
      const number = this.customers.length;
      const made = await this.#operate("POST", "/admin/v1/accounts", {
        name: `客户 ${number} Ltd`,
        email: `buyer${number}@shop${number}.example`,
        keys: 0,
        // No trial, which would be spent before the package.
        ...(buysPackages(number) && { tokens: 0 }),
      });
      const id = made.account_id as string;
      const scopes = ["data:query", "read:account", "manage:billing", "manage:keys"];
      const { keys } = await this.#operate("POST", `/admin/v1/accounts/${id}/keys`, { count: 1, scopes });
      const balance = (await this.#ask(keys[0], "/v1/balance")).body as { balance: number };
      const kinds = [...onlineProviders, "bank"] as const;
      this.customers.push({
        id,
        key: keys[0],
        number,
        joined: day,
        provider: kinds[number % 7 === 0 ? 3 : number % 3]!,
        leaves: number % 11 === 5 ? 12 + (number % 17) : 99,
        granted: balance.balance,
        spent: {},
        charged: undefined,
        projectKey: hasProject(number) ? await this.#projectKey(keys[0]) : undefined,
        projectSpent: 0,
        projectBack: 0,
        vouchers: 0,
        hasLeft: false,
        calls: 0,
        card: "none",
        stoppedMs: Number.POSITIVE_INFINITY,
      });
      this.#tell("customers");
    }
  }

  async #projectKey(key: string): Promise<string> {
    const project = await this.#ask(key, "/v1/projects", { name: "搜索", monthly_budget: BUDGET });
    const made = await this.#ask(key, "/v1/keys", { project_id: (project.body as Project).id });
    if (made.status !== 201) throw new Error(`No key of a project: ${made.text}`);
    this.#tell("projects");
    return (made.body as { key: string }).key;
  }

  /** A price goes up from the sixteenth on, announced three days before. */
  async #announce(day: number): Promise<void> {
    if (day === 1) this.#offer = (await this.#operate("POST", "/admin/v1/packages", offered)).id;
    if (day !== 13) return;
    const effective_from = new Date(FIRST_MS + 15 * DAY_MS).toISOString();
    const price = { operation: "legal_laws", tokens: 6_000, cached_tokens: 3_000, effective_from };
    await this.#operate("POST", "/admin/v1/prices", price);
    this.#tell("price changes");
  }

  async #pay(day: number): Promise<void> {
    for (const customer of this.customers) {
      if (customer.hasLeft || customer.card === "allowed") continue;
      if (this.#random() > (customer.joined === day ? 0.7 : 0.05)) continue;
      const isPackage = buysPackages(customer.number);
      const amountFen = isPackage
        ? offered.price_fen
        : [1_000, 2_999, 5_000, 9_900, 30_000][Math.floor(this.#random() * 5)]!;
      const { provider } = customer;
      const begun = await this.#ask(customer.key, "/v1/payments", {
        // Stripe takes no payment of so little.
        provider: isPackage && provider === "stripe" ? "alipay" : provider,
        ...(isPackage ? { package: this.#offer } : { amount_fen: amountFen }),
      });
      this.#tell("payments begun");
      if (isPackage) this.#tell("packages begun");
      if (begun.status !== 201) {
        this.#tell("payments that the provider refused");
        continue;
      }
      const payment = begun.body as AnyPayment;
      this.#begun.add(payment.id);
      const luck = this.#random();
      if (provider === "bank") {
        // The operator confirms on the next day, which the month must still have.
        if (luck < 0.85 && day < DAYS) {
          this.#bank.set(payment.id, { fen: amountFen, back: 0 });
          this.#due.push({ atDay: day + 1, run: () => this.#confirm(payment.id, amountFen) });
        }
        continue;
      }
      if (luck < 0.12) this.#tell("payments left unpaid");
      else if (luck < 0.18) this.#notices.push(this.providers.close(payment.id));
      else {
        const notice = this.providers.pay(payment.id);
        this.#tell("payments that arrived");
        // Some notices are lost: the sweeper finds out by asking. Some come twice.
        if (luck < 0.88) this.#notices.push(notice);
        if (luck > 0.8 && luck < 0.88) this.#notices.push(notice);
        if (luck >= 0.88) this.#tell("notices that were lost");
        const fate = this.#random();
        if (isPackage && fate < 0.15)
          this.#due.push({ atDay: day + 3, run: () => this.#refundPackage(customer, payment) });
        else if (isPackage) continue;
        else if (fate < 0.05)
          this.#due.push({ atDay: day + 3, run: () => this.#refund(customer, payment, amountFen) });
        else if (provider === "stripe" && fate < 0.09)
          this.#due.push({ atDay: day + 5, run: () => this.#dispute(payment.id, fate < 0.07) });
        else if (fate < 0.5)
          this.#due.push({ atDay: day + 2, run: () => this.#invoice(customer, payment.id) });
      }
    }
    if (day === 4) {
      const { codes } = await this.#operate("POST", "/admin/v1/vouchers", {
        tokens: 20_000,
        count: 12,
        batch: "autumn",
      });
      for (const [place, code] of (codes as string[]).entries()) {
        const customer = this.customers[place * 7];
        if (customer === undefined || buysPackages(customer.number)) continue;
        const done = await this.#ask(customer.key, "/v1/vouchers/redeem", { code });
        if (done.status !== 200) throw new Error(`A voucher was refused: ${done.text}`);
        customer.vouchers += 20_000;
        this.#tell("vouchers");
      }
    }
  }

  /** What the bank says to the charge of a card. */
  #charge(id: string): Charge {
    const luck = this.#random();
    if (luck < 0.65) {
      this.#tell("charges of cards that were made at once");
      this.#tell("payments that arrived");
      if (luck < 0.03) this.#due.push({ atDay: this.#day + 4, run: () => this.#dispute(id, luck < 0.02) });
      return "made";
    }
    // What is slow must still be told in this month.
    if (luck < 0.78 && this.#day < DAYS) {
      this.#tell("charges of cards that took a day");
      this.#due.push({ atDay: this.#day + 1, run: async () => this.#endCharge(id) });
      return "slow";
    }
    if (luck < 0.92) {
      this.#tell("charges of cards that the bank declined");
      return "card_declined";
    }
    this.#tell("charges of cards for which the bank wanted the customer");
    return "authentication_required";
  }

  #endCharge(id: string): void {
    const isPaid = this.#random() < 0.7;
    const notice = this.providers.endCharge(id, isPaid ? "paid" : "closed", "card_declined");
    if (isPaid) this.#tell("payments that arrived");
    // The sweeper asks for the others.
    if (this.#random() < 0.7) this.#notices.push(notice);
    else this.#tell("notices that were lost");
  }

  get #day(): number {
    return Math.floor((this.nowMs - FIRST_MS) / DAY_MS) + 1;
  }

  /** Customers allow charges, see that some failed, allow them again or not, and stop them. */
  async #lookAtCards(day: number): Promise<void> {
    for (const customer of this.customers) {
      const { key } = customer;
      if (!savesCard(customer.number) || customer.hasLeft) continue;
      if (customer.joined === day) {
        customer.card = "allowed";
        await this.#allow(customer);
        this.#tell("customers who let a card be charged");
        continue;
      }
      if (customer.card !== "allowed") continue;
      const seen = (await this.#ask(key, "/v1/auto-top-up")).body as AutoTopUp;
      if (seen.state === "stopped" && this.#random() < 0.6) {
        await this.#allow(customer, this.#random() < 0.5);
        this.#tell("customers who allowed it again after a failure");
      } else if (this.#random() < 0.03 || day === DAYS) {
        const { status } = await this.#ask(key, "/v1/auto-top-up", undefined, "DELETE");
        if (status !== 204) throw new Error(`Charges could not be stopped: ${status}`);
        customer.card = "stopped";
        customer.stoppedMs = this.nowMs;
        this.#tell(day === DAYS ? "customers who stopped it at the end" : "customers who stopped it");
      }
    }
  }

  async #allow({ key, granted }: Customer, new_card = false): Promise<void> {
    const wanted = { ...automatic, low_tokens: granted + MARK_ABOVE, consent: true, new_card };
    const { status, text, body } = await this.#ask(key, "/v1/auto-top-up", wanted, "PATCH");
    if (status !== 200) throw new Error(`Charges could not be allowed: ${text}`);
    const { url } = body as AutoTopUp;
    if (url === null) return;
    const notice = this.providers.saveCard(url);
    // A card whose notice is lost is found when the customer looks.
    if (this.#random() < 0.7) this.#notices.push(notice);
    else this.#tell("notices that were lost");
  }

  async #confirm(id: string, amountFen: number): Promise<void> {
    await this.#operate("POST", `/admin/v1/payments/${id}/confirm`, {
      transaction: `bank ${id}`,
      amount_fen: amountFen,
    });
    this.#tell("payments that arrived");
    this.#tell("bank transfers that the operator confirmed");
    if (amountFen === offered.price_fen || this.#random() > 0.08) return;
    const back = Math.ceil(amountFen / 4);
    this.#bank.get(id)!.back += back;
    const refund = { amount_fen: back, reason: "ordered too much", transaction: `back ${id}` };
    await this.#operate("POST", `/admin/v1/payments/${id}/refunds`, refund);
    this.#tell("refunds of payments");
  }

  async #refund(customer: Customer, { id }: AnyPayment, amountFen: number): Promise<void> {
    const state = this.#random() < 0.3 ? "pending" : "done";
    const asked = Math.ceil(amountFen / (1 + Math.floor(this.#random() * 3)));
    const refund = { amount_fen: Math.min(asked, await this.#unspentFen(customer)), reason: "asked for it" };
    if (refund.amount_fen === 0) return this.#tell("refunds that came too late: all was spent");
    this.providers.refundState = state;
    await this.#operate("POST", `/admin/v1/payments/${id}/refunds`, refund);
    this.providers.refundState = "done";
    this.#tell("refunds of payments");
    const trade = this.providers.trades.get(id)!;
    const pending = trade.refunds.find(({ state }) => state === "pending");
    // Some refunds come back days later.
    if (pending)
      this.#notices.push(
        this.providers.endRefund(
          id,
          pending.id,
          this.#random() < 0.3 && trade.provider !== "alipay" ? "failed" : "done",
        ),
      );
  }

  /** What the customer paid and has not spent. */
  async #unspentFen({ key }: Customer): Promise<number> {
    const { body } = await this.#ask(key, "/v1/balance");
    return Math.max(0, Math.floor(fenOf((body as { paid_balance: number }).paid_balance)));
  }

  /** What is left of the price goes back, and the package ends. */
  async #refundPackage({ key }: Customer, { id }: AnyPayment): Promise<void> {
    const { data } = (await this.#ask(key, "/v1/packages")).body as Packages;
    const found = data.find((one) => one.payment_id === id);
    const bonus = offered.tokens - tokensOf(offered.price_fen);
    const amount_fen = found && found.ended_at === null ? Math.floor(fenOf(found.left - bonus)) : 0;
    if (amount_fen <= 0) return this.#tell("packages that could not be refunded any more");
    await this.#operate("POST", `/admin/v1/payments/${id}/refunds`, { amount_fen, reason: "too many" });
    this.#tell("packages that were refunded");
  }

  async #dispute(id: string, isWon: boolean): Promise<void> {
    if (this.providers.trades.get(id)!.refunds.length > 0) return;
    this.#notices.push(this.providers.dispute(id));
    this.#tell("chargebacks");
    if (isWon)
      this.#due.push({
        atDay: Math.floor((this.nowMs - FIRST_MS) / DAY_MS) + 4,
        run: async () => {
          this.#notices.push(this.providers.winDispute(id));
          this.#tell("chargebacks that were won");
        },
      });
  }

  async #invoice(customer: Customer, id: string): Promise<void> {
    const buyer = { title: `客户 ${customer.number} 有限公司`, tax_number: "91110108551385082Q" };
    await this.#ask(customer.key, "/v1/invoices/buyer", buyer, "PATCH");
    const made = await this.#ask(customer.key, "/v1/invoices", { payments: [id] });
    if (made.status !== 201) return this.#tell("invoices that had to wait");
    this.#tell("invoices");
    const number = `FP${(made.body as { id: string }).id.slice(-12)}`;
    await this.#operate("POST", `/admin/v1/invoices/${(made.body as { id: string }).id}/issue`, { number });
  }

  /** The operator issues what is due in red, and again after a dispute that was won. */
  async #correct(): Promise<void> {
    for (const { id, red_fen, again_fen } of await this.#all<AnyInvoice>(
      "/admin/v1/invoices?state=to_correct",
    )) {
      const kind = red_fen > 0 ? "red" : "again";
      const number = `FP${kind}${this.#random()}`;
      const body = { kind, number, amount_fen: red_fen || again_fen };
      await this.#operate("POST", `/admin/v1/invoices/${id}/corrections`, body);
      this.#tell(kind === "red" ? "red invoices" : "invoices over what came back");
    }
  }

  async #callAll(day: number): Promise<void> {
    const callers = this.customers.filter(({ hasLeft, number }) => !hasLeft && (number + day) % 3 !== 0);
    const ways = 6;
    await Promise.all(
      Array.from({ length: ways }, async (_, way) => {
        for (let place = way; place < callers.length; place += ways) await this.#call(callers[place]!);
      }),
    );
  }

  async #call(customer: Customer): Promise<void> {
    const operation = asked[(customer.calls + customer.number) % asked.length]!;
    // Every fifth question was asked before: it costs half.
    const n = customer.calls % 5 === 4 ? customer.calls - 4 : customer.calls;
    customer.calls += 1;
    const about = `${customer.number}甲${n}`;
    const params = operation.startsWith("enterprise")
      ? { company_name: `公司${about}` }
      : { query: `合同 ${about}` };
    const isProjects = customer.projectKey !== undefined && customer.calls % 2 === 0;
    const key = isProjects ? customer.projectKey! : customer.key;
    const { status, body } = await this.#ask(key, "/v1/data/query", { operation, params });
    this.#tell("calls");
    if (status !== 200) {
      this.#tell(`calls refused or failed: ${(body as { code: string }).code}`);
      return;
    }
    const { request_id: id, usage } = body as { request_id: string; usage: { tokens: number } };
    customer.spent[operation] = (customer.spent[operation] ?? 0) + usage.tokens;
    if (isProjects) customer.projectSpent += usage.tokens;
    if (usage.tokens > 0 && this.#random() < 0.1)
      customer.charged = { id, operation, tokens: usage.tokens, isProjects };
  }

  /** Complaints: the operator looks at the call and gives its tokens back. */
  async #askFor(day: number): Promise<void> {
    for (const customer of this.customers) {
      const { charged } = customer;
      if (charged === undefined || (customer.number + day) % 9 !== 0) continue;
      customer.charged = undefined;
      const seen = await this.#ask(customer.key, `/v1/requests/${charged.id}`);
      if (seen.status !== 200) throw new Error(`A call of the customer is not in the log: ${seen.text}`);
      const tokens = customer.number % 2 === 0 ? charged.tokens : Math.ceil(charged.tokens / 2);
      await this.#operate("POST", "/admin/v1/refunds", {
        request_id: charged.id,
        tokens,
        reason: "wrong record",
      });
      customer.spent[charged.operation]! -= tokens;
      if (charged.isProjects) customer.projectBack += tokens;
      this.#tell("complaints that were refunded");
    }
  }

  /** Notices arrive in any order; some providers send them again after a day without an answer. */
  async #deliver(day: number): Promise<void> {
    const ready = this.#notices.splice(0).sort(() => this.#random() - 0.5);
    for (const notice of ready) {
      const { path, headers, body } = notice.again?.() ?? notice;
      const answer = await fetch(this.service.url + path, { method: "POST", headers, body }).catch(
        () => undefined,
      );
      if (answer?.ok !== true) {
        this.#tell("notices that were not accepted at first");
        if (day < DAYS) this.#notices.push(notice);
      }
    }
  }

  /** Maintenance, a backup, a rehearsal, and a restore on another disk; customers pay meanwhile. */
  async #moveHouse(): Promise<void> {
    const [folder] = this.#folders.slice(-1) as [string];
    const until = new Date(this.nowMs + HOUR_MS).toISOString();
    await this.#operate("POST", "/admin/v1/maintenance", { on: true, until, message: { zh: "更换硬盘。" } });
    const caller = this.customers.find(({ hasLeft }) => !hasLeft)!;
    const payer = await this.#ask(caller.key, "/v1/payments", { provider: "stripe", amount_fen: 100 });
    const refused = await this.#ask(caller.key, "/v1/data/query", {
      operation: "legal_laws",
      params: { query: "合同" },
    });
    for (const { status, body } of [payer, refused])
      if (status !== 503 || (body as { code: string }).code !== "maintenance")
        throw new Error("Maintenance did not refuse a call.");
    const file = join(folder, "move.tar");
    await writeBackup(this.database, file, new Date(this.nowMs), () => {});
    const secret = await findSecret(folder, undefined);
    await using side = await openSide(folder, this.#folders);
    await rehearse(side.database, file, { live: this.database, migrations, secret, progress: () => {} });
    this.#tell("rehearsals");
    await this.service.close();
    await this.database.close();
    // A payment that was open when the house moved is paid while nobody answers.
    const open = [...this.providers.trades.values()].filter(({ state }) => state === "open").slice(0, 3);
    for (const { id } of open) {
      this.#notices.push(this.providers.pay(id));
      this.#tell("payments that arrived");
      this.#tell("payments made while the service was away");
    }
    await this.#deliver(20);
    const next = await openSide(folder, this.#folders);
    await restoreBackup(next.database, file, { migrations, secret, progress: () => {} });
    await next[Symbol.asyncDispose]();
    await this.#open(next.folder);
    await this.#operate("POST", "/admin/v1/maintenance", { on: false });
    this.#tell("restores");
    await this.#deliver(20);
  }

  /** Leavers get what they paid last and did not spend; their account is frozen. */
  async #leave(day: number): Promise<void> {
    for (const customer of this.customers) {
      if (customer.hasLeft || customer.leaves > day) continue;
      customer.hasLeft = true;
      this.#tell("customers who left");
      const found = await this.#operate("GET", `/admin/v1/payments?account=${customer.id}&state=paid`);
      const [last] = (found.data as AnyPayment[]).filter(
        ({ returned_fen, package: bought }) => returned_fen === 0 && bought === null,
      );
      const left = Math.min(await this.#unspentFen(customer), last?.amount_fen ?? 0);
      const isDisputed = (this.providers.trades.get(last?.id ?? "")?.disputeFen ?? 0) > 0;
      if (last !== undefined && left > 0 && !isDisputed) {
        const refund = { amount_fen: left, reason: "leaves" };
        const bank = this.#bank.get(last.id);
        if (bank) bank.back += left;
        await this.#operate(
          "POST",
          `/admin/v1/payments/${last.id}/refunds`,
          bank ? { ...refund, transaction: `leave ${last.id}` } : refund,
        );
        this.#tell("refunds of payments");
      }
      await this.#operate("PATCH", `/admin/v1/accounts/${customer.id}`, { frozen: true });
    }
  }

  /** The month is over: every side of the books is added up by itself. */
  async close(): Promise<Row[]> {
    this.nowMs = FIRST_MS + DAYS * DAY_MS + 2 * HOUR_MS;
    await this.#deliver(DAYS);
    // What is still open is asked for until it is settled.
    for (let n = 0; n < 30; n++) {
      this.nowMs += 30_000;
      await this.service.sweep();
    }
    for (let n = 0; n < 10; n++) {
      this.nowMs += DAY_MS;
      await this.service.sweep();
    }
    const { findings } = await verifyBooks(this.database);
    const breaches = findings.flatMap(({ law, breaches: found }) =>
      found.map((breach) => `${law} ${breach}`),
    );
    if (breaches.length > 0) throw new Error(`Broken laws: ${breaches.slice(0, 5).join("; ")}`);
    const payments = await this.#all<AnyPayment>("/admin/v1/payments");
    const paid = payments.filter(({ state }) => state === "paid");
    const rows: Row[] = [];
    const add = (what: string, left: string, a: number, right: string, b: number) =>
      rows.push({ what, left, a, right, b });
    const sum = <Item>(items: Iterable<Item>, of: (item: Item) => number) => {
      let total = 0;
      for (const item of items) total += of(item);
      return total;
    };
    const atProviders = this.providers.balanceFen();
    const atBank = sum(this.#bank.values(), ({ fen, back }) => fen - back);
    const ledger = await this.database.query<{ fen: number }>(
      "select coalesce(-sum(payments), 0)::bigint / 500 as fen from entry where reference like 'payment:%'",
    );
    const money = atProviders + atBank;
    add("money, fen", "providers and bank", money, "ledger", ledger.rows[0]!.fen);
    add(
      "money, fen",
      "providers and bank",
      money,
      "operator's list of payments",
      sum(paid, ({ amount_fen, returned_fen }) => amount_fen - returned_fen),
    );
    const differing = paid.filter(({ id, amount_fen, returned_fen }) => {
      const bank = this.#bank.get(id);
      return amount_fen - returned_fen !== (bank ? bank.fen - bank.back : this.providers.balanceFen(id));
    });
    add("payments", "all", paid.length, "equal at their provider", paid.length - differing.length);

    const charged = paid.filter(({ id }) => !this.#begun.has(id));
    const cards = [...this.providers.trades.values()].filter(
      ({ number, state }) => number.startsWith("auto") && state === "paid",
    );
    add(
      "charges of cards, fen",
      "Stripe",
      sum(cards, ({ amountFen }) => amountFen),
      "payments that no customer began",
      sum(charged, ({ amount_fen }) => amount_fen),
    );
    add("charges of cards", "made", cards.length, "made once", cards.length - this.providers.chargedTwice);
    const saving = this.customers.filter(({ number }) => savesCard(number));
    const chargedOf = (customer: Customer) => charged.filter(({ account_id }) => account_id === customer.id);
    add(
      "customers who let a card be charged",
      "all",
      saving.length,
      "charged no more than allowed",
      saving.filter((one) => sum(chargedOf(one), ({ amount_fen }) => amount_fen) <= automatic.most_fen)
        .length,
    );
    const stopped = saving.filter(({ card }) => card === "stopped");
    add(
      "customers who stopped it",
      "all",
      stopped.length,
      "not charged afterwards",
      stopped.filter((one) =>
        chargedOf(one).every(({ created_at }) => Date.parse(created_at) <= one.stoppedMs),
      ).length,
    );

    const statements = new Map<Customer, Statement>();
    for (const customer of this.customers) {
      const { body } = await this.#operate("GET", `/admin/v1/accounts/${customer.id}`).then(() =>
        this.#statement(customer),
      );
      statements.set(customer, body);
    }
    const lines = [...statements.values()].flatMap((one) => one.lines);
    const ofKind = (...kinds: string[]) =>
      sum(
        lines.filter(({ kind }) => kinds.includes(kind)),
        ({ tokens }) => tokens,
      );
    const broken = [...statements.values()].filter(
      (one) => one.opening_balance + sum(one.lines, ({ tokens }) => tokens) !== one.closing_balance,
    );
    add("statements", "all", statements.size, "with lines that add up", statements.size - broken.length);
    const wallets = await this.database.query<{ tokens: number }>(
      "select coalesce(sum(balance_after), 0)::bigint as tokens from (select distinct on (account_id) balance_after from entry where account_id = any($1) and at < $2 order by account_id, seq desc) last",
      [this.customers.map(({ id }) => id), new Date(FIRST_MS + DAYS * DAY_MS)],
    );
    add(
      "balances, tokens",
      "statements",
      sum(statements.values(), (one) => one.closing_balance),
      "ledger",
      wallets.rows[0]!.tokens,
    );
    const spent = sum(this.customers, (one) => sum(Object.values(one.spent), (tokens) => tokens));
    add("calls, tokens", "customers' notebooks", spent, "statements", -ofKind("calls"));
    const otherwise = [...statements].filter(([customer, { lines: own }]) =>
      asked.some((operation) => {
        const charged = -sum(
          own.filter((line) => line.operation === operation),
          ({ tokens }) => tokens,
        );
        return charged !== (customer.spent[operation] ?? 0);
      }),
    );
    add(
      "notebooks by operation",
      "all",
      statements.size,
      "equal to their statement",
      statements.size - otherwise.length,
    );
    const vouchers = sum(this.customers, (one) => one.vouchers);
    add(
      "payments and vouchers, tokens",
      "payments and vouchers",
      sum(paid, ({ tokens }) => tokens) + vouchers,
      "top-ups in statements",
      ofKind("topup"),
    );
    const invoices = await this.#all<AnyInvoice>("/admin/v1/invoices");
    const invoiced = new Set(invoices.flatMap((one) => one.payments));
    add(
      "invoices, fen",
      "invoices as corrected, and what is due",
      sum(
        invoices,
        ({ amount_fen, red_fen, again_fen, corrections }) =>
          amount_fen - red_fen + again_fen + sum(corrections, signedFen),
      ),
      "what is left of payments that say they are on one",
      sum(
        paid.filter(({ invoice_id }) => invoice_id !== null),
        ({ amount_fen, returned_fen }) => amount_fen - returned_fen,
      ),
    );
    add(
      "invoiced payments",
      "by the invoices",
      invoiced.size,
      "by the payments",
      paid.filter(({ invoice_id }) => invoice_id !== null).length,
    );
    const connectors = (await this.#operate("GET", "/admin/v1/connectors")).data as ConnectorRow[];
    for (const { name, costFen } of vendors) {
      const meter = this.meters.requests[name] ?? 0;
      const known = connectors.filter(({ vendor }) => vendor === name);
      add(
        `${name}: cost, fen`,
        "vendor's meter",
        meter * costFen,
        "operator's contracts",
        sum(known, ({ cost_fen }) => cost_fen),
      );
    }
    const boardUntil = (day: string) => this.#operate("GET", `/admin/v1/board?from=2026-10-01&to=${day}`);
    const board: Board = await boardUntil("2026-10-31");
    // What was still open at the end of October, such as a dispute, is booked in the days after it.
    const later: Board = await boardUntil("2026-11-30");
    add("earned, tokens", "customers' notebooks", spent, "board", board.money.earned);
    add(
      "earned, tokens",
      "statements",
      -ofKind("calls"),
      "board, by operation",
      sum(board.operations, ({ earned }) => earned),
    );
    add(
      "paid in, tokens",
      "payments",
      tokensOf(sum(paid, ({ amount_fen }) => amount_fen)),
      "board",
      board.money.paid_in,
    );
    add("vouchers, tokens", "customers' notebooks", vouchers, "board", board.money.vouchers);
    add(
      "returned, tokens",
      "payments",
      tokensOf(sum(paid, ({ returned_fen }) => returned_fen)),
      "board, with November",
      later.money.returned,
    );
    add("expired packages, tokens", "statements", -ofKind("expire"), "board", board.money.package_expired);
    const withProjects = this.customers.filter(({ projectKey }) => projectKey !== undefined);
    add(
      "projects, tokens",
      "customers' notebooks",
      sum(withProjects, ({ projectSpent, projectBack }) => projectSpent - projectBack),
      "statements by project",
      sum(
        withProjects,
        (one) =>
          -sum(
            statements.get(one)!.projects.filter(({ project_id }) => project_id !== null),
            ({ tokens }) => tokens,
          ),
      ),
    );
    add(
      "projects",
      "all",
      withProjects.length,
      "within their budget",
      withProjects.filter(({ projectSpent }) => projectSpent <= BUDGET).length,
    );
    const metered = sum(vendors, ({ name, costFen }) => (this.meters.requests[name] ?? 0) * costFen);
    add("vendors, fen", "vendors' meters", metered, "board", board.money.vendor_cost_fen);
    this.told["entries of the ledger"] = (
      await this.database.query<{ n: number }>("select count(*)::int as n from entry")
    ).rows[0]!.n;
    return rows;
  }

  async #statement(customer: Customer): Promise<{ body: Statement }> {
    // A frozen account can still be read.
    const { status, body, text } = await this.#ask(customer.key, "/v1/statements/2026-10");
    if (status !== 200) throw new Error(`No statement: ${text}`);
    return { body: body as Statement };
  }

  async #all<Item>(path: string): Promise<Item[]> {
    const found: Item[] = [];
    for (let cursor: string | null = ""; cursor !== null; ) {
      const page = await this.#operate(
        "GET",
        `${path}${path.includes("?") ? "&" : "?"}limit=100${cursor === "" ? "" : `&cursor=${cursor}`}`,
      );
      found.push(...(page.data as Item[]));
      cursor = page.next_cursor as string | null;
    }
    return found;
  }

  // biome-ignore lint/suspicious/noExplicitAny: answers are checked against the contract by callUrl.
  async #operate(method: string, path: string, body?: object): Promise<any> {
    const answer = await this.#ask(this.service.localKey, path, body, method);
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`);
    return answer.body;
  }

  async #ask(key: string, path: string, body?: object, method?: string) {
    return callUrl(this.service.url + path, {
      key,
      hasRealRecords: false,
      ...(body && { body }),
      ...(method && { method }),
    });
  }

  #tell(what: string): void {
    this.told[what] = (this.told[what] ?? 0) + 1;
  }
}

/** An empty database in a folder of its own, with the secret of another. */
async function openSide(from: string, folders: string[]) {
  const folder = `${from}-side-${folders.length}`;
  folders.push(folder);
  const database = await openDatabase({ folder, progress: () => {} });
  copyFileSync(join(from, "secret"), join(folder, "secret"));
  return { folder, database, [Symbol.asyncDispose]: () => database.close() };
}

/** Two vendors in front of the test's vendor: each counts the answers that it will charge for, and fails when the month says so. */
class Meters {
  /** The court data do not answer. */
  isDown = false;
  /** The law press answers something else. */
  isMad = false;
  readonly requests: Record<string, number> = {};
  readonly #server = createServer();
  #base = "";

  static async start(): Promise<Meters> {
    const meters = new Meters();
    const thread = new Worker(new URL("../test/vendor-server.ts", import.meta.url), {
      execArgv: ["--conditions=source"],
    });
    const [port] = (await once(thread, "message")) as [number];
    thread.unref();
    meters.#server.on("request", async (request, response) => {
      const [, name = "", ...rest] = (request.url ?? "").split("/");
      const vendor = vendors[Number(name)]!;
      if (meters.isDown && vendor === vendors[0]) return response.writeHead(503).end("{}");
      if (meters.isMad && vendor === vendors[1]) return response.end("<html>maintenance</html>");
      // On a busy machine, the vendor may close a kept connection just when the next request comes.
      const ask = () => fetch(`http://127.0.0.1:${port}/${rest.join("/")}`);
      const answer = await ask().catch(ask);
      // As vendors do: a request that failed is not charged for, nor one whose caller had gone.
      response.on("finish", () => {
        meters.requests[vendor.name] = (meters.requests[vendor.name] ?? 0) + 1;
      });
      response.writeHead(answer.status, { "content-type": "application/json" });
      response.end(Buffer.from(await answer.arrayBuffer()));
    });
    await new Promise<void>((resolve) => meters.#server.listen(0, "127.0.0.1", resolve));
    meters.#base = `http://127.0.0.1:${(meters.#server.address() as AddressInfo).port}`;
    return meters;
  }

  /** Writes the operator's contracts. Returns their file. */
  configure(folder: string): string {
    const path = join(folder, "connectors.json");
    const connectors = vendors.flatMap(({ name, costFen, operations }, place) =>
      operations.map((operation) => ({
        ...mapping(findOperation(operation)!, `${this.#base}/${place}`),
        name,
        cost_fen: costFen,
        // On a busy machine too, an answer that the vendor counts reaches the service.
        time_limit_ms: 25_000,
      })),
    );
    writeFileSync(path, JSON.stringify({ connectors }));
    return path;
  }

  async close(): Promise<void> {
    await new Promise((resolve) => this.#server.close(resolve).closeAllConnections());
  }
}
