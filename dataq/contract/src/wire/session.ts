import { z } from "zod";
import type { Received } from "./answer.ts";
import { accountRoles, memberRoles } from "./choices.ts";
import { moment } from "./moment.ts";

const role = z.enum(memberRoles);

/** Somebody who signed up, as operators see them. */
export const person = z.strictObject({
  id: z.string(),
  name: z.string(),
  email: z.string(),
  accountId: z.string().nullable(),
  role: role.nullable(),
  isVerified: z.boolean(),
  isApproved: z.boolean(),
  isLocal: z.boolean(),
  twoFactor: z.boolean(),
  createdAt: moment,
});
export type Person = Received<typeof person>;

/** Who is signed in, and which accounts they may act for. */
const signedIn = z.strictObject({
  id: z.string(),
  name: z.string(),
  email: z.string(),
  /** The account that they act for, and their role in it. */
  accountId: z.string().nullable(),
  memberRole: role.nullable(),
  accounts: z.array(z.strictObject({ id: z.string(), name: z.string(), role })),
  role: z.enum(accountRoles),
  isVerified: z.boolean(),
  isApproved: z.boolean(),
  /** The owner of this machine: no password, in by the link that the start prints. */
  isLocal: z.boolean(),
  twoFactor: z.boolean(),
});
export type SignedIn = Received<typeof signedIn>;

/** What the console knows before and after somebody signs in. */
export const session = z.strictObject({
  mode: z.enum(["local", "hosted"]),
  signup: z.enum(["open", "approve", "closed"]),
  /** Whether the service can send mail; without it, an operator hands out the links. */
  mail: z.boolean(),
  /** Whether to show the pages of a model server. */
  models: z.boolean(),
  user: signedIn.nullable(),
});
export type Session = Received<typeof session>;

/** A browser that is signed in. */
export const openSession = z.strictObject({
  id: z.string(),
  createdAt: moment,
  updatedAt: moment,
  ipAddress: z.string().nullable(),
  userAgent: z.string().nullable(),
  isCurrent: z.boolean(),
});
export type OpenSession = Received<typeof openSession>;

export const invitationToken = z.strictObject({ token: z.string().min(1).max(200) });
export const chosenAccount = z.strictObject({ account_id: z.string().min(1).max(64) });
export const resetLink = z.strictObject({ link: z.string() });
