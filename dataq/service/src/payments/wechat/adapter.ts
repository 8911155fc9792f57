import { send } from "../ask.ts";
import {
  type Bill,
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
  type Way,
} from "../provider.ts";
import type { WechatSettings } from "../settings.ts";
import { authorizationOf, faultOfSignature, open, type Sealed } from "./signature.ts";

interface Answer {
  readonly code?: string;
  readonly message?: string;
  readonly code_url?: string;
}

interface Trade extends Answer {
  readonly appid?: string;
  readonly mchid?: string;
  readonly out_trade_no?: string;
  readonly transaction_id?: string;
  readonly trade_state?: string;
  readonly amount?: { readonly total?: number; readonly currency?: string };
}

interface WechatRefund extends Answer {
  readonly mchid?: string;
  readonly out_trade_no?: string;
  readonly out_refund_no?: string;
  readonly refund_id?: string;
  /** In an answer. */
  readonly status?: string;
  /** In a notification. */
  readonly refund_status?: string;
  readonly amount?: { readonly refund?: number };
}

/** WeChat Pay, API v3, Native: a QR code for the app (https://pay.weixin.qq.com/doc/v3/merchant/4012791874). */
export class WechatPay implements Provider {
  readonly name = "wechat";
  readonly leastFen = 1;
  readonly #settings: WechatSettings;
  readonly #clock: () => Date;
  readonly #tell: TellAdmission;

  constructor(settings: WechatSettings, clock: () => Date, tell: TellAdmission) {
    this.#settings = settings;
    this.#clock = clock;
    this.#tell = tell;
  }

  async create(bill: Bill, { notify }: OwnAddresses): Promise<Way> {
    const { code_url } = await this.#send<Answer>("POST", "/v3/pay/transactions/native", {
      appid: this.#settings.app_id,
      mchid: this.#settings.merchant_id,
      description: "dataq",
      out_trade_no: bill.id,
      time_expire: bill.expiresAt.toISOString().replace(/\.\d+Z$/, "+00:00"),
      notify_url: notify,
      amount: { total: bill.amountFen, currency: "CNY" },
    });
    if (code_url === undefined) throw new Error("WeChat Pay answered without a QR code");
    return { qr: code_url };
  }

  async ask(bill: Bill): Promise<News | undefined> {
    const path = `/v3/pay/transactions/out-trade-no/${encodeURIComponent(bill.id)}?mchid=${this.#settings.merchant_id}`;
    const trade = await this.#send<Trade>("GET", path, undefined, /^ORDER_?NOT_?EXIST$/);
    return trade.out_trade_no === bill.id ? this.#newsOfTrade(trade) : undefined;
  }

  async refund(bill: PaidBill, refund: Refund, { notify }: OwnAddresses): Promise<RefundState> {
    const made = await this.#send<WechatRefund>("POST", "/v3/refund/domestic/refunds", {
      out_trade_no: bill.id,
      out_refund_no: refund.id,
      reason: refund.reason.slice(0, 80),
      notify_url: notify,
      amount: { refund: refund.amountFen, total: bill.amountFen, currency: "CNY" },
    });
    return stateOf(made);
  }

  /** The same request again: WeChat Pay makes each refund number once. */
  askRefund(bill: PaidBill, refund: Refund, addresses: OwnAddresses): Promise<RefundState> {
    return this.refund(bill, refund, addresses);
  }

  async read({ headers, body, now }: Received): Promise<Notification> {
    const text = body.toString();
    const fault = faultOfSignature(
      (name) => String(headers[name] ?? ""),
      text,
      this.#settings.platformKeys,
      now,
    );
    if (fault !== undefined) throw new NotGenuine(...fault);
    const { id, resource } = JSON.parse(text) as { readonly id?: string; readonly resource?: Sealed };
    if (id === undefined || resource === undefined) throw new NotGenuine("it has no content", "没有内容");
    let content: Trade & WechatRefund;
    try {
      content = JSON.parse(open(resource, this.#settings.api_v3_key)) as Trade & WechatRefund;
    } catch (cause) {
      throw new NotGenuine("its content cannot be decrypted", "内容无法解密", { cause });
    }
    if (content.mchid !== this.#settings.merchant_id)
      throw new NotGenuine("it is for another merchant", "属于另一个商户");
    const news = content.refund_id === undefined ? this.#newsOfTrade(content) : newsOfRefund(content);
    return { id, news: news === undefined ? [] : [news] };
  }

  #newsOfTrade(trade: Trade): News | undefined {
    const { out_trade_no: paymentId = "", trade_state, transaction_id = "", amount } = trade;
    if (trade.appid !== this.#settings.app_id || trade.mchid !== this.#settings.merchant_id) return undefined;
    // A trade that was refunded, in part or in full, was paid before.
    if (trade_state === "SUCCESS" || trade_state === "REFUND")
      return {
        kind: "paid",
        paymentId,
        transaction: transaction_id,
        amountFen: amount?.total ?? 0,
        currency: amount?.currency ?? "CNY",
      };
    const isClosed = trade_state === "CLOSED" || trade_state === "REVOKED";
    return isClosed ? { kind: "closed", paymentId } : undefined;
  }

  /** Sends a request, and checks that WeChat Pay signed the answer. `absent` is the code of an answer without a trade. */
  async #send<Body extends Answer>(
    method: "GET" | "POST",
    path: string,
    content?: object,
    absent?: RegExp,
  ): Promise<Body> {
    const body = content === undefined ? "" : JSON.stringify(content);
    const now = this.#clock();
    const { status, headers, text } = await send({
      method,
      url: `${this.#settings.address}${path}`,
      headers: {
        authorization: authorizationOf({ method, path, body }, this.#settings, now),
        accept: "application/json",
        "user-agent": "dataq",
        ...(content !== undefined && { "content-type": "application/json" }),
      },
      ...(content !== undefined && { body }),
    });
    const answer = JSON.parse(text || "{}") as Body;
    if (status >= 200 && status < 300) {
      const fault = faultOfSignature(
        (name) => headers.get(name) ?? "",
        text,
        this.#settings.platformKeys,
        now,
      );
      if (fault !== undefined) throw new Error(`this is not an answer of WeChat Pay: ${fault[0]}`);
      await this.#tell(undefined);
      return answer;
    }
    if (absent?.test(answer.code ?? "")) return {} as Body;
    const said = `WeChat Pay answered ${status} ${answer.code}: ${answer.message}`;
    if (status < 400 || status >= 500 || status === 429) throw new Error(said);
    if (status === 401 || notLetIn.test(answer.code ?? "")) {
      await this.#tell(said);
      throw new NotLetIn(said);
    }
    throw new Refused(said);
  }
}

/** Codes about the merchant, its signature or its rights, and not about the trade. */
const notLetIn = /^(SIGN_ERROR|NO_?AUTH|MCH_NOT_EXISTS|APPID_MCHID_NOT_MATCH|INVALID_MERCHANT)$/;

function newsOfRefund(refund: WechatRefund): News {
  const refundId = refund.out_refund_no ?? null;
  const amountFen = refund.amount?.refund ?? 0;
  return { kind: "refund", paymentId: refund.out_trade_no ?? "", refundId, amountFen, ...stateOf(refund) };
}

function stateOf(refund: WechatRefund): RefundState {
  const status = refund.status ?? refund.refund_status;
  // ABNORMAL: the customer's account could not take it, and the money waits for the operator to name another one.
  const state = status === "SUCCESS" ? "done" : status === "CLOSED" ? "failed" : "pending";
  return { state, providerId: refund.refund_id ?? null };
}
