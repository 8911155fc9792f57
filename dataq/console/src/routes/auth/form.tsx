import type { FormEvent, ReactNode } from "react";
import { Button } from "../../ui/button.tsx";
import { useOnce } from "../../ui/once.ts";
import { Failure } from "../../ui/states.tsx";

/** A form that prevents double submission and shows errors. */
export function AuthForm({
  title,
  about,
  before,
  action,
  kind = "primary",
  onSend,
  children,
  foot,
}: {
  readonly title: string;
  readonly about?: ReactNode;
  /** Another way, above the form. */
  readonly before?: ReactNode;
  readonly action: string;
  /** Plain where the foot has the better way. */
  readonly kind?: "primary" | "plain";
  readonly onSend: (values: Record<string, string>) => Promise<void>;
  readonly children: ReactNode;
  readonly foot?: ReactNode;
}) {
  const { mutate, isPending, error } = useOnce({ mutationFn: onSend });
  const send = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const values = [...new FormData(event.currentTarget)].map(([name, value]) => [name, String(value)]);
    mutate(Object.fromEntries(values));
  };
  return (
    <>
      <h1 className="text-2xl font-semibold">{title}</h1>
      {about && <p className="mt-1.5 text-soft">{about}</p>}
      {before}
      <form className="mt-6 flex flex-col gap-4" onSubmit={send}>
        {children}
        {error && <Failure error={error} />}
        <Button type="submit" kind={kind} isBusy={isPending} className="mt-1">
          {action}
        </Button>
      </form>
      {foot && <div className="mt-5 flex flex-col gap-2 text-sm text-soft">{foot}</div>}
    </>
  );
}

export const linkClass = "font-medium text-accent underline-offset-4 hover:underline";
