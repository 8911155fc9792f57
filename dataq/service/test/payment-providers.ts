import {
  createCipheriv,
  createHmac,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  sign,
  verify,
} from "node:crypto";
import { writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";

export const onlineProviders = ["stripe", "alipay", "wechat"] as const;
export type OnlineProvider = (typeof onlineProviders)[number];

/** A payment as its provider has it. */
interface Trade {
  readonly provider: OnlineProvider;
  /** The service's ID of the payment. */
  readonly id: string;
  readonly number: string;
  readonly amountFen: number;
  readonly refunds: TradeRefund[];
  state: "open" | "paid" | "closed";
  /** Of the charge of a card that was not made. */
  refusal?: Refusal | undefined;
  /** What the customer's bank has taken. */
  disputeFen: number;
  wasDisputed: boolean;
}

/** Why a bank does not pay, as Stripe names it. */
export type Refusal = "card_declined" | "authentication_required";

export type Charge = "made" | "slow" | Refusal;

interface TradeRefund {
  readonly number: string;
  /** The service's ID of the refund, or the number that the provider gave one of its own. */
  readonly id: string;
  readonly amountFen: number;
  state: "pending" | "done" | "failed";
}

/** A notification as a provider sends it. */
export interface Notice {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** The same notification, signed again now, as providers do at each attempt. */
  readonly again?: () => Notice;
}

/**
 * Stripe, Alipay and WeChat Pay in one server, each with the routes that the service asks and with keys of its own. It
 * refuses requests without a valid signature. Nothing happens by itself: a test pays, refunds and disputes, and
 * delivers the notices when and as often as it likes.
 */
export class PaymentProviders implements AsyncDisposable {
  readonly trades = new Map<string, Trade>();
  /** How the next refunds begin. */
  refundState: TradeRefund["state"] = "done";
  /** The server breaks the connection after it did what it was asked. */
  losesAnswers = false;
  /** The server answers 503 and does nothing. */
  isDown = false;
  /** The keys of the service are wrong, or were revoked: the server does nothing. */
  acceptsKeys = true;
  /** What the restricted key may not do at Stripe, such as `POST /refunds`. */
  lacks = "";
  /** False: Stripe knows the key, but not the customers of another account. */
  knowsCustomers = true;
  /** What the bank says to a charge of a saved card, or to that of a payment. */
  charges: Charge | ((paymentId: string) => Charge) = "made";
  /** Charges that were asked for again after Stripe had forgotten the first. */
  chargedTwice = 0;
  /** Pages where cards are saved, by their number, and whether one was. */
  readonly setups = new Map<string, boolean>();
  /** Refunds are refused. */
  refusesRefunds = false;
  readonly #clock: () => number;
  readonly #server = createServer((request, response) => void this.#answer(request, response));
  readonly #app = generateKeyPairSync("rsa", { modulusLength: 2048 });
  readonly #alipay = generateKeyPairSync("rsa", { modulusLength: 2048 });
  readonly #wechat = generateKeyPairSync("rsa", { modulusLength: 2048 });
  readonly #apiKey = randomBytes(16).toString("hex");
  readonly #secret = `whsec_${randomBytes(12).toString("hex")}`;
  /** Stripe answers a repeated idempotency key as it did the first time. */
  readonly #idempotent = new Map<
    string,
    { readonly made: object; readonly status: number; readonly atMs: number }
  >();
  #serial = 0;

  private constructor(clock: () => number) {
    this.#clock = clock;
  }

  static async start(clock: () => number): Promise<PaymentProviders> {
    const world = new PaymentProviders(clock);
    await new Promise<void>((resolve) => world.#server.listen(0, "127.0.0.1", resolve));
    return world;
  }

  /** Writes payments.json with the keys of this server and a bank account. Returns the setting. */
  configure(folder: string, more: object = {}): { DATAQ_PAYMENTS: string } {
    const pem = (name: string, key: KeyObject) => {
      const type = key.type === "private" ? "pkcs8" : "spki";
      writeFileSync(join(folder, name), key.export({ format: "pem", type: type as "spki" }));
      return name;
    };
    const address = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
    const path = join(folder, "payments.json");
    const settings = {
      stripe: { secret_key: "sk_test_1", webhook_secret: this.#secret, address: `${address}/stripe` },
      alipay: {
        app_id: "2021000000000001",
        private_key_file: pem("app.pem", this.#app.privateKey),
        alipay_public_key_file: pem("alipay.pem", this.#alipay.publicKey),
        product: "qr",
        address: `${address}/alipay`,
      },
      wechat: {
        merchant_id: "1900000001",
        app_id: "wx0000000000000001",
        certificate_serial: "0A1B2C3D4E5F6071",
        private_key_file: "app.pem",
        api_v3_key: this.#apiKey,
        platform_keys: { PUB_KEY_ID_1: pem("wechat.pem", this.#wechat.publicKey) },
        address: `${address}/wechat`,
      },
      bank: { payee: "数据有限公司", account: "6222 0000 0000 0000", bank: "工商银行" },
      ...more,
    };
    writeFileSync(path, JSON.stringify(settings));
    return { DATAQ_PAYMENTS: path };
  }

  /** What we have of a payment, or of all of them: what was paid, less what went back. */
  balanceFen(id?: string): number {
    let sum = 0;
    for (const trade of this.trades.values())
      if (trade.state === "paid" && (id === undefined || trade.id === id))
        sum += trade.amountFen - trade.disputeFen - refundedFen(trade);
    return sum;
  }

  /** The customer pays. */
  pay(id: string): Notice {
    const trade = this.#trade(id);
    if (trade.state === "closed") throw new Error(`${id} is closed`);
    trade.state = "paid";
    return this.noticeOfTrade(id);
  }

  close(id: string): Notice {
    const trade = this.#trade(id);
    if (trade.state === "open") trade.state = "closed";
    return this.noticeOfTrade(id);
  }

  /** Somebody refunds at the provider's own pages. */
  refundOutside(id: string, amountFen: number): Notice {
    const number = this.#number("re_out");
    const trade = this.#trade(id);
    // Alipay says nothing of a refund that it has not made yet.
    const state = trade.provider === "alipay" ? "done" : this.refundState;
    trade.refunds.push({ number, id: number, amountFen, state });
    return this.noticeOfRefund(id, number);
  }

  /** A refund that was pending arrives, or a refund comes back. */
  endRefund(id: string, refundId: string, state: "done" | "failed"): Notice {
    this.#trade(id).refunds.find((one) => one.id === refundId)!.state = state;
    return this.noticeOfRefund(id, refundId);
  }

  dispute(id: string): Notice {
    const trade = this.#trade(id);
    trade.disputeFen = trade.amountFen - refundedFen(trade);
    trade.wasDisputed = true;
    return this.#noticeOfDispute(trade, "withdrawn", trade.disputeFen);
  }

  winDispute(id: string): Notice {
    const trade = this.#trade(id);
    const amountFen = trade.disputeFen;
    trade.disputeFen = 0;
    return this.#noticeOfDispute(trade, "reinstated", amountFen);
  }

  noticeOfTrade(id: string): Notice {
    const trade = this.#trade(id);
    switch (trade.provider) {
      case "stripe": {
        const type = { open: "updated", paid: "completed", closed: "expired" }[trade.state];
        return this.stripeEvent(`checkout.session.${type}`, sessionOf(trade));
      }
      case "alipay":
        return this.alipayNotice(alipayTrade(trade));
      case "wechat":
        return this.wechatNotice("TRANSACTION.SUCCESS", wechatTrade(trade));
    }
  }

  noticeOfRefund(id: string, refundId: string): Notice {
    const trade = this.#trade(id);
    const refund = trade.refunds.find((one) => one.id === refundId)!;
    switch (trade.provider) {
      case "stripe":
        return this.stripeEvent(
          refund.state === "failed" ? "refund.failed" : "refund.updated",
          stripeRefund(trade, refund),
        );
      case "alipay":
        return this.alipayNotice({
          ...alipayTrade(trade),
          refund_fee: yuan(refundedFen(trade)),
          gmt_refund: "2026-03-10 12:00:00.123",
          out_biz_no: refund.id,
        });
      case "wechat": {
        const { status, ...rest } = wechatRefund(trade, refund);
        return this.wechatNotice("REFUND.SUCCESS", { ...rest, mchid: "1900000001", refund_status: status });
      }
    }
  }

  #noticeOfDispute(trade: Trade, what: "withdrawn" | "reinstated", amount: number): Notice {
    const dispute = {
      id: `dp_${trade.number}`,
      amount,
      payment_intent: `pi_${trade.number}`,
      currency: "cny",
    };
    return this.stripeEvent(`charge.dispute.funds_${what}`, dispute);
  }

  /** An event of Stripe with its signature, made now or at another time. */
  stripeEvent(type: string, object: object, atMs = this.#clock(), secret = this.#secret): Notice {
    const body = JSON.stringify({ id: this.#number("evt"), type, data: { object } });
    const signed = (ms: number): Notice => {
      const time = Math.floor(ms / 1000);
      const digest = createHmac("sha256", secret).update(`${time}.${body}`).digest("hex");
      return {
        path: "/v1/payments/stripe/notify",
        headers: { "content-type": "application/json", "stripe-signature": `t=${time},v1=${digest}` },
        body,
        again: () => signed(this.#clock()),
      };
    };
    return signed(atMs);
  }

  alipayNotice(fields: Readonly<Record<string, string>>, key: KeyObject = this.#alipay.privateKey): Notice {
    const signed: Record<string, string> = {
      app_id: "2021000000000001",
      notify_id: this.#number("notify"),
      notify_type: "trade_status_sync",
      charset: "utf-8",
      version: "1.0",
      ...fields,
    };
    const text = Object.keys(signed)
      .sort()
      .map((name) => `${name}=${signed[name]}`)
      .join("&");
    const signature = sign("sha256", Buffer.from(text), key).toString("base64");
    return {
      path: "/v1/payments/alipay/notify",
      headers: { "content-type": "application/x-www-form-urlencoded; charset=utf-8" },
      body: new URLSearchParams({ ...signed, sign: signature, sign_type: "RSA2" }).toString(),
    };
  }

  wechatNotice(
    event: string,
    content: object,
    { atMs = this.#clock(), key = this.#wechat.privateKey, apiKey = this.#apiKey } = {},
  ): Notice {
    const nonce = randomBytes(6).toString("hex");
    const cipher = createCipheriv("aes-256-gcm", Buffer.from(apiKey), Buffer.from(nonce));
    cipher.setAAD(Buffer.from("transaction"));
    const sealed = Buffer.concat([
      cipher.update(JSON.stringify(content)),
      cipher.final(),
      cipher.getAuthTag(),
    ]);
    const body = JSON.stringify({
      id: this.#number("note"),
      event_type: event,
      resource_type: "encrypt-resource",
      resource: {
        algorithm: "AEAD_AES_256_GCM",
        ciphertext: sealed.toString("base64"),
        associated_data: "transaction",
        nonce,
      },
    });
    const signed = (ms: number): Notice => ({
      path: "/v1/payments/wechat/notify",
      headers: { "content-type": "application/json", ...this.#wechatHeaders(body, ms, key) },
      body,
      again: () => signed(this.#clock()),
    });
    return signed(atMs);
  }

  #wechatHeaders(body: string, atMs: number, key: KeyObject): Record<string, string> {
    const [time, nonce] = [String(Math.floor(atMs / 1000)), randomBytes(8).toString("hex")];
    return {
      "wechatpay-timestamp": time,
      "wechatpay-nonce": nonce,
      "wechatpay-serial": "PUB_KEY_ID_1",
      "wechatpay-signature": sign("sha256", Buffer.from(`${time}\n${nonce}\n${body}\n`), key).toString(
        "base64",
      ),
    };
  }

  /** Another key of the right kind, as a forger has one. */
  readonly foreignKey = generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey;

  async [Symbol.asyncDispose](): Promise<void> {
    await new Promise((resolve) => this.#server.close(resolve).closeAllConnections());
  }

  #trade(id: string): Trade {
    const trade = this.trades.get(id);
    if (!trade) throw new Error(`no provider knows ${id}`);
    return trade;
  }

  #number(prefix: string): string {
    return `${prefix}_${++this.#serial}`;
  }

  #open(provider: OnlineProvider, id: string, amountFen: number, prefix = "t"): Trade {
    const known = this.trades.get(id);
    if (known) return known;
    const number = this.#number(prefix);
    const trade: Trade = {
      provider,
      id,
      number,
      amountFen,
      refunds: [],
      state: "open",
      disputeFen: 0,
      wasDisputed: false,
    };
    this.trades.set(id, trade);
    return trade;
  }

  /** Makes a refund once for each ID. Undefined if it is refused. */
  #refund(trade: Trade | undefined, id: string, amountFen: number): TradeRefund | undefined {
    const known = trade?.refunds.find((one) => one.id === id);
    if (known) return known;
    if (trade?.state !== "paid" || this.refusesRefunds) return undefined;
    if (amountFen > trade.amountFen - trade.disputeFen - refundedFen(trade)) return undefined;
    const made = { number: this.#number("re"), id, amountFen, state: this.refundState };
    trade.refunds.push(made);
    return made;
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let body = "";
    for await (const chunk of request.setEncoding("utf8")) body += chunk;
    const url = new URL(request.url ?? "/", "http://provider");
    const [, provider = ""] = url.pathname.split("/");
    if (this.isDown) {
      response.writeHead(503).end("{}");
      return;
    }
    const [status, answer, headers = {}] =
      provider === "stripe"
        ? this.#stripe(request, url, body)
        : provider === "alipay"
          ? this.#alipayGateway(body)
          : this.#wechatApi(request, url, body);
    if (this.losesAnswers) response.destroy();
    else response.writeHead(status, { "content-type": "application/json", ...headers }).end(answer);
  }

  #stripe(request: IncomingMessage, url: URL, body: string): [number, string] {
    const answer = (status: number, object: object): [number, string] => [status, JSON.stringify(object)];
    const refused = (message: string) => answer(400, { error: { message } });
    if (request.headers.authorization !== "Bearer sk_test_1" || !this.acceptsKeys)
      return answer(401, { error: { message: "wrong key" } });
    const path = url.pathname.replace("/stripe/v1", "");
    if (this.lacks === `${request.method} ${path}`)
      return answer(403, { error: { message: "The provided key does not have the required permissions" } });
    const byNumber = (number: string) =>
      [...this.trades.values()].find((trade) => number.endsWith(`_${trade.number}`));
    if (request.method === "GET") {
      if (path === "/refunds") {
        const trade = byNumber(url.searchParams.get("payment_intent") ?? "");
        return answer(200, { data: trade?.refunds.map((refund) => stripeRefund(trade, refund)) ?? [] });
      }
      if (path.startsWith("/checkout/sessions/cs_setup"))
        return answer(200, this.#setupSession(path.slice(19)));
      if (path.startsWith("/setup_intents/")) {
        const card = { id: "pm_1", card: { brand: "visa", last4: "4242" } };
        return answer(200, { id: path.slice(15), status: "succeeded", payment_method: card });
      }
      if (path === "/payment_intents" && !this.knowsCustomers) return refused("No such customer: 'cus_1'");
      if (path === "/payment_intents") {
        const charged = [...this.trades.values()].filter(({ number }) => number.startsWith("auto"));
        return answer(200, { data: charged.map((trade) => chargeOf(trade)) });
      }
      const trade = byNumber(path);
      if (!trade) return answer(404, { error: { message: "no such object" } });
      if (path.startsWith("/disputes/")) {
        const isOpen = trade.disputeFen > 0;
        return answer(200, {
          id: path.slice(10),
          amount: trade.disputeFen,
          status: isOpen ? "under_review" : "won",
        });
      }
      return answer(200, path.startsWith("/checkout/") ? sessionOf(trade) : intentOf(trade));
    }
    const fields = new URLSearchParams(body);
    const key = String(request.headers["idempotency-key"]);
    const known = this.#idempotent.get(key);
    // Stripe forgets a key after a day.
    if (known && known.atMs > this.#clock() - 86_400_000) return answer(known.status, known.made);
    let made: object;
    const keep = (status: number, what: object) => {
      this.#idempotent.set(key, { status, made: what, atMs: this.#clock() });
      return answer(status, what);
    };
    if (path === "/payment_intents") {
      if (fields.get("off_session") !== "true" || fields.get("payment_method") !== "pm_1")
        return refused("card");
      const id = fields.get("metadata[payment]") ?? "";
      if (this.trades.has(id)) this.chargedTwice += 1;
      const trade = this.#open("stripe", id, Number(fields.get("amount")), "auto");
      const said = typeof this.charges === "function" ? this.charges(id) : this.charges;
      if (said === "made") trade.state = "paid";
      else if (said !== "slow") {
        trade.state = "closed";
        trade.refusal = said;
        const charge = chargeOf(trade);
        return keep(402, { error: { ...refusalOf(trade), payment_intent: charge } });
      }
      return keep(200, chargeOf(trade));
    }
    if (fields.get("mode") === "setup") {
      const number = this.#number("cs_setup");
      this.setups.set(number, false);
      return answer(200, this.#setupSession(number));
    }
    if (path === "/checkout/sessions") {
      if (fields.get("line_items[0][price_data][currency]") !== "cny") return refused("currency");
      const id = fields.get("client_reference_id") ?? "";
      if (fields.get("payment_intent_data[metadata][payment]") !== id) return refused("metadata");
      made = sessionOf(
        this.#open("stripe", id, Number(fields.get("line_items[0][price_data][unit_amount]"))),
      );
    } else {
      const trade = byNumber(fields.get("payment_intent") ?? "");
      const refund = this.#refund(trade, fields.get("metadata[refund]") ?? "", Number(fields.get("amount")));
      if (!refund) return refused("not refundable");
      made = stripeRefund(trade!, refund);
    }
    return keep(200, made);
  }

  #setupSession(number: string): object {
    const isDone = this.setups.get(number) === true;
    return {
      id: number,
      mode: "setup",
      url: `https://checkout.stripe.com/c/setup/${number}`,
      status: isDone ? "complete" : "open",
      setup_intent: isDone ? `seti_${number}` : null,
      customer: isDone ? "cus_1" : null,
    };
  }

  /** The customer saves a card. */
  saveCard(url: string): Notice {
    const number = url.split("/").at(-1)!;
    this.setups.set(number, true);
    return this.stripeEvent("checkout.session.completed", this.#setupSession(number));
  }

  /** The bank has made a slow charge, or not. */
  endCharge(id: string, state: "paid" | "closed", refusal?: Refusal): Notice {
    const trade = this.#trade(id);
    trade.state = state;
    trade.refusal = refusal;
    return this.stripeEvent(
      `payment_intent.${state === "paid" ? "succeeded" : "payment_failed"}`,
      chargeOf(trade),
    );
  }

  #alipayGateway(body: string): [number, string] {
    const fields = Object.fromEntries(new URLSearchParams(body));
    const { sign: signature = "", ...signed } = fields;
    const text = Object.keys(signed)
      .sort()
      .map((name) => `${name}=${signed[name]}`)
      .join("&");
    const isOurs = verify("sha256", Buffer.from(text), this.#app.publicKey, Buffer.from(signature, "base64"));
    const name = `${fields["method"]!.replaceAll(".", "_")}_response`;
    const content = JSON.parse(fields["biz_content"]!) as Record<string, string>;
    // Alipay does not sign what it says to an app that it does not know.
    if (!this.acceptsKeys)
      return [
        200,
        '{"error_response":{"code":"40002","sub_code":"isv.invalid-app-id","sub_msg":"无效的AppID参数"}}',
      ];
    const answer = isOurs
      ? this.#alipayAnswer(fields["method"]!, content)
      : { code: "40002", msg: "Invalid Arguments", sub_code: "isv.invalid-signature", sub_msg: "验签出错" };
    // Written with a space and an escaped brace, which a parser that builds the text again would lose.
    const part = JSON.stringify(answer).replace(',"', ', "');
    const made = sign("sha256", Buffer.from(part), this.#alipay.privateKey).toString("base64");
    return [200, `{"${name}":${part},"sign":"${made}"}`];
  }

  #alipayAnswer(method: string, content: Readonly<Record<string, string>>): object {
    const done = { code: "10000", msg: 'Success "}' };
    const absent = {
      code: "40004",
      msg: "Business Failed",
      sub_code: "ACQ.TRADE_NOT_EXIST",
      sub_msg: "交易不存在",
    };
    const id = content["out_trade_no"] ?? "";
    const trade = this.trades.get(id);
    switch (method) {
      case "alipay.trade.precreate": {
        const made = this.#open("alipay", id, fen(content["total_amount"]));
        return { ...done, out_trade_no: id, qr_code: `https://qr.alipay.com/${made.number}` };
      }
      case "alipay.trade.query":
        // Alipay knows nothing of a code that nobody has scanned.
        return trade && trade.state !== "open" ? { ...done, ...alipayTrade(trade) } : absent;
      case "alipay.trade.refund": {
        const made = this.#refund(trade, content["out_request_no"] ?? "", fen(content["refund_amount"]));
        return made
          ? { ...done, out_trade_no: id, fund_change: "Y", refund_fee: yuan(refundedFen(trade!)) }
          : {
              code: "40004",
              msg: "Business Failed",
              sub_code: "ACQ.TRADE_NOT_ALLOW_REFUND",
              sub_msg: "不可退款",
            };
      }
      default: {
        const refund = trade?.refunds.find((one) => one.id === content["out_request_no"]);
        if (refund?.state !== "done") return { ...done, out_trade_no: id };
        return {
          ...done,
          out_trade_no: id,
          refund_status: "REFUND_SUCCESS",
          refund_amount: yuan(refund.amountFen),
        };
      }
    }
  }

  #wechatApi(request: IncomingMessage, url: URL, body: string): [number, string, Record<string, string>] {
    const answer = (status: number, object: object): [number, string, Record<string, string>] => {
      const text = JSON.stringify(object);
      return [status, text, this.#wechatHeaders(text, this.#clock(), this.#wechat.privateKey)];
    };
    const parts = Object.fromEntries(
      [...(request.headers.authorization ?? "").matchAll(/(\w+)="([^"]*)"/g)].map(([, name, value]) => [
        name,
        value!,
      ]),
    ) as Record<string, string>;
    const path = (request.url ?? "").replace("/wechat", "");
    const text = `${request.method}\n${path}\n${parts["timestamp"]}\n${parts["nonce_str"]}\n${body}\n`;
    const signature = Buffer.from(parts["signature"] ?? "", "base64");
    if (!verify("sha256", Buffer.from(text), this.#app.publicKey, signature) || !this.acceptsKeys)
      return answer(401, { code: "SIGN_ERROR", message: "签名错误" });
    if (request.method === "GET") {
      const trade = this.trades.get(url.pathname.split("/").at(-1)!);
      return trade
        ? answer(200, wechatTrade(trade))
        : answer(404, { code: "ORDER_NOT_EXIST", message: "订单不存在" });
    }
    const content = JSON.parse(body) as {
      readonly out_trade_no: string;
      readonly out_refund_no: string;
      readonly amount: { readonly total: number; readonly refund: number };
    };
    const { out_trade_no: id, amount } = content;
    if (path.endsWith("/native")) {
      const made = this.#open("wechat", id, amount.total);
      return answer(200, { code_url: `weixin://wxpay/bizpayurl?pr=${made.number}` });
    }
    const trade = this.trades.get(id);
    const refund = this.#refund(trade, content.out_refund_no, amount.refund);
    return refund
      ? answer(200, wechatRefund(trade!, refund))
      : answer(403, { code: "NOT_ENOUGH", message: "基本账户余额不足" });
  }
}

function refundedFen({ refunds }: Trade): number {
  return refunds.reduce((sum, { state, amountFen }) => (state === "failed" ? sum : sum + amountFen), 0);
}

function sessionOf({ id, number, amountFen, state }: Trade): object {
  return {
    id: `cs_${number}`,
    url: `https://checkout.stripe.com/c/pay/cs_${number}`,
    client_reference_id: id,
    metadata: { payment: id },
    status: { open: "open", paid: "complete", closed: "expired" }[state],
    payment_status: state === "paid" ? "paid" : "unpaid",
    payment_intent: state === "paid" ? `pi_${number}` : null,
    amount_total: amountFen,
    currency: "cny",
  };
}

function intentOf({ id, number, amountFen }: Trade): object {
  return { id: `pi_${number}`, amount: amountFen, metadata: { payment: id } };
}

function chargeOf(trade: Trade): object {
  const status = { open: "processing", paid: "succeeded", closed: "requires_payment_method" }[trade.state];
  const { amountFen: amount } = trade;
  return {
    ...intentOf(trade),
    status,
    amount,
    amount_received: trade.state === "paid" ? amount : 0,
    last_payment_error: trade.refusal === undefined ? null : refusalOf(trade),
    currency: "cny",
    metadata: { payment: trade.id, auto: "1" },
  };
}

function refusalOf({ refusal = "card_declined" }: Trade): object {
  return { code: refusal, decline_code: "generic_decline", message: "The bank said no." };
}

function stripeRefund(trade: Trade, { id, number, amountFen, state }: TradeRefund): object {
  return {
    id: number,
    amount: amountFen,
    payment_intent: `pi_${trade.number}`,
    status: { pending: "pending", done: "succeeded", failed: "failed" }[state],
    metadata: id === number ? {} : { refund: id },
  };
}

function alipayTrade(trade: Trade): Record<string, string> {
  const isPaid = trade.state === "paid";
  const isClosed = trade.state === "closed" || (isPaid && refundedFen(trade) === trade.amountFen);
  return {
    out_trade_no: trade.id,
    trade_no: trade.number,
    trade_status: isClosed ? "TRADE_CLOSED" : isPaid ? "TRADE_SUCCESS" : "WAIT_BUYER_PAY",
    total_amount: yuan(trade.amountFen),
    ...(isPaid && { send_pay_date: "2026-03-10 12:00:00", gmt_payment: "2026-03-10 12:00:00" }),
  };
}

function wechatTrade(trade: Trade): object {
  const isPaid = trade.state === "paid";
  return {
    appid: "wx0000000000000001",
    mchid: "1900000001",
    out_trade_no: trade.id,
    trade_state: isPaid
      ? trade.refunds.length > 0
        ? "REFUND"
        : "SUCCESS"
      : trade.state === "open"
        ? "NOTPAY"
        : "CLOSED",
    ...(isPaid && { transaction_id: trade.number, amount: { total: trade.amountFen, currency: "CNY" } }),
  };
}

function wechatRefund(trade: Trade, { id, number, amountFen, state }: TradeRefund) {
  return {
    out_trade_no: trade.id,
    transaction_id: trade.number,
    out_refund_no: id,
    refund_id: number,
    status: { pending: "PROCESSING", done: "SUCCESS", failed: "CLOSED" }[state],
    amount: { total: trade.amountFen, refund: amountFen },
  };
}

const yuan = (amountFen: number) => (amountFen / 100).toFixed(2);
const fen = (text = "") => Math.round(Number(text) * 100);
