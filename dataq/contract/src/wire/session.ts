import { z } from "zod";
import type { Received } from "./answer.ts";
import { accountRoles, memberRoles, scopes } from "./choices.ts";
import { maintenanceWindow } from "./maintenance.ts";
import { moment } from "./moment.ts";

const role = z.enum(memberRoles);

/** A user who signed up, as operators see it. */
export const person = z.strictObject({
  id: z.string(),
  name: z.string(),
  email: z.string(),
  account_id: z.string().nullable(),
  role: role.nullable(),
  is_verified: z.boolean(),
  is_approved: z.boolean(),
  is_local: z.boolean(),
  two_factor: z.boolean(),
  created_at: moment,
});
export type Person = Received<typeof person>;

/** The signed-in user and the accounts that they may act for. */
const signedIn = z.strictObject({
  id: z.string(),
  name: z.string(),
  email: z.string(),
  /** The account that they act for, and their role in it. */
  account_id: z.string().nullable(),
  member_role: role.nullable(),
  accounts: z.array(z.strictObject({ id: z.string(), name: z.string(), role })),
  role: z.enum(accountRoles),
  /** What they may do in it. */
  scopes: z.array(z.enum(scopes)),
  is_verified: z.boolean(),
  is_approved: z.boolean(),
  /** The owner of this machine. They have no password and sign in with the link that is printed at startup. */
  is_local: z.boolean(),
  two_factor: z.boolean(),
  /** Whether they must accept the present terms before anything else. */
  must_accept_terms: z.boolean(),
});
export type SignedIn = Received<typeof signedIn>;

/** What the console knows before and after sign-in. */
export const session = z.strictObject({
  mode: z.enum(["local", "hosted"]),
  signup: z.enum(["open", "approve", "closed"]),
  /** Whether the service can send mail. Without it, an operator passes on the links. */
  mail: z.boolean(),
  /** Single sign-on, by the name of its provider. */
  sso: z.strictObject({ name: z.string() }).nullable(),
  /** Whether to show the pages of a model server. */
  models: z.boolean(),
  /** The operator's terms of use. */
  terms: z.strictObject({ version: z.string(), url: z.string() }).nullable(),
  /** While calls are refused. */
  maintenance: maintenanceWindow.nullable(),
  user: signedIn.nullable(),
});
export type Session = Received<typeof session>;

/** A session of a browser. */
export const openSession = z.strictObject({
  id: z.string(),
  created_at: moment,
  updated_at: moment,
  ip_address: z.string().nullable(),
  user_agent: z.string().nullable(),
  is_current: z.boolean(),
});
export type OpenSession = Received<typeof openSession>;

/** Why single sign-on did not let somebody in. */
export const ssoRefusals = [
  "cancelled",
  "expired",
  "failed",
  "mail_unverified",
  "mail_domain",
  "mail_taken",
  "no_role",
  "signup_closed",
] as const;
export type SsoRefusal = (typeof ssoRefusals)[number];

/** The page of the console to go on with, below `/console`. */
export const ssoStart = z.strictObject({
  next: z
    .string()
    .max(500)
    .regex(/^\/(?![/\\])[!-~]*$/, { error: "must be a path of the console, such as /keys" })
    .default("/"),
});
/** Where the browser goes on: at the provider. */
export const startedSso = z.strictObject({ url: z.url() });
export type StartedSso = Received<typeof startedSso>;

export const invitationToken = z.strictObject({ token: z.string().min(1).max(200) });
export const chosenAccount = z.strictObject({ account_id: z.string().min(1).max(64) });
export const acceptedTerms = z.strictObject({ version: z.string().min(1).max(40) });
export const approved = z.strictObject({ status: z.literal("approved") });
export const resetLink = z.strictObject({ link: z.string() });
