import { type FormEvent, type ReactNode, useState } from "react";
import { Button } from "./button.tsx";
import { Failure } from "./states.tsx";

/** A small form that empties its passwords when it went well. */
export function SettingForm({
  action,
  onSend,
  children,
}: {
  readonly action: string;
  readonly onSend: (values: Record<string, string>) => Promise<void>;
  readonly children: ReactNode;
}) {
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const send = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = event.currentTarget;
    setBusy(true);
    setError(null);
    try {
      await onSend(Object.fromEntries([...new FormData(form)].map(([name, value]) => [name, String(value)])));
      for (const field of form.querySelectorAll<HTMLInputElement>("input[type=password]")) field.value = "";
    } catch (thrown) {
      setError(thrown);
    } finally {
      setBusy(false);
    }
  };
  return (
    <form className="flex flex-col gap-4" onSubmit={(event) => void send(event)}>
      {children}
      {error ? <Failure error={error} /> : null}
      <Button type="submit" isBusy={isBusy} className="self-start">
        {action}
      </Button>
    </form>
  );
}
