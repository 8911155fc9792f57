import { tiers } from "@dataq/contract/wire";
import { keepPreviousData, useInfiniteQuery, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import Plus from "~icons/lucide/plus";
import Search from "~icons/lucide/search";
import Users from "~icons/lucide/users";
import {
  accountsQuery,
  approvePerson,
  createAccount,
  makeResetLink,
  peopleQuery,
} from "../../service/admin.ts";
import { mayOperate, useSignedIn } from "../../service/session.ts";
import { useText } from "../../text/text.tsx";
import { Button } from "../../ui/button.tsx";
import { Code } from "../../ui/code.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { explain } from "../../ui/explain.ts";
import { Field, Input, Select } from "../../ui/field.tsx";
import { TOKENS_PER_YUAN, useFormat } from "../../ui/format.tsx";
import { MoreRows } from "../../ui/more-rows.tsx";
import { useOnce } from "../../ui/once.ts";
import { Badge, PageHead, Panel } from "../../ui/panel.tsx";
import { useSettled } from "../../ui/settled.ts";
import { Empty, Failure, Loaded } from "../../ui/states.tsx";
import { Table } from "../../ui/table.tsx";
import { useToast } from "../../ui/toast.tsx";

export function Accounts() {
  const t = useText();
  const format = useFormat();
  const user = useSignedIn();
  const [wanted, setWanted] = useState("");
  const search = useSettled(wanted.trim());
  const query = useInfiniteQuery({ ...accountsQuery(search), placeholderData: keepPreviousData });
  const [isMaking, setMaking] = useState(false);
  return (
    <>
      <PageHead
        title={t.pages.accounts}
        about={t.accounts.about}
        actions={
          mayOperate(user, "admin") && (
            <Button kind="primary" icon={<Plus className="size-4" />} onClick={() => setMaking(true)}>
              {t.accounts.make}
            </Button>
          )
        }
      />
      <People />
      <Panel
        title={t.accounts.accounts}
        isFlush
        actions={
          <search className="relative w-72 max-w-full">
            <Search className="pointer-events-none absolute top-2.5 left-2.5 size-4 text-faint" />
            <Input
              aria-label={t.accounts.search}
              placeholder={t.accounts.searchAbout}
              className="pl-8"
              type="search"
              maxLength={254}
              autoComplete="off"
              spellCheck={false}
              value={wanted}
              onChange={(event) => setWanted(event.target.value)}
            />
          </search>
        }
      >
        <Loaded query={query} lines={8}>
          {({ pages }) => {
            const rows = pages.flatMap(({ data }) => data);
            return rows.length === 0 ? (
              <Empty
                icon={<Users className="size-5" />}
                title={search ? t.accounts.noneFound : t.accounts.none}
              />
            ) : (
              <Table
                label={t.accounts.accounts}
                rows={rows}
                keyOf={({ id }) => id}
                columns={[
                  {
                    name: t.auth.name,
                    className: "max-w-64 min-w-40",
                    cell: (account) => (
                      <Link
                        to="/admin/accounts/$id"
                        params={{ id: account.id }}
                        className="block truncate font-medium text-accent underline-offset-4 hover:underline"
                      >
                        {account.name}
                      </Link>
                    ),
                  },
                  {
                    name: t.auth.email,
                    isWide: true,
                    className: "max-w-64",
                    cell: ({ email }) => <span className="block truncate">{email ?? "–"}</span>,
                  },
                  {
                    name: t.accounts.tier,
                    cell: ({ tier, role }) => (
                      <span className="flex gap-1">
                        <Badge>{t.accounts.tiers[tier as keyof typeof t.accounts.tiers] ?? tier}</Badge>
                        {role === "admin" && <Badge tone="accent">{t.accounts.admin}</Badge>}
                      </span>
                    ),
                  },
                  {
                    name: t.accounts.since,
                    isExtra: true,
                    className: "tabular whitespace-nowrap",
                    cell: (account) => format.moment(account.created_at),
                  },
                ]}
              />
            );
          }}
        </Loaded>
        <MoreRows query={query} />
      </Panel>
      {isMaking && <CreateAccount onClose={() => setMaking(false)} />}
    </>
  );
}

/** Users; those awaiting approval come first. */
function People() {
  const t = useText();
  const say = useToast();
  const format = useFormat();
  const user = useSignedIn();
  const client = useQueryClient();
  const query = useQuery(peopleQuery);
  const [link, setLink] = useState("");
  const approve = async (id: string) => {
    try {
      await approvePerson(id);
      await client.invalidateQueries({ queryKey: ["admin"] });
    } catch (error) {
      say(explain(error, t).title);
    }
  };
  const reset = async (id: string) => {
    try {
      setLink((await makeResetLink(id)).link);
    } catch (error) {
      say(explain(error, t).title);
    }
  };
  if (query.data?.data.length === 0) return null;
  return (
    <Panel title={t.accounts.people} about={t.accounts.peopleAbout} className="mb-5" isFlush>
      <Loaded query={query} lines={3}>
        {({ data }) => (
          <Table
            label={t.accounts.people}
            step={100}
            rows={[...data].sort((a, b) => Number(a.is_approved) - Number(b.is_approved))}
            keyOf={({ id }) => id}
            columns={[
              {
                name: t.auth.name,
                className: "max-w-64 min-w-40",
                cell: (person) => (
                  <>
                    <span className="block truncate font-medium">{person.name}</span>
                    <span className="block truncate text-xs text-faint">{person.email}</span>
                  </>
                ),
              },
              {
                name: t.keys.state,
                cell: (person) => (
                  <Badge tone={person.account_id ? "good" : "warn"}>
                    {person.account_id
                      ? t.accounts.in
                      : person.is_approved
                        ? t.accounts.unverified
                        : t.accounts.waiting}
                  </Badge>
                ),
              },
              {
                name: t.accounts.since,
                isExtra: true,
                className: "tabular whitespace-nowrap",
                cell: (person) => format.moment(person.created_at),
              },
              {
                name: t.actions,
                isWide: true,
                cell: (person) =>
                  mayOperate(user, "admin:support") && (
                    <span className="flex gap-1.5">
                      {!person.account_id && (
                        <Button size="small" kind="primary" onClick={() => void approve(person.id)}>
                          {t.accounts.approve}
                        </Button>
                      )}
                      <Button
                        size="small"
                        aria-label={`${t.accounts.resetLink}: ${person.email}`}
                        onClick={() => void reset(person.id)}
                      >
                        {t.accounts.resetLink}
                      </Button>
                    </span>
                  ),
              },
            ]}
          />
        )}
      </Loaded>
      <Dialog
        isOpen={link !== ""}
        onClose={() => setLink("")}
        title={t.accounts.resetLink}
        about={t.accounts.resetLinkAbout}
      >
        <Code label={t.accounts.resetLink} text={link} />
      </Dialog>
    </Panel>
  );
}

function CreateAccount({ onClose }: { readonly onClose: () => void }) {
  const t = useText();
  const client = useQueryClient();
  const [keys, setKeys] = useState<readonly string[] | null>(null);
  const { mutate, isPending, error } = useOnce({
    mutationFn: createAccount,
    onSuccess: async (made) => {
      await client.invalidateQueries({ queryKey: ["admin"] });
      if (made.keys.length > 0) setKeys(made.keys);
      else onClose();
    },
  });
  const send = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const text = (name: string) => String(form.get(name) ?? "").trim();
    mutate({
      name: text("name"),
      keys: Number(text("keys") || 0),
      tier: tiers.find((one) => one === text("tier")),
      ...(text("email") && { email: text("email") }),
      ...(text("yuan") && { tokens: Math.round(Number(text("yuan")) * TOKENS_PER_YUAN) }),
    });
  };
  if (keys)
    return (
      <Dialog isOpen onClose={onClose} title={t.keys.madeTitle} about={t.keys.onceAbout}>
        <Code label={t.pages.keys} text={keys.join("\n")} />
        <div className="mt-4 flex justify-end">
          <Button kind="primary" onClick={onClose}>
            {t.done}
          </Button>
        </div>
      </Dialog>
    );
  return (
    <Dialog isOpen onClose={onClose} title={t.accounts.make}>
      <form className="flex flex-col gap-4" onSubmit={send}>
        <Field label={t.auth.name}>
          {(attributes) => <Input {...attributes} name="name" required maxLength={200} autoComplete="off" />}
        </Field>
        <Field label={t.auth.email} optionalText={t.optional}>
          {(attributes) => <Input {...attributes} name="email" type="email" autoComplete="off" />}
        </Field>
        <div className="grid gap-4 sm:grid-cols-3">
          <Field label={t.accounts.opening} optionalText={t.optional} hint={t.accounts.openingHint}>
            {(attributes) => <Input {...attributes} name="yuan" type="number" min="0" step="0.01" />}
          </Field>
          <Field label={t.accounts.tier}>
            {(attributes) => (
              <Select {...attributes} name="tier" defaultValue="trial">
                {tiers.map((tier) => (
                  <option key={tier} value={tier}>
                    {t.accounts.tiers[tier]}
                  </option>
                ))}
              </Select>
            )}
          </Field>
          <Field label={t.accounts.keyCount}>
            {(attributes) => (
              <Input {...attributes} name="keys" type="number" min="0" max="100" defaultValue="1" />
            )}
          </Field>
        </div>
        {error && <Failure error={error} />}
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>{t.cancel}</Button>
          <Button type="submit" kind="primary" isBusy={isPending}>
            {t.accounts.make}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
