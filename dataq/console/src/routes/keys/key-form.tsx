import type { ApiKey, CreatedKey, NewKey, Scope } from "@dataq/contract/wire";
import { useQuery } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { changeKey, createKey, keyScopes } from "../../service/keys.ts";
import { isMachineOwner, membersQuery } from "../../service/members.ts";
import { projectsQuery } from "../../service/projects.ts";
import { useSignedIn } from "../../service/session.ts";
import { useText } from "../../text/text.tsx";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Checkbox, Field, Input, Select, Textarea } from "../../ui/field.tsx";
import { TOKENS_PER_YUAN } from "../../ui/format.tsx";
import { useOnce } from "../../ui/once.ts";
import { Failure } from "../../ui/states.tsx";

/** Creates or edits a key. */
export function KeyForm({
  apiKey,
  onClose,
  onDone,
}: {
  readonly apiKey: ApiKey | undefined;
  readonly onClose: () => void;
  readonly onDone: (made?: CreatedKey) => void;
}) {
  const t = useText();
  const user = useSignedIn();
  // The owner of the machine is nobody who leaves.
  const members = (useQuery(membersQuery).data?.data ?? []).filter(({ email }) => !isMachineOwner(email));
  const { data: projects } = useQuery(projectsQuery);
  const [scopes, setScopes] = useState<readonly Scope[]>(apiKey?.scopes ?? ["data:query", "read:account"]);
  const { mutate, isPending, error } = useOnce({
    mutationFn: async ({ mode, ...wishes }: NewKey & Required<Pick<NewKey, "mode">>) => {
      if (!apiKey) return createKey({ ...wishes, mode });
      await changeKey(apiKey.id, wishes);
      return undefined;
    },
    onSuccess: onDone,
  });
  const [capProblem, setCapProblem] = useState("");
  const send = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const text = (name: string) => String(form.get(name) ?? "").trim();
    const cap = text("cap") === "" ? null : Math.round(Number(text("cap")) * TOKENS_PER_YUAN);
    if (cap !== null && !(Number.isSafeInteger(cap) && cap >= 0)) return setCapProblem(t.keys.capWrong);
    setCapProblem("");
    const wishes: NewKey = {
      name: text("name"),
      scopes,
      monthly_cap: cap,
      ip_list: text("ips")
        .split(/[\s,;]+/)
        .filter(Boolean),
      expires_at: expiryOf(text("expiry"), apiKey),
      person_id: text("person") || null,
    };
    mutate({
      ...wishes,
      mode: text("mode") === "test" ? "test" : "live",
      ...(!apiKey && text("project") !== "" && { project_id: text("project") }),
    });
  };
  const choices = [...new Set([...keyScopes, ...(apiKey?.scopes ?? [])])];
  return (
    <Dialog isOpen onClose={onClose} title={apiKey ? t.keys.changeTitle : t.keys.makeTitle} isWide>
      <form className="flex flex-col gap-4" onSubmit={send}>
        <div className="grid gap-4 sm:grid-cols-2">
          <Field label={t.keys.name} hint={t.keys.nameHint}>
            {(attributes) => (
              <Input
                {...attributes}
                name="name"
                required
                maxLength={80}
                defaultValue={apiKey?.name ?? ""}
                autoComplete="off"
              />
            )}
          </Field>
          {!apiKey && (
            <Field label={t.keys.mode} hint={t.keys.modeHint}>
              {(attributes) => (
                <Select {...attributes} name="mode" defaultValue="live">
                  <option value="live">{t.keys.live}</option>
                  <option value="test">{t.keys.test}</option>
                </Select>
              )}
            </Field>
          )}
        </div>
        {!apiKey && projects && projects.data.length > 0 && (
          <Field label={t.projects.one} hint={t.projects.keyHint}>
            {(attributes) => (
              <Select {...attributes} name="project" defaultValue="">
                <option value="">{t.projects.outside}</option>
                {projects.data.map(({ id, name }) => (
                  <option key={id} value={id}>
                    {name}
                  </option>
                ))}
              </Select>
            )}
          </Field>
        )}
        <fieldset>
          <legend className="mb-1 text-sm font-medium">{t.keys.scopes}</legend>
          <div className="grid gap-x-4 sm:grid-cols-2">
            {choices.map((scope) => (
              <Checkbox
                key={scope}
                label={t.keys.scopeNames[scope as keyof typeof t.keys.scopeNames] ?? scope}
                hint={t.keys.scopeHints[scope as keyof typeof t.keys.scopeHints]}
                checked={scopes.includes(scope)}
                onChange={(event) =>
                  setScopes(event.target.checked ? [...scopes, scope] : scopes.filter((one) => one !== scope))
                }
              />
            ))}
          </div>
        </fieldset>
        <div className="grid gap-4 sm:grid-cols-2">
          <Field
            label={t.keys.capYuan}
            optionalText={t.optional}
            hint={t.keys.capHint}
            error={capProblem || undefined}
          >
            {(attributes) => (
              <Input
                {...attributes}
                name="cap"
                inputMode="decimal"
                defaultValue={apiKey?.monthly_cap == null ? "" : String(apiKey.monthly_cap / TOKENS_PER_YUAN)}
              />
            )}
          </Field>
          <Field label={t.keys.expiry} hint={t.keys.expiryHint}>
            {(attributes) => (
              <Select {...attributes} name="expiry" defaultValue={apiKey?.expires_at ? "keep" : "never"}>
                {apiKey?.expires_at && <option value="keep">{t.keys.expiryKeep}</option>}
                <option value="never">{t.keys.expiryNever}</option>
                {[7, 30, 90, 365].map((days) => (
                  <option key={days} value={days}>
                    {t.keys.expiryDays(days)}
                  </option>
                ))}
              </Select>
            )}
          </Field>
        </div>
        {(members.length > 0 || apiKey?.person) && (
          <Field label={t.keys.person} hint={t.keys.personHint}>
            {(attributes) => (
              <Select {...attributes} name="person" defaultValue={apiKey?.person?.id ?? ""}>
                <option value="">{t.keys.service}</option>
                {members.map(({ id, name }) => (
                  <option key={id} value={id}>
                    {id === user.id ? t.keys.me(name) : name}
                  </option>
                ))}
              </Select>
            )}
          </Field>
        )}
        <Field label={t.keys.ips} optionalText={t.optional} hint={t.keys.ipsHint}>
          {(attributes) => (
            <Textarea
              {...attributes}
              name="ips"
              rows={2}
              className="font-mono text-sm"
              placeholder={"203.0.113.7\n10.0.0.0/8"}
              defaultValue={apiKey?.ip_list.join("\n") ?? ""}
            />
          )}
        </Field>
        {error && <Failure error={error} />}
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>{t.cancel}</Button>
          <Button type="submit" kind="primary" isBusy={isPending} disabled={scopes.length === 0}>
            {apiKey ? t.save : t.keys.make}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

function expiryOf(choice: string, apiKey: ApiKey | undefined): string | null {
  if (choice === "never") return null;
  if (choice === "keep") return apiKey?.expires_at ?? null;
  return new Date(Date.now() + Number(choice) * 86_400_000).toISOString();
}
