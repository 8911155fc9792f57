import { counted, tokensPerCny } from "@dataq/contract";
import type { ChargeFailure } from "@dataq/contract/wire";
import type { Transporter } from "nodemailer";
import type {
  ChargedBack,
  CustomerChargedBack,
  NearBudget,
  NearCap,
  PaymentsFailing,
  Unusual,
  VendorFailing,
} from "../alerts/alerts.ts";

/** An email with one link. */
export interface Letter {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
}

/** Sends emails by SMTP. The sender is the user of the URL, or `from` in its query. */
export function openMail(smtpUrl: string): (letter: Letter) => Promise<void> {
  const url = new URL(smtpUrl);
  const user = decodeURIComponent(url.username);
  const from = url.searchParams.get("from") ?? (user.includes("@") ? user : `dataq@${url.hostname}`);
  let transport: Promise<Transporter> | undefined;
  return async (letter) => {
    transport ??= connect(smtpUrl);
    await (await transport).sendMail({ from, ...letter });
  };
}

/** Loads the SMTP client with the first email, because most services send none. */
async function connect(url: string): Promise<Transporter> {
  const { createTransport } = await import("nodemailer");
  return createTransport({ url, connectionTimeout: 10_000, socketTimeout: 20_000 });
}

/** The texts of emails, in both languages, because the preferred language of an address is unknown. */
export const letters = {
  verify: (link: string) => ({
    subject: "dataq: verify your address · 验证邮箱",
    text: `Open this link to verify your address. It works for one day:\n请打开以下链接验证邮箱，一天内有效：\n\n${link}\n\nIf you did not sign up, ignore this email.\n如果不是您本人注册，请忽略。\n`,
  }),
  reset: (link: string) => ({
    subject: "dataq: choose a new password · 重置密码",
    text: `Open this link to choose a new password. It works once, for one hour:\n请打开以下链接重置密码，一小时内有效，仅可使用一次：\n\n${link}\n\nIf you did not ask for it, ignore this email: nothing has changed.\n如果不是您本人操作，请忽略，密码没有变化。\n`,
  }),
  leak: ({ name, last4 }: { readonly name: string; readonly last4: string }, link: string) => ({
    subject: "dataq: one of your API keys was leaked · API 密钥泄露",
    text: `The API key "${name}" (…${last4}) was reported as leaked and has been revoked. Create a new key, and find out where the old one was exposed:\nAPI 密钥“${name}”（…${last4}）被报告泄露，现已吊销。请新建密钥，并检查旧密钥泄露的位置：\n\n${link}\n`,
  }),
  endedKeys: (
    {
      person,
      keys,
    }: {
      readonly person: string;
      readonly keys: readonly { readonly name: string; readonly last4: string }[];
    },
    link: string,
  ) => ({
    subject: "dataq: API keys of a member have ended · 成员的 API 密钥已失效",
    text: `${person} has left your account, or has another role. These API keys were theirs and no longer work:\n${person} 已退出您的账户或更换了角色，其名下的以下 API 密钥已失效：\n\n${keys.map(({ name, last4 }) => `${name || "API key"} (…${last4})`).join("\n")}\n\nIf a program needs one, create a key that belongs to a service:\n如有程序仍需使用，请新建归服务所有的密钥：\n\n${link}\n`,
  }),
  lowBalance: ({ balance, mark }: { readonly balance: number; readonly mark: number }, link: string) => ({
    subject: "dataq: your balance is low · 余额不足提醒",
    text: `The balance is ${balance.toLocaleString("en")} ${balance === 1 ? "token" : "tokens"}, below your mark of ${mark.toLocaleString("en")}. Calls that cost more are refused. Top up:\n余额为 ${balance.toLocaleString("en")} 点，低于您设置的 ${mark.toLocaleString("en")} 点，余额不够的调用会被拒绝。请充值：\n\n${link}\n\nYou get this email once until tokens are added. The mark can be changed under Webhooks.\n充值之前不会再次提醒。提醒线可在 Webhook 页面修改。\n`,
  }),
  nearCap: ({ name, key_id, last4, month, spent, cap }: NearCap, link: string) => ({
    subject: "dataq: an API key is near its monthly cap · 密钥即将达到月度限额",
    text: `The API key "${name || key_id}" (…${last4 ?? ""}) has spent ${counted(spent, "token")} in ${month} of a cap of ${grouped(cap)}. Calls beyond the cap are refused. Raise the cap, or find out what it is used for:\n密钥“${name || key_id}”（…${last4 ?? ""}）在 ${month} 已用 ${grouped(spent)} 点，限额 ${grouped(cap)} 点，超出后调用会被拒绝。请提高限额或检查用途：\n\n${link}\n\nYou get this email once a month for each key. The share can be changed under Webhooks.\n每个密钥每月提醒一次，提醒比例可在 Webhook 页面修改。\n`,
  }),
  termsDue: (
    { version, url, from }: { readonly [Name in "version" | "url" | "from"]: string },
    link: string,
  ) => ({
    subject: `dataq: new terms of use count from ${from} · 使用条款将于 ${from} 生效`,
    text: `The terms of use ${version} count from ${from}: ${url}\nNo owner of your account has accepted them yet. From that day on, calls are refused until one does, in the console:\n使用条款（${version}）将于 ${from} 生效：${url}\n您账户的所有者尚未同意。自该日起，调用会被拒绝，直到一位所有者在控制台同意：\n\n${link}\n`,
  }),
  failedCharge: (
    { reason, isStopped }: { readonly reason: ChargeFailure; readonly isStopped: boolean },
    link: string,
  ) => ({
    subject: "dataq: the automatic top-up failed · 自动充值失败",
    text: `Your saved card could not be charged: ${chargeFailureWords[reason][0]}. ${isStopped ? "Nothing is charged until you allow it again" : "It is tried again in some hours"}. Top up by hand, or save another card:\n未能从已保存的银行卡扣款：${chargeFailureWords[reason][1]}。${isStopped ? "自动充值已停止，需重新开启" : "数小时后会再次尝试"}。请手动充值，或更换银行卡：\n\n${link}\n`,
  }),
  nearBudget: ({ name, month, spent, budget }: NearBudget, link: string) => ({
    subject: "dataq: a project is near its budget · 项目预算即将用完",
    text: `The project "${name}" has spent ${counted(spent, "token")} in ${month} of a budget of ${grouped(budget)}. Calls beyond the budget are refused until the next month. Raise the budget, or find out what it is used for:\n项目“${name}”在 ${month} 已用 ${grouped(spent)} 点，预算 ${grouped(budget)} 点，超出后到下月前的调用会被拒绝。请提高预算或检查用途：\n\n${link}\n\nYou get this email once a month for each project. The share can be changed with the project.\n每个项目每月提醒一次，提醒比例可在项目中修改。\n`,
  }),
  unusual: ({ name, key_id, day, spent, usual_most }: Unusual, link: string) => ({
    subject: "dataq: unusual spending · 消费异常提醒",
    text: `"${name || key_id}" has spent ${counted(spent, "token")} on ${day}. Its highest day of the four weeks before was ${grouped(usual_most)}. If this is not you, revoke the key:\n“${name || key_id}”在 ${day} 已消费 ${grouped(spent)} 点，此前四周单日最高为 ${grouped(usual_most)} 点。如非本人使用，请吊销密钥：\n\n${link}\n\nYou get this email once a day for each key. The factor can be changed under Webhooks.\n每个密钥每天提醒一次，倍数可在 Webhook 页面修改。\n`,
  }),
  chargedBack: ({ payment_id, amount_fen, state, frozen }: ChargedBack, link: string) =>
    state === "taken"
      ? {
          subject: "dataq: your bank took a payment back · 付款被银行撤回",
          text: `Your bank took back the payment of ${yuan(amount_fen)} CNY (${payment_id}), because somebody disputed it. What was left of its tokens is no longer in your balance. ${frozen ? "Your account is frozen: calls are refused. Write to the operator, and do not top up before this is settled" : "If you did not mean this, write to the operator"}:\n银行因争议撤回了一笔 ${yuan(amount_fen)} 元的付款（${payment_id}），其中未用的点数已从余额中扣除。${frozen ? "您的账户已冻结，调用会被拒绝。请联系运营方，问题解决前请勿充值" : "如非本意，请联系运营方"}：\n\n${link}\n`,
        }
      : {
          subject: "dataq: your bank gave a payment back · 银行已归还付款",
          text: `The payment of ${yuan(amount_fen)} CNY (${payment_id}), which your bank had taken back, stands again, and its tokens are in your balance. ${frozen ? "Your account is still frozen: ask the operator to end this" : "Your account works as before"}:\n此前被银行撤回的 ${yuan(amount_fen)} 元付款（${payment_id}）已恢复，点数已回到余额。${frozen ? "您的账户仍处于冻结状态，请联系运营方解冻" : "账户可正常使用"}：\n\n${link}\n`,
        },
  customerChargedBack: (
    { payment_id, provider, amount_fen, state, frozen, customer_name, lost_tokens }: CustomerChargedBack,
    link: string,
  ) => {
    const lost = yuan(lost_tokens / (tokensPerCny / 100));
    return state === "taken"
      ? {
          subject: "dataq: a customer's bank took a payment back · 客户的付款被银行撤回",
          text: `The bank of ${customer_name} took back a payment of ${yuan(amount_fen)} CNY (${payment_id}, by ${provider}). ${lost_tokens > 0 ? `${lost} CNY of it were spent before, and are lost. ` : ""}The account is ${frozen ? "frozen" : "not frozen"}. If the customer is wrong, answer the dispute at ${provider} in time; if you win, everything is booked back by itself, and you get another email:\n${customer_name} 的一笔 ${yuan(amount_fen)} 元付款（${payment_id}，${provider}）被银行撤回。${lost_tokens > 0 ? `其中 ${lost} 元已被花掉，无法扣回。` : ""}该账户${frozen ? "已冻结" : "未冻结"}。如不认可，请在期限内到 ${provider} 申诉；申诉成功后点数会自动恢复，并再发邮件通知您：\n\n${link}\n`,
        }
      : {
          subject: "dataq: a disputed payment was given back · 争议付款已归还",
          text: `The bank of ${customer_name} gave back the disputed payment of ${yuan(amount_fen)} CNY (${payment_id}), and its tokens are booked back. ${frozen ? "The account is still frozen: unfreeze it on its page if the matter is settled" : "The account is not frozen"}:\n${customer_name} 的争议付款 ${yuan(amount_fen)} 元（${payment_id}）已由银行归还，点数已恢复。${frozen ? "该账户仍处于冻结状态，如问题已解决，请在账户页面解冻" : "该账户未冻结"}：\n\n${link}\n`,
        };
  },
  vendorFailing: ({ contract, failures, last_failure }: VendorFailing, link: string) => ({
    subject: `dataq: ${contract} is failing · 数据供应商故障`,
    text: `${contract} has failed ${failures === 1 ? "once" : `${failures} times`} in a row, the last time with ${sentence(last_failure) ?? "no reason"}. It is paused and tried again by itself; meanwhile calls get what other sources have, or an error for which nobody pays:\n${contract} 已连续失败 ${failures} 次，最近一次的原因是 ${sentence(last_failure) ?? "未知"}。系统已暂停调用并会自动重试；期间调用由其他来源回答，否则返回错误且不扣费：\n\n${link}\n\nYou get this email once until it works again.\n恢复之前不会再次提醒。\n`,
  }),
  paymentsFailing: ({ provider, said, right }: PaymentsFailing, link: string) =>
    right === null
      ? {
          subject: `dataq: ${provider} does not accept your keys · 支付平台不接受您的密钥`,
          text: `${provider} does not accept the keys in payments.json. It said: ${said}\nNobody can pay by it, and payments and refunds under way wait. Mend the keys and restart the service; what waits is then asked for again:\n${provider} 不接受 payments.json 中的密钥，答复为：${said}\n目前无法通过它付款，进行中的付款和退款会一直等待。请更正密钥并重启服务，之后系统会自动查询结果：\n\n${link}\n\nYou get this email once until it works again.\n恢复之前不会再次提醒。\n`,
        }
      : {
          subject: `dataq: your ${provider} key lacks a right · 支付平台的密钥缺少权限`,
          text: `The ${provider} key in payments.json may not do this: ${right}. It said: ${said}\nWhat needs it waits; everything else works. Give the key this right at ${provider}; what waits is then asked for again:\npayments.json 中的 ${provider} 密钥缺少权限：${right}，答复为：${said}\n需要该权限的操作会一直等待，其他操作不受影响。请在支付平台为密钥添加该权限，之后系统会自动查询结果：\n\n${link}\n\nYou get this email once until it works again.\n恢复之前不会再次提醒。\n`,
        },
  webhook: ({ host }: { readonly host: string }, link: string) => ({
    subject: "dataq: a webhook was disabled · Webhook 已停用",
    text: `The endpoint at ${host} did not accept a message for a day, or answered 410 Gone, so its webhook was disabled. Repair the endpoint, enable the webhook again, and redeliver what it missed:\n${host} 的接收地址持续约一天未能接收消息，或返回了 410 Gone，对应的 Webhook 已停用。请修复后重新启用，并重新发送遗漏的消息：\n\n${link}\n`,
  }),
} as const;

const chargeFailureWords: Record<ChargeFailure, readonly [string, string]> = {
  card_declined: ["the bank declined it", "银行拒绝扣款"],
  insufficient_funds: ["the card has too little money", "卡内余额不足"],
  expired_card: ["the card has expired", "银行卡已过期"],
  authentication_required: ["the bank wants you to confirm the payment", "银行要求您本人确认付款"],
  no_answer: ["no answer came from the bank", "银行没有回应"],
  other: ["the payment provider refused it", "支付平台拒绝扣款"],
};

/** A reason inside a sentence, which ends by itself. */
function sentence(reason: string | null): string | undefined {
  return reason?.replace(/\.$/, "");
}

function yuan(amountFen: number): string {
  return (amountFen / 100).toFixed(2);
}

function grouped(value: number): string {
  return value.toLocaleString("en");
}
