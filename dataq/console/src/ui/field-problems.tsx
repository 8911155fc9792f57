import { useEffect } from "react";
import type { Text } from "../text/en.ts";
import { useText } from "../text/text.tsx";

type FormField = HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement;

/** Has forms say what is wrong with a field in the language of the page; a browser says it in its own. */
export function FieldProblems() {
  const t = useText();
  useEffect(() => {
    const told = new Set<FormField>();
    const forget = (field: FormField) => {
      if (told.delete(field)) field.setCustomValidity("");
    };
    const say = ({ target }: Event) => {
      if (!isField(target) || target.validity.customError) return;
      target.setCustomValidity(problemOf(target, t.field));
      told.add(target);
    };
    const changed = ({ target }: Event) => isField(target) && forget(target);
    // A page may have filled in the field by itself; the browser looks again before it sends.
    const again = ({ target }: Event) =>
      target instanceof Element && target.closest("button") && told.forEach(forget);
    document.addEventListener("invalid", say, true);
    document.addEventListener("input", changed, true);
    document.addEventListener("click", again, true);
    return () => {
      told.forEach(forget);
      document.removeEventListener("invalid", say, true);
      document.removeEventListener("input", changed, true);
      document.removeEventListener("click", again, true);
    };
  }, [t]);
  return null;
}

function isField(target: EventTarget | null): target is FormField {
  return (
    target instanceof HTMLInputElement ||
    target instanceof HTMLSelectElement ||
    target instanceof HTMLTextAreaElement
  );
}

function problemOf(field: FormField, t: Text["field"]): string {
  const { validity } = field;
  if (validity.valueMissing) return field.type === "checkbox" ? t.tick : t.missing;
  if (!(field instanceof HTMLInputElement)) return t.wrong;
  if (validity.badInput) return t.number;
  if (validity.typeMismatch) return field.type === "email" ? t.email : t.url;
  if (validity.tooShort) return t.tooShort(field.minLength);
  if (validity.rangeUnderflow) return t.least(field.min);
  if (validity.rangeOverflow) return t.most(field.max);
  if (validity.stepMismatch) return field.step === "" || field.step === "1" ? t.whole : t.step(field.step);
  return t.wrong;
}
