import { z } from "zod";
import type { Received } from "./answer.ts";
import { bilingual } from "./bilingual.ts";
import { moment } from "./moment.ts";
import { wellFormed } from "./well-formed.ts";

/** A time in which calls are refused with `maintenance`. */
export const maintenanceWindow = z.strictObject({
  since: moment,
  until: moment.nullable().meta({ description: "When it is expected to end; null if unknown" }),
  message: bilingual.meta({ description: "What customers are told" }),
});
export type MaintenanceWindow = Received<typeof maintenanceWindow>;

export const maintenance = z.strictObject({ data: maintenanceWindow.nullable() });

const notice = wellFormed(z.string().trim().min(1).max(300));

/** What an operator sends: begins maintenance, changes what is said about it, or ends it. */
export const maintenanceChange = z.strictObject({
  on: z.boolean(),
  until: moment.nullable().optional(),
  message: z
    .strictObject({ en: notice.optional(), zh: notice.optional() })
    .optional()
    .meta({ description: "What customers are told; a language that is left out has a general sentence" }),
});
export type MaintenanceChange = Received<typeof maintenanceChange>;
