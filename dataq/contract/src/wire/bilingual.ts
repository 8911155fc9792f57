import { z } from "zod";

/** A text in both languages. */
export const bilingual = z.strictObject({ en: z.string(), zh: z.string() });
