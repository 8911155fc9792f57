import { z } from "zod";

/** What somebody without an account may ask, and how many characters of it. */
export const trialLengths = { legal_laws: 100, legal_citation_check: 1_000 } as const;
export type TrialOperation = keyof typeof trialLengths;

const asked = (operation: TrialOperation, description: string) =>
  z.strictObject({
    operation: z.literal(operation),
    text: z.string().min(1).max(trialLengths[operation]).meta({ description }),
  });

/** A question of somebody without an account. */
export const trial = z.discriminatedUnion("operation", [
  asked("legal_laws", "Keywords, or a law and an article"),
  asked("legal_citation_check", "A text whose citations are checked"),
]);
export type Trial = z.infer<typeof trial>;

/** The first records of the answer, as a call has them. */
export const tried = z.strictObject({
  operation: z.enum(["legal_laws", "legal_citation_check"]),
  data: z.array(z.record(z.string(), z.unknown())).meta({ description: "Records of the operation" }),
  total: z.number().int(),
  summary: z.record(z.string(), z.unknown()).optional(),
  warnings: z.array(z.string()),
  tokens: z.number().int().meta({ description: "What the same question costs with a key" }),
});
