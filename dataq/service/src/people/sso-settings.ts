import { readFile } from "node:fs/promises";
import { z } from "zod";

const text = z.string().trim().min(1).max(500);
/** Plain http only on this machine, for tests. */
const issuer = z.url().refine((url) => /^https:\/\/|^http:\/\/(localhost|127\.0\.0\.1):\d+/.test(url), {
  error: "must begin with https://",
});
const domain = z
  .string()
  .trim()
  .toLowerCase()
  .regex(/^[a-z0-9-]+(\.[a-z0-9-]+)+$/, { error: "must be a mail domain such as example.com" });
const values = z.array(text).max(100).default([]);

const settingsFile = z
  .strictObject({
    /** What the button calls the provider. */
    name: text.max(40),
    /** Exactly as the provider writes it, with or without a slash at the end. */
    issuer,
    client_id: text,
    client_secret: text,
    /** How the provider wants the secret: in a header, or in the form. */
    client_authentication: z.enum(["basic", "post"]).default("basic"),
    scopes: z.array(text).min(1).max(20).default(["openid", "profile", "email"]),
    mail_domains: z.array(domain).min(1).max(100),
    operators: z
      .strictObject({
        /** A claim with a text or a list of texts. With dots, a claim inside another: `realm_access.roles`. */
        claim: text,
        /** Values of the claim by the role that they give. Of several roles, the first in this order counts. */
        roles: z.strictObject({ owner: values, finance: values, support: values, "read-only": values }),
      })
      .optional(),
    /** Whether people without such a value may have an account of their own. */
    customers: z.boolean().default(false),
    /** Whether somebody who has signed up with the same, verified address goes on as that person. */
    link_existing: z.boolean().default(true),
    /** How long a session lasts, after which the provider is asked again. */
    session_hours: z.number().min(0.25).max(168).default(8),
    /** After how many days without a sign-in a role ends that the provider gave. */
    absence_days: z.int().min(1).max(365).default(30),
  })
  .refine(({ operators, customers }) => operators !== undefined || customers, {
    path: ["operators"],
    error: "must be set unless customers is true: nobody could sign in",
  });

export type SsoSettings = z.infer<typeof settingsFile>;

/** Reads sso.json. Without the file, single sign-on is off. Throws an error that names the field and what to write. */
export async function readSsoSettings(path: string): Promise<SsoSettings | undefined> {
  let json: unknown;
  try {
    json = JSON.parse(await readFile(path, "utf8"));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    if (error instanceof SyntaxError) throw new Error(`${path} is not JSON: ${error.message}`);
    throw error;
  }
  const read = settingsFile.safeParse(json);
  if (read.success) return read.data;
  const { path: place, message } = read.error.issues[0]!;
  throw new Error(`${path}: ${place.join(".") || "the file"}: ${message}`);
}
