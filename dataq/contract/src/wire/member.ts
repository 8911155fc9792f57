import { z } from "zod";
import type { Received } from "./answer.ts";
import { memberRoles } from "./choices.ts";
import { moment } from "./moment.ts";

const role = z.enum(memberRoles);

export const member = z.strictObject({
  id: z.string(),
  name: z.string(),
  email: z.string(),
  role,
  /** Whether single sign-on gave the role, and takes it away. */
  from_provider: z.boolean(),
  created_at: moment,
});
export type Member = Received<typeof member>;

export const invitation = z.strictObject({ id: z.string(), email: z.string(), role, expires_at: moment });
export type Invitation = Received<typeof invitation>;

export const memberList = z.strictObject({ data: z.array(member), invitations: z.array(invitation) });

export const newInvitation = z.strictObject({ email: z.email().max(254), role: role.default("developer") });
/** The only answer that contains the link. */
export const createdInvitation = invitation.extend({ link: z.string() });

export const memberRole = z.strictObject({ role });
export const changedMember = z.strictObject({ id: z.string(), role });
