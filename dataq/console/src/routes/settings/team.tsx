import { memberRoles, type Role } from "@dataq/contract/wire";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import {
  actFor,
  inviteMember,
  isMachineOwner,
  membersQuery,
  removeMember,
  setMemberRole,
  withdrawInvitation,
} from "../../service/members.ts";
import { mayOperate, useSignedIn } from "../../service/session.ts";
import { useText } from "../../text/text.tsx";
import { Button } from "../../ui/button.tsx";
import { Code } from "../../ui/code.tsx";
import { Confirm } from "../../ui/confirm.tsx";
import { explain } from "../../ui/explain.ts";
import { Field, Input, Select } from "../../ui/field.tsx";
import { useFormat } from "../../ui/format.tsx";
import { Badge, Panel } from "../../ui/panel.tsx";
import { SettingForm } from "../../ui/setting-form.tsx";
import { Loaded, Notice } from "../../ui/states.tsx";
import { useToast } from "../../ui/toast.tsx";

/** Members of the account and their roles. Owners can invite, edit and remove members. */
export function Team() {
  const t = useText();
  const say = useToast();
  const format = useFormat();
  const user = useSignedIn();
  const client = useQueryClient();
  const query = useQuery(membersQuery);
  const [made, setMade] = useState<{ readonly email: string; readonly link: string } | null>(null);
  const [going, setGoing] = useState<{ readonly id: string; readonly name: string } | null>(null);
  const isOwner = user.member_role === "owner";
  // Only the account of the operator has customers to support.
  const roles = memberRoles.filter((role) => role !== "support" || mayOperate(user, "admin"));
  const change = async (changing: Promise<unknown>) => {
    try {
      await changing;
      say(t.settings.saved);
    } catch (error) {
      say(explain(error, t).title);
    } finally {
      await client.invalidateQueries({ queryKey: membersQuery.queryKey });
    }
  };
  return (
    <Panel title={t.team.title} about={t.team.about} isFlush>
      <Loaded query={query}>
        {({ data: members, invitations }) => (
          <ul className="divide-y divide-line">
            {members.map(({ id, name, email, role, from_provider }) => (
              <li key={id} className="flex flex-wrap items-center justify-between gap-3 px-4 py-3 sm:px-5">
                <span className="min-w-0 flex-1 basis-52">
                  <span className="block truncate">{name}</span>
                  <span className="block truncate text-xs text-faint">
                    {isMachineOwner(email) ? t.shell.local : email}
                  </span>
                </span>
                <span className="flex items-center gap-2">
                  {from_provider && (
                    <span title={t.team.fromProviderAbout}>
                      <Badge>{t.team.fromProvider}</Badge>
                    </span>
                  )}
                  {isOwner && id !== user.id ? (
                    <Select
                      aria-label={t.team.roleOf(name)}
                      value={role}
                      onChange={(event) => void change(setMemberRole(id, event.target.value as Role))}
                    >
                      {roles.map((one) => (
                        <option key={one} value={one}>
                          {t.team.roles[one]}
                        </option>
                      ))}
                    </Select>
                  ) : (
                    <Badge>{t.team.roles[role]}</Badge>
                  )}
                  {(id === user.id ? members.length > 1 && !user.is_local : isOwner) && (
                    <Button size="small" kind="danger" onClick={() => setGoing({ id, name })}>
                      {id === user.id ? t.team.leave : t.team.remove}
                    </Button>
                  )}
                </span>
              </li>
            ))}
            {invitations.map(({ id, email, role, expires_at }) => (
              <li key={id} className="flex flex-wrap items-center justify-between gap-3 px-4 py-3 sm:px-5">
                <span className="min-w-0 flex-1 basis-52">
                  <span className="block truncate">{email}</span>
                  <span className="tabular block text-xs text-faint">
                    {t.team.invited(t.team.roles[role], format.moment(expires_at))}
                  </span>
                </span>
                {isOwner && (
                  <Button size="small" kind="danger" onClick={() => void change(withdrawInvitation(id))}>
                    {t.team.withdraw}
                  </Button>
                )}
              </li>
            ))}
          </ul>
        )}
      </Loaded>
      {isOwner && (
        <div className="flex flex-col gap-4 border-t border-line px-4 py-4 sm:px-5">
          <SettingForm
            action={t.team.invite}
            onSend={async ({ email = "", role = "" }) => {
              setMade(await inviteMember(email.trim(), role as Role));
              await client.invalidateQueries({ queryKey: membersQuery.queryKey });
            }}
          >
            <div className="grid gap-4 sm:grid-cols-2">
              <Field label={t.auth.email}>
                {(attributes) => (
                  <Input
                    {...attributes}
                    name="email"
                    type="email"
                    required
                    maxLength={254}
                    autoComplete="off"
                  />
                )}
              </Field>
              <Field label={t.team.role}>
                {(attributes) => (
                  <Select {...attributes} name="role" defaultValue="developer">
                    {roles.map((one) => (
                      <option key={one} value={one}>
                        {t.team.roles[one]}
                      </option>
                    ))}
                  </Select>
                )}
              </Field>
            </div>
          </SettingForm>
          {made && (
            <>
              <Notice tone="warn" title={t.team.linkOnce}>
                {t.team.linkAbout}
              </Notice>
              <Code label={made.email} text={made.link} />
            </>
          )}
        </div>
      )}
      {going && <Removal id={going.id} name={going.name} onClose={() => setGoing(null)} />}
    </Panel>
  );
}

/** Confirms before an owner removes a member or a member leaves. */
function Removal({
  id,
  name,
  onClose,
}: {
  readonly id: string;
  readonly name: string;
  readonly onClose: () => void;
}) {
  const t = useText();
  const client = useQueryClient();
  const isSelf = useSignedIn().id === id;
  return (
    <Confirm
      title={isSelf ? t.team.leaveTitle : t.team.removeTitle(name)}
      about={isSelf ? t.team.leaveAbout : t.team.removeAbout}
      action={isSelf ? t.team.leave : t.team.remove}
      onConfirm={async () => {
        await removeMember(id);
        // After leaving, the user sees another account or none, so everything reloads.
        if (isSelf) location.assign("/console/");
        else await client.invalidateQueries({ queryKey: membersQuery.queryKey });
      }}
      onClose={onClose}
    />
  );
}

/** Lets users who are members of several accounts choose one. */
export function ActingFor() {
  const t = useText();
  const say = useToast();
  const { accounts, account_id } = useSignedIn();
  if (accounts.length < 2) return null;
  // Every page shows data of the current account, so everything reloads.
  const change = (id: string) =>
    actFor(id).then(
      () => location.assign("/console/"),
      (error: unknown) => say(explain(error, t).title),
    );
  return (
    <Panel title={t.team.account} about={t.team.accountAbout}>
      <Field label={t.team.account}>
        {(attributes) => (
          <Select
            {...attributes}
            value={account_id ?? ""}
            onChange={(event) => void change(event.target.value)}
          >
            {accounts.map(({ id, name, role }) => (
              <option key={id} value={id}>
                {name} · {t.team.roles[role]}
              </option>
            ))}
          </Select>
        )}
      </Field>
    </Panel>
  );
}
