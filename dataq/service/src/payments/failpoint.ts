/** The steps of payments at which crash tests kill the process. */
export const paymentFailpoints = [
  "before_create_payment",
  "after_create_payment",
  "before_charge",
  "after_charge",
  "before_credit_payment",
  "after_credit_payment",
  "before_return_payment",
  "after_return_payment",
  "before_return_stored",
] as const;
export type PaymentFailpoint = (typeof paymentFailpoints)[number];
