import { NotGenuine, type Notification, type Provider, type RefundState, type Way } from "../provider.ts";

/**
 * A transfer to the operator's bank account. No program can ask the bank: the operator sees the money arrive with the
 * payment's reference, and confirms it; money goes back by a transfer of the operator's own.
 */
export class BankTransfer implements Provider {
  readonly name = "bank";
  readonly leastFen = 1;

  async create(): Promise<Way> {
    return {};
  }

  async ask(): Promise<undefined> {
    return undefined;
  }

  async refund(): Promise<RefundState> {
    return { state: "done", providerId: null };
  }

  async askRefund(): Promise<RefundState> {
    return this.refund();
  }

  async read(): Promise<Notification> {
    throw new NotGenuine("a bank sends none", "银行不发送通知");
  }
}
