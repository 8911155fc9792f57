/** The steps at which crash tests kill the process. */
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
