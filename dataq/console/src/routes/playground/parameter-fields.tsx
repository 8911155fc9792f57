import type { CatalogOperation } from "../../service/catalog.ts";
import { useText } from "../../text/text.tsx";
import { Field, Input, Select, Textarea } from "../../ui/field.tsx";
import { useLook } from "../../ui/look.ts";

/** Longer texts get a field with several lines. */
const longestLine = 1_000;

/** One form field per parameter, from its schema. */
export function ParameterFields({
  operation,
  values,
  onChange,
}: {
  readonly operation: CatalogOperation;
  readonly values: Readonly<Record<string, string>>;
  readonly onChange: (values: Readonly<Record<string, string>>) => void;
}) {
  const t = useText();
  const { language } = useLook();
  const { params: schema, meanings, example } = operation;
  const names = Object.keys(schema.properties ?? {}).filter(
    (name) => name !== "page" && name !== "page_size",
  );
  if (names.length === 0) return <p className="text-sm text-faint">{t.playground.noParameters}</p>;
  return names.map((name) => {
    const property = schema.properties?.[name] ?? {};
    // With a filter, the query may be empty.
    const hasFilter = name === "query" && names.some((other) => other !== name && values[other]?.trim());
    const isRequired = (schema.required?.includes(name) ?? false) && !hasFilter;
    const choices = (property.enum ?? property.anyOf?.flatMap((one) => one.enum ?? []))?.filter(
      (choice): choice is string => typeof choice === "string",
    );
    const set = (value: string) => onChange({ ...values, [name]: value });
    return (
      <Field
        key={name}
        label={t.parameters[name as keyof typeof t.parameters] ?? name}
        wireName={name}
        {...(!isRequired && { optionalText: t.optional })}
        hint={meanings.params[name]?.[language]}
      >
        {(attributes) =>
          choices && choices.length > 0 ? (
            <Select {...attributes} value={values[name] ?? ""} onChange={(event) => set(event.target.value)}>
              {!isRequired && <option value="">–</option>}
              {choices.map((choice) => (
                <option key={choice}>{choice}</option>
              ))}
            </Select>
          ) : (property.maxLength ?? 0) > longestLine ? (
            <Textarea
              {...attributes}
              required={isRequired}
              rows={8}
              value={values[name] ?? ""}
              placeholder={example.params[name] ?? ""}
              spellCheck={false}
              onChange={(event) => set(event.target.value)}
            />
          ) : (
            <Input
              {...attributes}
              required={isRequired}
              value={values[name] ?? ""}
              placeholder={example.params[name] ?? (name.startsWith("date") ? "YYYY-MM-DD" : "")}
              autoComplete="off"
              spellCheck={false}
              onChange={(event) => set(event.target.value)}
            />
          )
        }
      </Field>
    );
  });
}
