import { whole } from "../../../sources/answers.ts";
import type { Answer } from "../../../sources/source.ts";
import { subjectTypeOf } from "../subject.ts";

/** The list with its summary. An empty list is an answer too. */
export function shixinAnswer(name: string, records: readonly object[]): Answer {
  const subject = (records[0] as { subject_type?: string } | undefined)?.subject_type ?? subjectTypeOf(name);
  const summary = {
    listed: records.length > 0,
    record_count: records.length,
    matched_by: "name",
    subject_type: subject,
  };
  return whole(records, summary);
}
