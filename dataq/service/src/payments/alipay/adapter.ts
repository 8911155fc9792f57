import { chinaDate } from "@dataq/contract";
import { send } from "../ask.ts";
import {
  type Bill,
  fenOf,
  type News,
  NotGenuine,
  type Notification,
  NotLetIn,
  type OwnAddresses,
  type PaidBill,
  type Provider,
  type Received,
  type Refund,
  type RefundState,
  Refused,
  type TellAdmission,
  unknownIfRefused,
  type Way,
  yuanOf,
} from "../provider.ts";
import type { AlipaySettings } from "../settings.ts";
import { isSigned, isSignedNotification, signParameters } from "./signature.ts";

type Fields = Readonly<Record<string, string | undefined>>;

/** Alipay: a page of Alipay, or a QR code for its app (https://opendocs.alipay.com/open/270). */
export class Alipay implements Provider {
  readonly name = "alipay";
  readonly leastFen = 1;
  readonly #settings: AlipaySettings;

  readonly #clock: () => Date;
  readonly #tell: TellAdmission;

  constructor(settings: AlipaySettings, clock: () => Date, tell: TellAdmission) {
    this.#settings = settings;
    this.#clock = clock;
    this.#tell = tell;
  }

  async create(bill: Bill, { back, notify }: OwnAddresses): Promise<Way> {
    const order = {
      out_trade_no: bill.id,
      total_amount: yuanOf(bill.amountFen),
      subject: "dataq",
      time_expire: chinaTime(bill.expiresAt),
    };
    if (this.#settings.product === "qr") {
      const { qr_code } = await this.#ask("alipay.trade.precreate", order, { notify_url: notify });
      if (qr_code === undefined) throw new Error("Alipay answered without a QR code");
      return { qr: qr_code };
    }
    const page = this.#sign(
      "alipay.trade.page.pay",
      { ...order, product_code: "FAST_INSTANT_TRADE_PAY" },
      { notify_url: notify, return_url: back(bill.id) },
    );
    return { url: `${this.#settings.address}?${new URLSearchParams(page)}` };
  }

  async ask(bill: Bill): Promise<News | undefined> {
    // Alipay knows a trade once the customer has opened its page or scanned its code.
    const trade = await this.#ask("alipay.trade.query", { out_trade_no: bill.id }, {}, "ACQ.TRADE_NOT_EXIST");
    return trade["out_trade_no"] === bill.id ? newsOfTrade(trade) : undefined;
  }

  async refund(bill: PaidBill, refund: Refund): Promise<RefundState> {
    await this.#ask("alipay.trade.refund", {
      out_trade_no: bill.id,
      out_request_no: refund.id,
      refund_amount: yuanOf(refund.amountFen),
      refund_reason: refund.reason.slice(0, 80),
    });
    // It is made, whatever becomes of the question.
    const found = await this.#findRefund(bill.id, refund.id).catch(() => undefined);
    return found ?? { state: "pending", providerId: null };
  }

  async askRefund(bill: PaidBill, refund: Refund): Promise<RefundState> {
    return (await this.#findRefund(bill.id, refund.id).catch(unknownIfRefused)) ?? this.refund(bill, refund);
  }

  async read({ body }: Received): Promise<Notification> {
    const fields = Object.fromEntries(new URLSearchParams(body.toString()));
    if (!isSignedNotification(fields, this.#settings.alipayPublicKey))
      throw new NotGenuine("its signature is wrong", "签名不对");
    const { app_id, notify_id, out_trade_no, out_biz_no } = fields;
    if (app_id !== this.#settings.app_id) throw new NotGenuine("it is for another app", "属于另一个应用");
    if (!notify_id || !out_trade_no) throw new NotGenuine("it names no trade", "没有写明交易");
    // A notification of a refund has the sum of all refunds of the trade; each is asked for by its own number.
    if (fields["gmt_refund"] && out_biz_no) {
      const refund = await this.#findRefund(out_trade_no, out_biz_no);
      return { id: notify_id, news: refund ? [refund] : [] };
    }
    const news = newsOfTrade(fields);
    return { id: notify_id, news: news === undefined ? [] : [news] };
  }

  async #findRefund(tradeId: string, refundId: string): Promise<(News & { kind: "refund" }) | undefined> {
    const query = { out_trade_no: tradeId, out_request_no: refundId };
    const found = await this.#ask("alipay.trade.fastpay.refund.query", query, {}, "ACQ.TRADE_NOT_EXIST");
    // An answer without a status means that this refund does not exist, or is not made yet.
    if (found["refund_status"] !== "REFUND_SUCCESS") return undefined;
    return {
      kind: "refund",
      paymentId: tradeId,
      refundId,
      providerId: refundId,
      amountFen: fenOf(found["refund_amount"] ?? ""),
      state: "done",
    };
  }

  #sign(method: string, content: object, more: Readonly<Record<string, string>>): Record<string, string> {
    const parameters = {
      app_id: this.#settings.app_id,
      method,
      format: "JSON",
      charset: "utf-8",
      sign_type: "RSA2",
      timestamp: chinaTime(this.#clock()),
      version: "1.0",
      ...more,
      biz_content: JSON.stringify(content),
    };
    return { ...parameters, sign: signParameters(parameters, this.#settings.privateKey) };
  }

  /** Asks the gateway, and checks that Alipay signed the answer. `absent` is the code of an answer without a trade. */
  async #ask(
    method: string,
    content: object,
    more: Readonly<Record<string, string>> = {},
    absent?: string,
  ): Promise<Fields> {
    const { text } = await send({
      method: "POST",
      url: `${this.#settings.address}?charset=utf-8`,
      headers: { "content-type": "application/x-www-form-urlencoded;charset=utf-8" },
      body: new URLSearchParams(this.#sign(method, content, more)).toString(),
    });
    const name = `${method.replaceAll(".", "_")}_response`;
    const answer = JSON.parse(text) as Record<string, unknown>;
    const fields = (answer[name] ?? answer["error_response"]) as Fields | undefined;
    if (fields === undefined) throw new Error(`Alipay did not answer ${method}`);
    const said = `${fields["sub_code"] ?? fields["code"]} ${fields["sub_msg"] ?? fields["msg"]}`;
    // Such an answer is not always signed.
    if (isNotLetIn(fields)) {
      await this.#tell(`Alipay answered ${said}`);
      throw new NotLetIn(`Alipay answered ${said}`);
    }
    if (typeof answer["sign"] !== "string") throw new Error(`Alipay answered without a signature: ${said}`);
    if (!isSigned(signedPart(text, name), answer["sign"], this.#settings.alipayPublicKey))
      throw new Error("the signature of Alipay's answer is wrong");
    if (fields["code"] === "10000" || fields["code"] === "40004") await this.#tell(undefined);
    if (fields["code"] === "10000") return fields;
    if (absent !== undefined && fields["sub_code"] === absent) return {};
    // 20000 and SYSTEM_ERROR: nobody knows whether it was done.
    if (fields["code"] === "40004" && !/SYSTEM_ERROR/.test(said))
      throw new Refused(`Alipay answered ${said}`);
    throw new Error(`Alipay answered ${said}`);
  }
}

/**
 * Whether an answer is about the app, its signature or its rights (https://opendocs.alipay.com/common/02km9f), and not
 * about the trade.
 */
function isNotLetIn({ code = "", sub_code: name = "" }: Fields): boolean {
  return (
    code === "20001" ||
    code === "40006" ||
    /^(isv\.(invalid-(signature|app-id|encrypt|timestamp)|.*permission)|aop\.)/.test(name) ||
    /^ACQ\.(ACCESS_FORBIDDEN|PARTNER_ERROR|INVALID_SIGN)/.test(name)
  );
}

/** The value of a field of an answer as it was received, which is what Alipay signs. */
function signedPart(text: string, name: string): string {
  const start = text.indexOf(`"${name}":`);
  const from = text.indexOf("{", start);
  for (let at = from, depth = 0, inText = false; start >= 0 && at < text.length; at++) {
    const character = text[at];
    if (inText && character === "\\") at++;
    else if (character === '"') inText = !inText;
    else if (!inText && character === "{") depth++;
    else if (!inText && character === "}" && --depth === 0) return text.slice(from, at + 1);
  }
  return "";
}

function newsOfTrade(trade: Fields): News | undefined {
  const { out_trade_no: paymentId = "", trade_no, trade_status, total_amount = "" } = trade;
  // A trade that was refunded in full is closed, too; it was paid before.
  // `gmt_payment` in a notification, `send_pay_date` in an answer.
  const wasPaid = Boolean(trade["gmt_payment"] ?? trade["send_pay_date"] ?? trade["gmt_refund"]);
  if (
    trade_status === "TRADE_SUCCESS" ||
    trade_status === "TRADE_FINISHED" ||
    (trade_status === "TRADE_CLOSED" && wasPaid)
  )
    return {
      kind: "paid",
      paymentId,
      transaction: trade_no ?? "",
      amountFen: fenOf(total_amount),
      currency: trade["trans_currency"] ?? "CNY",
    };
  return trade_status === "TRADE_CLOSED" ? { kind: "closed", paymentId } : undefined;
}

/** China's time as Alipay writes it: `2026-01-31 23:59:59`. */
function chinaTime(time: Date): string {
  const clock = new Date(time.getTime() + 8 * 3_600_000).toISOString().slice(11, 19);
  return `${chinaDate(time)} ${clock}`;
}
