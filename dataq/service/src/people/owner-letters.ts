import type { Queries } from "../database/database.ts";
import { letters } from "./mail.ts";

/** What the owners of an account are told of by email, with the page of the console that the email links to. */
const ownerLetters = {
  "key.leaked": { page: "/keys", write: letters.leak },
  "key.ended": { page: "/keys", write: letters.endedKeys },
  "key.near_cap": { page: "/keys", write: letters.nearCap },
  "key.unusual": { page: "/usage", write: letters.unusual },
  "project.near_budget": { page: "/keys", write: letters.nearBudget },
  "payment.charged_back": { page: "/top-up", write: letters.chargedBack },
  "customer.charged_back": { page: "/admin/payments", write: letters.customerChargedBack },
  "vendor.failing": { page: "/admin/sources", write: letters.vendorFailing },
  "payments.failing": { page: "/admin/payments", write: letters.paymentsFailing },
  "balance.low": { page: "/top-up", write: letters.lowBalance },
  "top_up.failed": { page: "/top-up", write: letters.failedCharge },
  "terms.due": { page: "", write: letters.termsDue },
  "webhook.disabled": { page: "/webhooks", write: letters.webhook },
} as const;

export type OwnerNews = {
  [About in keyof typeof ownerLetters]: {
    readonly about: About;
    readonly data: Parameters<(typeof ownerLetters)[About]["write"]>[0];
  };
}[keyof typeof ownerLetters];

/** The job of one email to one owner. */
export type LetterJob = OwnerNews & { readonly to: string };

/** Adds a job for each owner of the account, in the transaction of what they are told of. */
export async function addLetters(queries: Queries, accountId: string, { about, data }: OwnerNews) {
  await queries.query("select people.write_to_owners($1, $2, $3)", [accountId, about, JSON.stringify(data)]);
}

/** The email of a job. Throws if another version of dataq added it, which knows more. */
export function letterOf({ about, data }: OwnerNews, consoleUrl: string): { subject: string; text: string } {
  const known = ownerLetters[about];
  if (known === undefined) throw new Error(`unknown email: ${about}`);
  // The data belong to this kind, which the compiler cannot see.
  const write = known.write as (data: OwnerNews["data"], link: string) => { subject: string; text: string };
  return write(data, consoleUrl + known.page);
}
