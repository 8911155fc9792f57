/**
 * Notes of entries that no person wrote. The console translates them. The last ones are followed by the last characters
 * of a voucher code, and by the code of a coupon.
 */
export const ownNotes = {
  trial: "trial",
  trialOver: "trial tokens expired",
  opening: "opening balance",
  byOperator: "top-up by the operator",
  creditLine: "credit line",
  paymentStripe: "payment by Stripe",
  paymentAlipay: "payment by Alipay",
  paymentWechat: "payment by WeChat Pay",
  paymentBank: "bank transfer",
  package: "package",
  packageOver: "package expired",
  refund: "refund of a payment",
  refundFailed: "the refund did not arrive",
  chargeback: "the bank took a payment back",
  chargebackWon: "the bank returned a disputed payment",
  closed: "given up when the account was closed",
  voucher: "voucher …",
  coupon: "coupon …",
} as const;

/**
 * A stored note in today's words. Entries never change, because the hash chain covers their notes, so older ones keep
 * the words of the version that wrote them. Exports contain the stored note.
 */
export function currentNote(note: string): string {
  return note === "the trial's time is over" ? ownNotes.trialOver : note;
}
