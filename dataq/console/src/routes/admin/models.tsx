import { useQuery, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useRef, useState } from "react";
import Cpu from "~icons/lucide/cpu";
import { loadedQuery, modelsQuery, type PullStep, pull } from "../../service/models.ts";
import { useText } from "../../text/text.tsx";
import { Button } from "../../ui/button.tsx";
import { Field, Input } from "../../ui/field.tsx";
import { useFormat } from "../../ui/format.tsx";
import { Badge, PageHead, Panel } from "../../ui/panel.tsx";
import { Progress } from "../../ui/progress.tsx";
import { Empty, Failure, Loaded, Notice } from "../../ui/states.tsx";
import { Table } from "../../ui/table.tsx";
import { Chat } from "./chat.tsx";

/** The local model server: its models, a download form and a chat. */
export function Models() {
  const t = useText();
  const format = useFormat();
  const models = useQuery(modelsQuery);
  const loaded = useQuery(loadedQuery);
  return (
    <>
      <PageHead title={t.pages.models} about={t.models.about} />
      <div className="grid items-start gap-5 xl:grid-cols-2">
        <div className="flex min-w-0 flex-col gap-5">
          <Panel title={t.models.have} isFlush>
            <Loaded query={models}>
              {({ models: list }) =>
                list.length === 0 ? (
                  <Empty icon={<Cpu className="size-5" />} title={t.models.none}>
                    {t.models.noneAbout}
                  </Empty>
                ) : (
                  <Table
                    label={t.models.have}
                    rows={list}
                    keyOf={({ name }) => name}
                    columns={[
                      {
                        name: t.models.name,
                        className: "min-w-36 max-w-64",
                        cell: ({ name }) => <span className="font-medium break-words">{name}</span>,
                      },
                      {
                        name: t.models.size,
                        isNumber: true,
                        className: "whitespace-nowrap",
                        cell: ({ size }) => format.bytes(size),
                      },
                      {
                        name: t.models.kind,
                        isExtra: true,
                        cell: ({ details }) =>
                          [details?.parameter_size, details?.quantization_level]
                            .filter(Boolean)
                            .join(" · ") || "–",
                      },
                      {
                        name: t.keys.state,
                        cell: ({ name }) => {
                          const held = loaded.data?.models.find((one) => one.name === name);
                          return held ? (
                            <Badge tone="good">{t.models.loaded(format.bytes(held.size))}</Badge>
                          ) : (
                            "–"
                          );
                        },
                      },
                    ]}
                  />
                )
              }
            </Loaded>
          </Panel>
          <Pull />
        </div>
        <Chat models={models.data?.models.map(({ name }) => name) ?? []} />
      </div>
    </>
  );
}

function Pull() {
  const t = useText();
  const format = useFormat();
  const client = useQueryClient();
  const [step, setStep] = useState<PullStep | null>(null);
  const [state, setState] = useState<"idle" | "running" | "done">("idle");
  const [error, setError] = useState<unknown>(null);
  const stopper = useRef<AbortController>(null);
  const start = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const name = String(new FormData(event.currentTarget).get("name") ?? "").trim();
    const controller = new AbortController();
    stopper.current = controller;
    setState("running");
    setError(null);
    setStep(null);
    try {
      for await (const next of pull(name, controller.signal)) setStep(next);
      setState("done");
      await client.invalidateQueries({ queryKey: ["models"] });
    } catch (thrown) {
      setState("idle");
      if (!controller.signal.aborted) setError(thrown);
    }
  };
  return (
    <Panel title={t.models.pull} about={t.models.pullAbout}>
      <form className="flex flex-col gap-3" onSubmit={(event) => void start(event)}>
        <Field label={t.models.name}>
          {(attributes) => (
            <Input
              {...attributes}
              name="name"
              required
              maxLength={300}
              placeholder="smollm2:135m"
              spellCheck={false}
              autoComplete="off"
            />
          )}
        </Field>
        <div className="flex gap-2">
          <Button type="submit" kind="primary" isBusy={state === "running"}>
            {t.models.pull}
          </Button>
          {state === "running" && <Button onClick={() => stopper.current?.abort()}>{t.cancel}</Button>}
        </div>
      </form>
      <div className="mt-3 empty:mt-0" aria-live="polite">
        {state === "running" && (
          <>
            <Progress
              label={t.models.pull}
              done={step?.completed ?? 0}
              total={step?.total ?? null}
              show={format.bytes}
            />
            <p className="text-xs break-words text-faint">{step?.status}</p>
          </>
        )}
        {state === "done" && <Notice tone="good" title={t.models.pulled} />}
        {error ? <Failure error={error} /> : null}
      </div>
    </Panel>
  );
}
