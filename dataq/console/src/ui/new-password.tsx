import { useText } from "../text/text.tsx";
import { Field, Input } from "./field.tsx";

/** A field for a new password. */
export function NewPassword({
  label,
  error,
}: {
  readonly label: string;
  readonly error?: string | undefined;
}) {
  const t = useText();
  return (
    <Field label={label} hint={t.auth.passwordHint} error={error}>
      {(attributes) => (
        <Input
          {...attributes}
          name="password"
          type="password"
          required
          minLength={10}
          maxLength={128}
          autoComplete="new-password"
        />
      )}
    </Field>
  );
}
