import type { ApiKey, CreatedKey } from "@dataq/contract/wire";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import KeyRound from "~icons/lucide/key-round";
import Plus from "~icons/lucide/plus";
import { keysQuery, revokeKey, stateOf } from "../../service/keys.ts";
import { projectsQuery } from "../../service/projects.ts";
import { useMay } from "../../service/session.ts";
import { useText } from "../../text/text.tsx";
import { Button } from "../../ui/button.tsx";
import { Confirm } from "../../ui/confirm.tsx";
import { useFormat } from "../../ui/format.tsx";
import { Badge, PageHead, Panel } from "../../ui/panel.tsx";
import { Empty, Loaded } from "../../ui/states.tsx";
import { Table } from "../../ui/table.tsx";
import { useToast } from "../../ui/toast.tsx";
import { Allowed } from "../allowed.tsx";
import { KeyForm } from "./key-form.tsx";
import { NewKey } from "./new-key.tsx";
import { Projects } from "./projects.tsx";
import { Rotate } from "./rotate.tsx";

type Doing =
  | { readonly what: "make" }
  | { readonly what: "change" | "rotate" | "revoke"; readonly key: ApiKey };

export function Keys() {
  const t = useText();
  const mayManage = useMay("manage:keys");
  const query = useQuery({ ...keysQuery, enabled: mayManage });
  const client = useQueryClient();
  const say = useToast();
  const [doing, setDoing] = useState<Doing | null>(null);
  const [made, setMade] = useState<CreatedKey | null>(null);
  // A further press of Enter would open another dialog above the one that shows the new key.
  const start = (next: Doing) => {
    if (made === null) setDoing(next);
  };
  const done = (key?: CreatedKey) => {
    setDoing(null);
    if (key) setMade(key);
    void client.invalidateQueries({ queryKey: keysQuery.queryKey });
  };
  const make = (
    <Button kind="primary" icon={<Plus className="size-4" />} onClick={() => start({ what: "make" })}>
      {t.keys.make}
    </Button>
  );
  return (
    <>
      <PageHead title={t.pages.keys} about={t.keys.about} actions={mayManage && make} />
      <Allowed to="manage:keys">
        <Panel isFlush>
          <Loaded query={query}>
            {({ data }) =>
              data.length === 0 ? (
                <Empty icon={<KeyRound className="size-5" />} title={t.keys.none} action={make}>
                  {t.keys.noneAbout}
                </Empty>
              ) : (
                <KeyTable keys={data} onDo={start} />
              )
            }
          </Loaded>
        </Panel>
      </Allowed>
      <Projects />
      {(doing?.what === "make" || doing?.what === "change") && (
        <KeyForm
          apiKey={doing.what === "change" ? doing.key : undefined}
          onClose={() => setDoing(null)}
          onDone={done}
        />
      )}
      {doing?.what === "rotate" && <Rotate apiKey={doing.key} onClose={() => setDoing(null)} onDone={done} />}
      {doing?.what === "revoke" && (
        <Confirm
          title={t.keys.revokeTitle(doing.key.name || doing.key.prefix)}
          about={t.keys.revokeAbout}
          action={t.keys.revoke}
          onConfirm={async () => {
            await revokeKey(doing.key.id);
            say(t.keys.revoked);
            done();
          }}
          onClose={() => setDoing(null)}
        />
      )}
      {made && <NewKey made={made} onClose={() => setMade(null)} />}
    </>
  );
}

function KeyTable({
  keys,
  onDo,
}: {
  readonly keys: readonly ApiKey[];
  readonly onDo: (doing: Doing) => void;
}) {
  const t = useText();
  const format = useFormat();
  const { data: projects } = useQuery(projectsQuery);
  const projectOf = (key: ApiKey) => projects?.data.find(({ id }) => id === key.project_id)?.name;
  const sorted = [...keys].sort((a, b) => rank(a) - rank(b) || b.created_at.localeCompare(a.created_at));
  return (
    <Table
      label={t.pages.keys}
      rows={sorted}
      step={100}
      keyOf={(key) => key.id}
      columns={[
        {
          name: t.keys.name,
          className: "min-w-40 max-w-56",
          cell: (key) => (
            <>
              <span className="block truncate font-medium" title={key.name}>
                {key.name || t.keys.unnamed}
              </span>
              <code className="font-mono text-xs whitespace-nowrap text-faint">
                {key.prefix}…{key.last4}
              </code>
              {key.person && (
                <span className="block truncate text-xs text-soft">{t.keys.of(key.person.name)}</span>
              )}
              {projectOf(key) && (
                <span className="block truncate text-xs text-soft" title={projectOf(key)}>
                  {projectOf(key)}
                </span>
              )}
            </>
          ),
        },
        { name: t.keys.state, cell: (key) => <State apiKey={key} /> },
        {
          name: t.keys.scopes,
          isExtra: true,
          isWide: true,
          className: "min-w-36 max-w-56",
          cell: (key) => (
            <span className="text-soft">
              {key.scopes
                .map((scope) => t.keys.scopeNames[scope as keyof typeof t.keys.scopeNames] ?? scope)
                .join(t.comma)}
            </span>
          ),
        },
        {
          name: t.keys.cap,
          isNumber: true,
          isExtra: true,
          cell: (key) => (key.monthly_cap === null ? "–" : format.yuan(key.monthly_cap)),
        },
        {
          name: t.keys.lastUsed,
          className: "min-w-24",
          cell: (key) => (
            <>
              <span
                className="whitespace-nowrap"
                title={key.last_used_at ? format.moment(key.last_used_at) : undefined}
              >
                {key.last_used_at ? format.ago(key.last_used_at) : t.keys.never}
              </span>
              {key.last_refused_at && (
                <span
                  className="block text-xs text-warn"
                  title={`${format.moment(key.last_refused_at)} · ${t.keys.refusedAbout}`}
                >
                  {t.keys.refused(format.ago(key.last_refused_at))}
                </span>
              )}
            </>
          ),
        },
        {
          name: t.actions,
          isWide: true,
          cell: (key) =>
            stateOf(key) === "active" || stateOf(key) === "ending" ? (
              <span className="flex gap-1.5">
                {(["change", "rotate", "revoke"] as const).map((what) => (
                  <Button
                    key={what}
                    size="small"
                    kind={what === "revoke" ? "danger" : "plain"}
                    aria-label={`${t.keys[what]}: ${key.name || key.prefix}`}
                    onClick={() => onDo({ what, key })}
                  >
                    {t.keys[what]}
                  </Button>
                ))}
              </span>
            ) : (
              "–"
            ),
        },
      ]}
    />
  );
}

function State({ apiKey }: { readonly apiKey: ApiKey }) {
  const t = useText();
  const format = useFormat();
  const state = stateOf(apiKey);
  const tone = { active: "good", ending: "warn", expired: "plain", revoked: "plain" } as const;
  return (
    <span className="flex flex-col items-start gap-1">
      <span className="flex gap-1">
        <Badge tone={tone[state]}>{t.keys.states[state]}</Badge>
        {apiKey.mode === "test" && <Badge tone="accent">{t.keys.test}</Badge>}
      </span>
      {(state === "active" || state === "ending") && apiKey.expires_at && (
        <span className="tabular text-xs text-faint sm:whitespace-nowrap">
          {t.keys.until(format.moment(apiKey.expires_at))}
        </span>
      )}
      {apiKey.revoked_at && (
        <span className="text-xs text-faint">
          {apiKey.revoked_reason && (
            <span className={apiKey.revoked_reason === "leaked" ? "block text-bad" : "block"}>
              {t.keys.revokedReasons[apiKey.revoked_reason] ?? apiKey.revoked_reason}
            </span>
          )}
          <span className="tabular sm:whitespace-nowrap">{format.moment(apiKey.revoked_at)}</span>
        </span>
      )}
    </span>
  );
}

function rank(key: ApiKey): number {
  const state = stateOf(key);
  return state === "active" || state === "ending" ? 0 : 1;
}
