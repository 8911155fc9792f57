import { whole } from "../../../sources/answers.ts";
import type { Answer } from "../../../sources/source.ts";

export function zhixingAnswer(records: readonly object[]): Answer {
  const cases = records as readonly { amount: string | null; status: string }[];
  const fen = cases.reduce((sum, { amount }) => sum + Math.round(Number(amount ?? 0) * 100), 0);
  const summary = {
    record_count: cases.length,
    total_amount: (fen / 100).toFixed(2),
    open_count: cases.filter(({ status }) => status === "in_progress" || status === "resumed").length,
  };
  return whole(records, summary);
}
