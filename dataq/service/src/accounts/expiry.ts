import { invalid } from "@dataq/contract";

/** Throws if an expiry time is not in the future. */
export function assertFuture(expiresAt: Date | null | undefined, now: Date): void {
  if (expiresAt && expiresAt <= now)
    throw invalid(
      "expires_at",
      "past",
      "expires_at must be in the future",
      "send a later time",
      "请发送更晚的时间",
    );
}
