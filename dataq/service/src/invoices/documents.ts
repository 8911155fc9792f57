import { chinaInstant, findOperation, tokensPerCny } from "@dataq/contract";
import type { PaymentWithReturns } from "../payments/payment.ts";
import { returnedFen } from "../payments/payment.ts";
import { yuanOf } from "../payments/provider.ts";
import type { Seller } from "../payments/settings.ts";
import type { Buyer } from "./invoice.ts";
import { type PdfLine, writePdf } from "./pdf.ts";
import type { Statement } from "./statement.ts";

type Language = "zh" | "en";

/** Who a document is for and from. */
export interface Parties {
  readonly seller: Seller | undefined;
  readonly buyer: Buyer | undefined;
  readonly accountName: string;
}

const words = {
  zh: {
    receipt: "收款收据",
    notInvoice: "本收据不是发票。",
    seller: "收款方",
    buyer: "付款方",
    taxNumber: "税号",
    number: "付款编号",
    way: "付款方式",
    transaction: "交易号",
    paidAt: "付款时间（北京）",
    amount: "金额",
    tokens: "购入点数",
    returned: "已退回",
    left: "实收",
    statement: "对账单",
    account: "账户",
    opening: "期初余额",
    closing: "期末余额",
    running: "本月尚未结束。",
    projects: "调用按项目",
    noProject: "无项目",
    rate: "1 元 = 50,000 点。点数均为整数，各行之和加期初余额等于期末余额。",
    columns: ["说明", "次数", "点数", "折合（元）"],
    providers: { stripe: "Stripe", alipay: "支付宝", wechat: "微信支付", bank: "银行转账" },
    kinds: {
      calls: "调用",
      grant: "赠送",
      topup: "充值",
      expire: "过期",
      adjust: "调整",
      refund: "付款退款",
      chargeback: "银行拒付",
    },
  },
  en: {
    receipt: "Receipt",
    notInvoice: "This receipt is not a tax invoice.",
    seller: "Received by",
    buyer: "Paid by",
    taxNumber: "Tax number",
    number: "Payment",
    way: "Paid by means of",
    transaction: "Transaction",
    paidAt: "Paid at (China time)",
    amount: "Amount",
    tokens: "Tokens bought",
    returned: "Returned",
    left: "Received",
    statement: "Statement",
    account: "Account",
    opening: "Opening balance",
    closing: "Closing balance",
    running: "The month is not over.",
    projects: "Calls by project",
    noProject: "no project",
    rate: "1 CNY is 50,000 tokens. The opening balance and all lines add up to the closing balance.",
    columns: ["Description", "Count", "Tokens", "CNY"],
    providers: { stripe: "Stripe", alipay: "Alipay", wechat: "WeChat Pay", bank: "bank transfer" },
    kinds: {
      calls: "Calls",
      grant: "Granted",
      topup: "Top-up",
      expire: "Expired",
      adjust: "Adjusted",
      refund: "Payment refunded",
      chargeback: "Charged back",
    },
  },
} as const;

const LEFT = 60;
const RIGHT = 535;

/** The receipt of a payment, in CNY, with what went back. */
export function receiptPdf(payment: PaymentWithReturns, parties: Parties, language: Language): Buffer {
  const t = words[language];
  const back = returnedFen(payment.returns);
  const title = `${t.receipt} ${payment.id}`;
  return writePdf(title, [
    ...headOf(t.receipt, parties, language),
    ...[
      [t.number, payment.id],
      [t.way, t.providers[payment.provider]],
      [t.transaction, payment.transaction ?? ""],
      [t.paidAt, payment.paidAt ? timeOf(payment.paidAt) : ""],
      [t.tokens, grouped(payment.tokens)],
      [t.amount, `¥ ${yuanOf(payment.amountFen)}`],
      ...(back > 0
        ? [
            [t.returned, `¥ ${yuanOf(back)}`],
            [t.left, `¥ ${yuanOf(payment.amountFen - back)}`],
          ]
        : []),
    ].map(([name, value]) => pair(name!, value!)),
    { above: 20, texts: [{ text: t.notInvoice, x: LEFT, size: 9 }] },
  ]);
}

/** The statement of a month as a table. */
export function statementPdf(
  statement: Statement,
  parties: Parties,
  language: Language,
  isComplete: boolean,
): Buffer {
  const t = words[language];
  const row = (text: string, count: string, tokens: number, above = 2): PdfLine => ({
    above,
    texts: [
      { text: shortened(text, 300), x: LEFT },
      { text: count, x: 380, isRight: true },
      { text: grouped(tokens), x: 465, isRight: true },
      { text: signedYuan(tokens), x: RIGHT, isRight: true },
    ],
  });
  const [what, count, tokens, yuan] = t.columns;
  return writePdf(`${t.statement} ${statement.month}`, [
    ...headOf(`${t.statement} ${statement.month}`, parties, language),
    ...(isComplete ? [] : [{ texts: [{ text: t.running, x: LEFT, size: 9 }] }]),
    {
      above: 14,
      texts: [
        { text: what, x: LEFT, size: 9 },
        { text: count, x: 380, isRight: true, size: 9 },
        { text: tokens, x: 465, isRight: true, size: 9 },
        { text: yuan, x: RIGHT, isRight: true, size: 9 },
      ],
    },
    row(t.opening, "", statement.opening, 4),
    ...statement.lines.map((line) => {
      const operation = line.operation === null ? undefined : findOperation(line.operation);
      const name = operation?.title[language] ?? line.operation ?? line.note ?? "";
      const day = line.at === null ? "" : `${timeOf(line.at).slice(0, 10)} `;
      return row(
        `${day}${t.kinds[line.kind]}${name === "" ? "" : ` · ${name}`}`,
        String(line.count),
        line.tokens,
      );
    }),
    row(t.closing, "", statement.closing, 6),
    ...statement.projects.map(({ name, count, tokens }, at) =>
      row(`${t.projects} · ${name ?? t.noProject}`, String(count), tokens, at === 0 ? 16 : 2),
    ),
    { above: 20, texts: [{ text: t.rate, x: LEFT, size: 9 }] },
  ]);
}

function headOf(title: string, { seller, buyer, accountName }: Parties, language: Language): PdfLine[] {
  const t = words[language];
  return [
    { texts: [{ text: title, x: LEFT, size: 20 }] },
    { ...pair(t.seller, seller?.name ?? "dataq"), above: 16 },
    ...(seller ? [pair(t.taxNumber, seller.tax_number)] : []),
    { ...pair(t.buyer, buyer?.title ?? accountName), above: 8 },
    ...(buyer?.tax_number ? [pair(t.taxNumber, buyer.tax_number)] : []),
    { above: 8, texts: [{ text: "", x: LEFT }] },
  ];
}

function pair(name: string, value: string): PdfLine {
  return {
    above: 3,
    texts: [
      { text: name, x: LEFT },
      { text: shortened(value, 330), x: 200 },
    ],
  };
}

/** A text that fits into this many points. */
function shortened(text: string, points: number): string {
  let width = 0;
  for (const [at, character] of [...text].entries()) {
    width += /[\x20-\x7e]/.test(character) ? 5 : 10;
    if (width > points) return `${[...text].slice(0, at - 1).join("")}…`;
  }
  return text;
}

function timeOf(at: Date): string {
  const there = chinaInstant(at);
  return `${there.slice(0, 10)} ${there.slice(11, 19)}`;
}

function grouped(value: number): string {
  return String(value).replace(/\B(?=(\d{3})+$)/g, ",");
}

/** Tokens in yuan to four decimals, which is exact: a token is 0.00002 yuan, and prices are whole hundreds. */
function signedYuan(tokens: number): string {
  return (tokens / tokensPerCny).toFixed(4);
}
