import type { FormEvent, ReactNode } from "react";
import { Button } from "./button.tsx";
import { useOnce } from "./once.ts";
import { Failure } from "./states.tsx";

/** A small form that clears its password fields after success. */
export function SettingForm({
  action,
  kind = "plain",
  onSend,
  beside,
  children,
}: {
  readonly action: string;
  readonly kind?: "plain" | "danger";
  readonly onSend: (values: Record<string, string>) => Promise<void>;
  /** Further buttons, in the row of the form's own. */
  readonly beside?: ReactNode;
  readonly children: ReactNode;
}) {
  const { mutate, isPending, error } = useOnce({
    mutationFn: async (form: HTMLFormElement) => {
      await onSend(Object.fromEntries([...new FormData(form)].map(([name, value]) => [name, String(value)])));
      for (const field of form.querySelectorAll<HTMLInputElement>("input[type=password]")) field.value = "";
    },
  });
  const send = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    mutate(event.currentTarget);
  };
  return (
    <form className="flex flex-col gap-4" onSubmit={send}>
      {children}
      {error && <Failure error={error} />}
      <div className="flex flex-wrap gap-2">
        <Button type="submit" kind={kind} isBusy={isPending}>
          {action}
        </Button>
        {beside}
      </div>
    </form>
  );
}
