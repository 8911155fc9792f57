/**
 * Notes of entries without a note of a person. The console translates them. The last one continues with the end of a
 * voucher code.
 */
export const ownNotes = {
  trial: "trial",
  trialOver: "the trial's time is over",
  opening: "opening balance",
  byOperator: "top-up by the operator",
  creditLine: "credit line",
  voucher: "voucher …",
} as const;
