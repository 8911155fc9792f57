import type { NewProject, Project } from "@dataq/contract/wire";
import { type FormEvent, useState } from "react";
import { changeProject, createProject } from "../../service/projects.ts";
import { useText } from "../../text/text.tsx";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Field, Input } from "../../ui/field.tsx";
import { TOKENS_PER_YUAN } from "../../ui/format.tsx";
import { useOnce } from "../../ui/once.ts";
import { Failure } from "../../ui/states.tsx";

/** Creates or edits a project. */
export function ProjectForm({
  project,
  onClose,
  onDone,
}: {
  readonly project: Project | undefined;
  readonly onClose: () => void;
  readonly onDone: () => void;
}) {
  const t = useText();
  const [problem, setProblem] = useState("");
  const { mutate, isPending, error } = useOnce({
    mutationFn: (wishes: NewProject) => (project ? changeProject(project.id, wishes) : createProject(wishes)),
    onSuccess: onDone,
  });
  const send = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const text = (name: string) => String(form.get(name) ?? "").trim();
    const yuan = text("budget");
    const budget = yuan === "" ? null : Math.round(Number(yuan) * TOKENS_PER_YUAN);
    if (budget !== null && !(Number.isSafeInteger(budget) && budget >= 0)) return setProblem(t.keys.capWrong);
    setProblem("");
    mutate({ name: text("name"), monthly_budget: budget, alert_percent: Number(text("alert")) });
  };
  return (
    <Dialog isOpen onClose={onClose} title={project ? t.projects.changeTitle : t.projects.makeTitle}>
      <form className="flex flex-col gap-4" onSubmit={send}>
        <Field label={t.projects.name}>
          {(attributes) => (
            <Input
              {...attributes}
              name="name"
              required
              maxLength={100}
              defaultValue={project?.name ?? ""}
              autoComplete="off"
            />
          )}
        </Field>
        <Field
          label={t.projects.budgetYuan}
          optionalText={t.optional}
          hint={t.projects.budgetHint}
          error={problem || undefined}
        >
          {(attributes) => (
            <Input
              {...attributes}
              name="budget"
              inputMode="decimal"
              defaultValue={
                project?.monthly_budget == null ? "" : String(project.monthly_budget / TOKENS_PER_YUAN)
              }
            />
          )}
        </Field>
        <Field label={t.projects.alert} hint={t.projects.alertHint}>
          {(attributes) => (
            <Input
              {...attributes}
              name="alert"
              type="number"
              min={0}
              max={100}
              step={1}
              required
              defaultValue={project?.alert_percent ?? 80}
            />
          )}
        </Field>
        {error && <Failure error={error} />}
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>{t.cancel}</Button>
          <Button type="submit" kind="primary" isBusy={isPending}>
            {project ? t.save : t.projects.make}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
