/**
 * Notes of entries that no person wrote. The console translates them. The last one is followed by the last characters
 * of a voucher code.
 */
export const ownNotes = {
  trial: "trial",
  trialOver: "the trial's time is over",
  opening: "opening balance",
  byOperator: "top-up by the operator",
  creditLine: "credit line",
  voucher: "voucher …",
} as const;
