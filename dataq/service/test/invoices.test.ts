import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import yauzl from "yauzl";
import { type InProcessService, startInProcess } from "./in-process.ts";
import { type Notice, PaymentProviders } from "./payment-providers.ts";

let folder: string;
let providers: PaymentProviders;
let service: InProcessService;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "dataq-invoices-"));
  providers = await PaymentProviders.start(() => service.nowMs);
  const seller = { name: "数据服务有限公司", tax_number: "91350100M000100Y43" };
  service = await startInProcess(providers.configure(folder, { seller }));
}, 60_000);
afterAll(async () => {
  await service?.[Symbol.asyncDispose]();
  await providers?.[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

/** A customer who may pay and ask. */
async function customer() {
  const { id } = await service.account(0, { name: "北京某某科技有限公司", tier: "operator", keys: 0 });
  const body = { scopes: ["read:account", "manage:billing", "data:query"] };
  const key: string = (await service.call(`/admin/v1/accounts/${id}/keys`, { body })).body.keys[0];
  const call = (path: string, body?: unknown, method?: string) =>
    service.call(path, {
      key,
      ...(body !== undefined && { body }),
      ...(method && { method }),
      hasRealRecords: false,
    });
  const pay = async (amount_fen: number): Promise<string> => {
    const { id: payment } = (await call("/v1/payments", { provider: "stripe", amount_fen })).body;
    const { path, headers, body: sent } = providers.pay(payment);
    expect((await service.call(path, { key: null, headers, body: sent })).text).toBe("success");
    return payment;
  };
  return { id, key, call, pay };
}

const run = promisify(execFile);
/** PDFium reads and draws PDF in Chrome. CI installs it from .ci/pip.txt. */
const hasPdfium = await run("python3", ["-c", "import pypdfium2"]).then(
  () => true,
  () => false,
);
const pdfium = `
import sys, pypdfium2
for page in pypdfium2.PdfDocument(sys.argv[1]):
    print(page.get_textpage().get_text_range())`;

/** The text of a PDF as PDFium reads it, or, where there is none, the texts that its pages draw. */
async function textOf(url: string, key: string): Promise<string> {
  const response = await fetch(service.url + url, { headers: { authorization: `Bearer ${key}` } });
  expect([response.status, response.headers.get("content-type")]).toEqual([200, "application/pdf"]);
  const bytes = Buffer.from(await response.arrayBuffer());
  expectTable(bytes);
  if (!hasPdfium) {
    const texts = [...bytes.toString("latin1").matchAll(/<([0-9a-f]*)> Tj/g)];
    return texts.map(([, hex]) => Buffer.from(hex!, "hex").swap16().toString("utf16le")).join("\n");
  }
  const file = join(folder, "document.pdf");
  writeFileSync(file, bytes);
  return (await run("python3", ["-c", pdfium, file])).stdout;
}

/** Every object begins where the table says. */
function expectTable(pdf: Buffer): void {
  const text = pdf.toString("latin1");
  const start = Number(/startxref\n(\d+)\n%%EOF\n$/.exec(text)![1]);
  const rows = [...text.slice(start).matchAll(/^(\d{10}) 00000 n $/gm)];
  expect(rows.length).toBeGreaterThan(6);
  for (const [n, [, at]] of rows.entries())
    expect(text.slice(Number(at)).startsWith(`${n + 1} 0 obj\n`)).toBe(true);
}

describe("a statement", () => {
  test("has lines that add up to the ledger, in every month", async () => {
    const { id, key, call, pay } = await customer();
    const ask = (name: string) =>
      call("/v1/data/query", { operation: "enterprise_shixin_check", params: { company_name: name } });
    // The last second of March in China, and the first of April.
    service.nowMs = Date.parse("2026-03-31T15:59:59Z");
    const payment = await pay(10_000);
    for (const name of ["甲", "乙", "丙"]) expect((await ask(name)).status).toBe(200);
    service.nowMs = Date.parse("2026-03-31T16:00:00Z");
    await ask("丁");
    await ask("丁");
    const refund = { amount_fen: 2_500, reason: "an order that was cancelled" };
    await service.call(`/admin/v1/payments/${payment}/refunds`, { body: refund });
    await service.call(`/admin/v1/accounts/${id}/adjust`, { body: { tokens: -77, reason: "赔偿更正" } });
    service.nowMs = Date.parse("2026-05-02T00:00:00Z");
    const read = async (month: string) => (await call(`/v1/statements/${month}`)).body;
    const months = await Promise.all(["2026-02", "2026-03", "2026-04", "2026-05"].map(read));
    for (const [n, { opening_balance, lines, closing_balance }] of months.entries()) {
      const sum = lines.reduce((total: number, { tokens }: { tokens: number }) => total + tokens, 0);
      expect(opening_balance + sum).toBe(closing_balance);
      if (n > 0) expect(opening_balance).toBe(months[n - 1].closing_balance);
    }
    expect(months[3].closing_balance).toBe((await call("/v1/balance")).body.balance);
    expect(months.map(({ is_complete }) => is_complete)).toEqual([true, true, true, false]);
    const shown = months.map(({ lines }) =>
      lines.map((line: Record<string, unknown>) => [
        line["kind"],
        line["operation"],
        line["count"],
        line["tokens"],
      ]),
    );
    expect(shown).toEqual([
      [],
      [
        ["topup", null, 1, 5_000_000],
        ["calls", "enterprise_shixin_check", 3, -30_000],
      ],
      [
        ["calls", "enterprise_shixin_check", 2, -15_000],
        ["refund", null, 1, -1_250_000],
        ["adjust", null, 1, -77],
      ],
      [],
    ]);
    const text = await textOf("/v1/statements/2026-04/pdf?language=zh", key);
    for (const part of [
      "对账单 2026-04",
      "数据服务有限公司",
      "北京某某科技有限公司",
      "-15,000",
      "-25.0000",
      "赔偿更正",
      "3,704,923",
    ])
      expect(text).toContain(part);
    expect(await textOf("/v1/statements/2026-05/pdf?language=en", key)).toContain("The month is not over.");
    for (const month of ["2026-13", "2026-3", "none", "1999-01"])
      expect((await call(`/v1/statements/${month}`)).body.error.param).toBe("month");
  });

  test("of hundreds of lines goes on to further pages", async () => {
    const { id, key } = await customer();
    service.nowMs = Date.parse("2026-06-10T00:00:00Z");
    await service.database.query(
      `insert into entry (account_id, seq, at, kind, paid, adjustments, balance_after, actor, note)
       select $1, n, $2, 'adjust', n, -n, n * (n + 1) / 2, 'test', '第' || n || '笔 😀 ' || repeat('长', 50) from generate_series(1, 120) n`,
      [id, new Date(service.nowMs)],
    );
    await service.database.query("update wallet set paid = 7260, seq = 120 where account_id = $1", [id]);
    const text = await textOf("/v1/statements/2026-06/pdf", key);
    for (let n = 1; n <= 120; n++) expect(text).toContain(`第${n}笔`);
    expect(text).toContain("7,260");
  });
});

test("a receipt says who paid whom and what went back; only the payer gets it, and only once it is paid", async () => {
  const { key, call, pay } = await customer();
  const other = await customer();
  const open = (await call("/v1/payments", { provider: "alipay", amount_fen: 500 })).body.id;
  expect((await call(`/v1/payments/${open}/receipt`)).body.code).toBe("payment_state");
  const id = await pay(12_345);
  await call(
    "/v1/invoices/buyer",
    { title: "上海测试（中国）有限公司", tax_number: "91350100M000100Y43" },
    "PATCH",
  );
  await service.call(`/admin/v1/payments/${id}/refunds`, { body: { amount_fen: 45, reason: "rest" } });
  expect((await other.call(`/v1/payments/${id}/receipt`)).status).toBe(404);
  const chinese = await textOf(`/v1/payments/${id}/receipt`, key);
  for (const part of [
    "收款收据",
    id,
    "上海测试（中国）有限公司",
    "91350100M000100Y43",
    "¥ 123.45",
    "¥ 0.45",
    "¥ 123.00",
    "6,172,500",
  ])
    expect(chinese).toContain(part);
  const english = await textOf(`/v1/payments/${id}/receipt?language=en`, key);
  for (const part of ["Receipt", "数据服务有限公司", "This receipt is not a tax invoice."])
    expect(english).toContain(part);
});

describe("an invoice", () => {
  const buyer = { title: '=HYPERLINK("x") 公司', tax_number: "91350100m000100y43", email: "a@b.example" };

  test("is asked for once a payment, exported for the tax bureau, and issued under a number", async () => {
    const { call, pay } = await customer();
    const [one, two] = [await pay(1_000), await pay(2_050)];
    const request = (...payments: string[]) => call("/v1/invoices", { payments });
    expect((await request(one)).body.code).toBe("not_found");
    expect((await call("/v1/invoices/buyer")).status).toBe(404);
    const wrong = { ...buyer, tax_number: "91350100M000100Y42" };
    const refused = await call("/v1/invoices/buyer", wrong, "PATCH");
    expect(refused.body.error).toMatchObject({ param: "tax_number" });
    expect(refused.body.detail).toContain("the check character of the first 17 is 3");
    expect((await call("/v1/invoices/buyer", buyer, "PATCH")).body.tax_number).toBe("91350100M000100Y43");

    await service.call(`/admin/v1/payments/${two}/refunds`, { body: { amount_fen: 50, reason: "rest" } });
    const made = (await request(one, two, one)).body;
    expect(made).toMatchObject({ state: "requested", amount_fen: 3_000, payments: [one, two].sort() });
    expect((await request(two)).body.code).toBe("already_exists");
    expect((await request("pay_none")).body.code).toBe("not_found");
    const foreign = await customer();
    await foreign.call("/v1/invoices/buyer", buyer, "PATCH");
    expect((await foreign.call("/v1/invoices", { payments: [one] })).body.code).toBe("not_found");
    // A later change of the buyer does not alter what was asked for.
    await call("/v1/invoices/buyer", { title: "Somebody", tax_number: "" }, "PATCH");

    const sheets = await exported();
    const serial = made.id.slice(-20);
    expect(sheets).toEqual({
      "1-发票基本信息": [
        {
          发票流水号: serial,
          发票类型: "普通发票",
          是否含税: "是",
          受票方自然人标识: "否",
          购买方名称: buyer.title,
          购买方纳税人识别号: "91350100M000100Y43",
          购买方邮箱: "a@b.example",
          备注: made.id,
        },
      ],
      "2-发票明细信息": [
        {
          发票流水号: serial,
          项目名称: "*信息技术服务*数据查询服务",
          商品和服务税收编码: "3040203000000000000",
          金额: "30.00",
          税率: "0.06",
          是否使用优惠政策: "否",
        },
      ],
    });

    const issue = (number: string) =>
      service.call(`/admin/v1/invoices/${made.id}/issue`, { body: { number } });
    expect((await issue("26112000000012345678")).body).toMatchObject({ state: "issued" });
    expect((await issue("26112000000012345679")).body.code).toBe("already_exists");
    expect((await call("/v1/invoices")).body.data).toMatchObject([
      { id: made.id, number: "26112000000012345678" },
    ]);
    expect((await service.call("/admin/v1/invoices?state=requested")).body.data).toEqual([]);
  });

  test("is over what is left when it is issued: what goes back before counts, and what goes back after is due in red", async () => {
    const { call, pay } = await customer();
    await call("/v1/invoices/buyer", buyer, "PATCH");
    const [kept, returned] = [await pay(1_000), await pay(700)];
    const ask = async (id: string) => (await call("/v1/invoices", { payments: [id] })).body.id as string;
    const [one, other] = [await ask(kept), await ask(returned)];
    const refund = async (id: string, amount_fen: number) => {
      const body = { amount_fen, reason: "complaint" };
      expect((await service.call(`/admin/v1/payments/${id}/refunds`, { body })).status).toBe(201);
    };
    const amounts = async () => {
      const { data } = (await service.call("/admin/v1/invoices")).body;
      return [one, other].map((id) => {
        const { amount_fen, red_fen } = data.find((each: { id: string }) => each.id === id);
        return [amount_fen, red_fen];
      });
    };
    await refund(kept, 400);
    await refund(returned, 700);
    expect(await amounts()).toEqual([
      [600, 0],
      [0, 0],
    ]);
    const lines = (await exported())["2-发票明细信息"]!;
    expect(lines.map(({ 发票流水号: serial, 金额: amount }) => [serial, amount])).toEqual([
      [one.slice(-20), "6.00"],
    ]);
    const issue = (id: string, body: object) => service.call(`/admin/v1/invoices/${id}/issue`, { body });
    // The clerk had looked before the refund.
    const early = await issue(one, { number: "26112000000000000001", amount_fen: 1_000 });
    expect(early.body).toMatchObject({ code: "invalid_params", error: { param: "amount_fen" } });
    expect((await issue(other, { number: "26112000000000000002" })).body.code).toBe("payment_state");
    const issued = await issue(one, { number: "26112000000000000001", amount_fen: 600 });
    expect(issued.body).toMatchObject({ state: "issued", amount_fen: 600, red_fen: 0 });
    await refund(kept, 250);
    expect((await amounts())[0]).toEqual([600, 250]);
    const own = (await call("/v1/invoices")).body.data as { amount_fen: number }[];
    expect(new Set(own.map(({ amount_fen }) => amount_fen))).toEqual(new Set([0, 600]));
  });
});

describe("an issued invoice", () => {
  let serial = 0;
  const newNumber = () => {
    serial += 1;
    return `2611${String(serial).padStart(16, "0")}`;
  };

  /** A customer with an issued invoice over one payment by card. */
  async function invoiced(amountFen: number) {
    const one = await customer();
    await one.call("/v1/invoices/buyer", { title: "北京红冲有限公司", tax_number: "" }, "PATCH");
    const payment = await one.pay(amountFen);
    const { id } = (await one.call("/v1/invoices", { payments: [payment] })).body;
    const issue = (number: string) => service.call(`/admin/v1/invoices/${id}/issue`, { body: { number } });
    const correct = (kind: string, amount_fen: number, number = newNumber()) =>
      service.call(`/admin/v1/invoices/${id}/corrections`, { body: { kind, number, amount_fen } });
    const refund = async (amount_fen: number) => {
      const body = { amount_fen, reason: "complaint" };
      expect((await service.call(`/admin/v1/payments/${payment}/refunds`, { body })).status).toBe(201);
    };
    const deliver = async ({ path, headers, body }: Notice) =>
      expect((await service.call(path, { key: null, headers, body })).text).toBe("success");
    const listed = async (state: string): Promise<object | undefined> =>
      (await service.call(`/admin/v1/invoices?state=${state}`)).body.data.find(
        (each: { id: string }) => each.id === id,
      );
    /** What is due in red and again. */
    const due = async () => {
      const { red_fen, again_fen } = (await listed("issued")) as { red_fen: number; again_fen: number };
      expect((await listed("to_correct")) !== undefined).toBe(red_fen > 0 || again_fen > 0);
      return [red_fen, again_fen];
    };
    return { ...one, accountId: one.id, id, payment, issue, correct, refund, deliver, due };
  }

  test("is corrected by red ones over what went back: what is due is what nobody issued yet", async () => {
    const one = await invoiced(1_000);
    // Nothing is due of an invoice that is not issued, whatever went back.
    await one.refund(100);
    expect((await one.correct("red", 1)).body.error).toMatchObject({ param: "amount_fen" });
    await one.issue(newNumber());
    expect(await one.due()).toEqual([0, 0]);
    await one.refund(250);
    expect(await one.due()).toEqual([250, 0]);
    const tooMuch = await one.correct("red", 251);
    expect(tooMuch.body).toMatchObject({ code: "invalid_params", error: { param: "amount_fen" } });
    expect(tooMuch.body.detail).toContain("250");
    expect((await one.correct("again", 1)).body.code).toBe("invalid_params");
    const first = newNumber();
    service.nowMs = Date.parse("2026-06-20T01:00:00Z");
    const corrected = await one.correct("red", 250, first);
    expect(corrected.status).toBe(201);
    expect(corrected.body).toMatchObject({ state: "issued", amount_fen: 900, red_fen: 0, again_fen: 0 });
    // The same number again says so, although nothing is due any more.
    expect((await one.correct("red", 250, first)).body.code).toBe("already_exists");
    await one.refund(300);
    expect(await one.due()).toEqual([300, 0]);
    service.nowMs = Date.parse("2026-06-21T01:00:00Z");
    const second = newNumber();
    expect((await one.correct("red", 200, second)).body).toMatchObject({ red_fen: 100 });
    // The customer sees both, with number and day.
    expect((await one.call("/v1/invoices")).body.data[0].corrections).toEqual([
      { kind: "red", number: first, amount_fen: 250, issued_at: "2026-06-20T01:00:00.000Z" },
      { kind: "red", number: second, amount_fen: 200, issued_at: "2026-06-21T01:00:00.000Z" },
    ]);
    expect((await one.call("/v1/invoices")).body.data[0]).not.toHaveProperty("red_fen");
    // They are in the account's export, and nobody else's are.
    const other = await invoiced(500);
    await other.issue(newNumber());
    await other.refund(10);
    await other.correct("red", 10);
    const scopes = ["read:account", "manage:members", "manage:billing"];
    const made = await service.call(`/admin/v1/accounts/${one.accountId}/keys`, { body: { scopes } });
    const file = await service.call("/v1/account/export", { key: made.body.keys[0] });
    const rows = file.text
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(rows.filter(({ table }) => table === "invoice_correction")).toMatchObject([
      { invoice_id: one.id, number: first, kind: "red", amount_fen: 250 },
      { invoice_id: one.id, number: second, kind: "red", amount_fen: 200 },
    ]);
  });

  test("that was lowered by a dispute is due again when the dispute is won", async () => {
    const one = await invoiced(1_000);
    await one.issue(newNumber());
    await one.deliver(providers.dispute(one.payment));
    expect(await one.due()).toEqual([1_000, 0]);
    await one.correct("red", 600);
    expect(await one.due()).toEqual([400, 0]);
    await one.deliver(providers.winDispute(one.payment));
    // The red one stays; what it took away belongs on another invoice.
    expect(await one.due()).toEqual([0, 600]);
    expect((await one.correct("red", 1)).body.code).toBe("invalid_params");
    expect((await one.correct("again", 601)).body.error).toMatchObject({ param: "amount_fen" });
    // What goes back meanwhile need not be issued and then be issued in red.
    await one.refund(150);
    expect(await one.due()).toEqual([0, 450]);
    expect((await one.correct("again", 450)).body).toMatchObject({ red_fen: 0, again_fen: 0 });
    await one.refund(50);
    expect(await one.due()).toEqual([50, 0]);
  });

  test("that was issued while a refund was under way is due again when the refund fails", async () => {
    const one = await invoiced(1_000);
    providers.refundState = "pending";
    await one.refund(400);
    expect((await one.issue(newNumber())).body).toMatchObject({ amount_fen: 600 });
    const [pending] = providers.trades.get(one.payment)!.refunds;
    await one.deliver(providers.endRefund(one.payment, pending!.id, "failed"));
    providers.refundState = "done";
    expect(await one.due()).toEqual([0, 400]);
  });

  test("is corrected by one of two operators at once, and a number is taken once", async () => {
    const [one, other] = [await invoiced(1_000), await invoiced(1_000)];
    await one.issue(newNumber());
    await other.issue(newNumber());
    await one.refund(300);
    await other.refund(300);
    const together = await Promise.all(Array.from({ length: 4 }, () => one.correct("red", 300)));
    expect(together.map(({ status }) => status).sort()).toEqual([201, 400, 400, 400]);
    expect(await one.due()).toEqual([0, 0]);
    // One number on two invoices and as the number of a third, in whatever order they come.
    await one.refund(300);
    const third = await invoiced(500);
    const number = newNumber();
    const both = await Promise.all([
      one.correct("red", 300, number),
      other.correct("red", 300, number),
      third.issue(number),
    ]);
    expect(both.map(({ body }) => body.code).filter((code) => code === "already_exists")).toHaveLength(2);
    const numbered = await service.database.query(
      "select from invoice where number = $1 union all select from invoice_correction where number = $1",
      [number],
    );
    expect(numbered.rowCount).toBe(1);
  });
});

/** The exported workbook: for each sheet, what its rows have under which names. */
async function exported(): Promise<Record<string, Record<string, string>[]>> {
  const response = await fetch(`${service.url}/admin/v1/invoices/export`, {
    headers: { authorization: `Bearer ${service.key}` },
  });
  const parts: Record<string, string> = {};
  const zip = await yauzl.fromBufferPromise(Buffer.from(await response.arrayBuffer()));
  for await (const entry of zip.eachEntry())
    parts[entry.fileName] = await text(await zip.openReadStreamPromise(entry));
  const names = [...parts["xl/workbook.xml"]!.matchAll(/<sheet name="([^"]*)"/g)];
  return Object.fromEntries(
    names.map(([, name], n) => [name, rowsOf(parts[`xl/worksheets/sheet${n + 1}.xml`]!)]),
  );
}

/** The rows of a sheet below the third, which has the names. */
function rowsOf(sheet: string): Record<string, string>[] {
  const cells = [...sheet.matchAll(/<c r="([A-Z]+)(\d+)" t="inlineStr"><is><t[^>]*>([^<]*)</g)];
  const names = new Map(cells.flatMap(([, column, row, name]) => (row === "3" ? [[column, name!]] : [])));
  const rows = Map.groupBy(cells, ([, , row]) => Number(row));
  return [...rows]
    .filter(([row]) => row > 3)
    .map(([, list]) =>
      Object.fromEntries(
        list.map(([, column, , value]) => [names.get(column), value!.replaceAll("&quot;", '"')]),
      ),
    );
}
