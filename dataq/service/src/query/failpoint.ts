/** Where a crash is tried: every step at which money or an answer could get lost. */
export const failpoints = [
  "before_claim",
  "after_claim",
  "before_hold",
  "after_hold",
  "after_run",
  "before_settle",
  "after_settle",
  "before_response",
] as const;
export type Failpoint = (typeof failpoints)[number];
