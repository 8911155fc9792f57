import { z } from "zod";
import type { Received } from "./answer.ts";
import { wellFormed } from "./well-formed.ts";

/** Closes the account for good. */
export const closing = z.strictObject({
  confirm: wellFormed(z.string().max(200)).meta({ description: "The name of the account" }),
  give_up_tokens: z
    .number()
    .int()
    .min(0)
    .default(0)
    .meta({ description: "The paid tokens that are left, if they are to be given up instead of refunded" }),
});
export type Closing = Received<typeof closing>;
