/**
 * What the ledger says of movements that nobody gave a reason for: the console has them in every language. The last
 * one goes on with the end of a voucher's code.
 */
export const ownNotes = {
  trial: "trial",
  trialOver: "the trial's time is over",
  opening: "opening balance",
  byOperator: "top-up by the operator",
  creditLine: "credit line",
  voucher: "voucher …",
} as const;
