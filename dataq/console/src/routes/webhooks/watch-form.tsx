import { useQuery } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { catalogQuery } from "../../service/catalog.ts";
import { createWatch } from "../../service/webhooks.ts";
import { useText } from "../../text/text.tsx";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Field, Input, Select } from "../../ui/field.tsx";
import { useFormat } from "../../ui/format.tsx";
import { useOnce } from "../../ui/once.ts";
import { useOperationName } from "../../ui/operation-name.ts";
import { Failure, Skeleton } from "../../ui/states.tsx";
import { useToast } from "../../ui/toast.tsx";
import { ParameterFields } from "../playground/parameter-fields.tsx";

/** Creates a watch. The question is asked at once, at its price. */
export function WatchForm({
  onClose,
  onDone,
}: {
  readonly onClose: () => void;
  readonly onDone: () => void;
}) {
  const t = useText();
  const say = useToast();
  const nameOf = useOperationName();
  const format = useFormat();
  const { data: catalog } = useQuery(catalogQuery);
  const searches = catalog?.filter(({ paged }) => paged) ?? [];
  const [chosen, setChosen] = useState("legal_cases");
  const [values, setValues] = useState<Readonly<Record<string, string>>>({});
  const operation = searches.find(({ name }) => name === chosen);
  const { mutate, isPending, error } = useOnce({
    mutationFn: createWatch,
    onSuccess: ({ records, tokens }) => {
      say(t.watches.made(format.number(records), format.tokens(tokens)));
      onDone();
    },
  });
  const send = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const params = Object.fromEntries(Object.entries(values).filter(([, value]) => value.trim() !== ""));
    mutate({
      name: String(form.get("name") ?? "").trim(),
      operation: chosen,
      params,
      monthly_limit: Number(form.get("limit")),
    });
  };
  return (
    <Dialog isOpen onClose={onClose} title={t.watches.make}>
      <form className="flex flex-col gap-4" onSubmit={send}>
        <Field label={t.keys.name} optionalText={t.optional}>
          {(attributes) => <Input {...attributes} name="name" maxLength={100} autoComplete="off" />}
        </Field>
        <Field label={t.requests.operation}>
          {(attributes) => (
            <Select {...attributes} value={chosen} onChange={(event) => setChosen(event.target.value)}>
              {searches.map(({ name }) => (
                <option key={name} value={name}>
                  {nameOf(name)}
                </option>
              ))}
            </Select>
          )}
        </Field>
        {operation ? (
          <ParameterFields operation={operation} values={values} onChange={setValues} />
        ) : (
          <Skeleton lines={2} />
        )}
        <Field label={t.watches.limit} hint={t.watches.limitHint}>
          {(attributes) => (
            <Input
              {...attributes}
              name="limit"
              type="number"
              min={1}
              max={1e12}
              step={1}
              required
              defaultValue={100_000}
            />
          )}
        </Field>
        {error && <Failure error={error} />}
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>{t.cancel}</Button>
          <Button type="submit" kind="primary" isBusy={isPending} disabled={!operation}>
            {t.watches.make}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
