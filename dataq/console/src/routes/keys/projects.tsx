import type { Project } from "@dataq/contract/wire";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import Plus from "~icons/lucide/plus";
import { keysQuery } from "../../service/keys.ts";
import { deleteProject, projectsQuery } from "../../service/projects.ts";
import { useMay } from "../../service/session.ts";
import { useText } from "../../text/text.tsx";
import { Button } from "../../ui/button.tsx";
import { Confirm } from "../../ui/confirm.tsx";
import { useFormat } from "../../ui/format.tsx";
import { Panel } from "../../ui/panel.tsx";
import { Progress } from "../../ui/progress.tsx";
import { Empty, Loaded } from "../../ui/states.tsx";
import { Table } from "../../ui/table.tsx";
import { useToast } from "../../ui/toast.tsx";
import { ProjectForm } from "./project-form.tsx";

type Doing = { readonly what: "make" } | { readonly what: "change" | "remove"; readonly project: Project };

/** Projects of the account: their budgets, and what was spent of them this month. */
export function Projects() {
  const t = useText();
  const query = useQuery(projectsQuery);
  const client = useQueryClient();
  const say = useToast();
  const mayManage = useMay("manage:billing");
  const [doing, setDoing] = useState<Doing | null>(null);
  const done = () => {
    setDoing(null);
    void client.invalidateQueries({ queryKey: projectsQuery.queryKey });
    void client.invalidateQueries({ queryKey: keysQuery.queryKey });
  };
  return (
    <Panel
      title={t.projects.title}
      about={t.projects.about}
      className="mt-5"
      isFlush
      actions={
        mayManage && (
          <Button icon={<Plus className="size-4" />} onClick={() => setDoing({ what: "make" })}>
            {t.projects.make}
          </Button>
        )
      }
    >
      <Loaded query={query} lines={2}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty title={t.projects.none}>{t.projects.noneAbout}</Empty>
          ) : (
            <ProjectTable projects={data} onDo={mayManage ? setDoing : undefined} />
          )
        }
      </Loaded>
      {(doing?.what === "make" || doing?.what === "change") && (
        <ProjectForm
          project={doing.what === "change" ? doing.project : undefined}
          onClose={() => setDoing(null)}
          onDone={done}
        />
      )}
      {doing?.what === "remove" && (
        <Confirm
          title={t.projects.removeTitle(doing.project.name)}
          about={t.projects.removeAbout}
          action={t.projects.remove}
          onConfirm={async () => {
            await deleteProject(doing.project.id);
            say(t.projects.removed);
            done();
          }}
          onClose={() => setDoing(null)}
        />
      )}
    </Panel>
  );
}

function ProjectTable({
  projects,
  onDo,
}: {
  readonly projects: readonly Project[];
  /** Nothing for people who may only read. */
  readonly onDo: ((doing: Doing) => void) | undefined;
}) {
  const t = useText();
  const format = useFormat();
  return (
    <Table
      label={t.projects.title}
      rows={projects}
      keyOf={({ id }) => id}
      columns={[
        {
          name: t.projects.name,
          className: "min-w-32 max-w-56",
          cell: ({ name }) => (
            <span className="block truncate font-medium" title={name}>
              {name}
            </span>
          ),
        },
        {
          name: t.projects.budget,
          isNumber: true,
          cell: ({ monthly_budget }) =>
            monthly_budget === null ? t.projects.noBudget : format.yuan(monthly_budget),
        },
        {
          name: t.projects.spent,
          className: "min-w-40",
          cell: ({ name, spent, monthly_budget, alert_percent }) =>
            monthly_budget === null ? (
              format.yuan(spent)
            ) : (
              <Progress
                label={`${t.projects.spent}: ${name}`}
                done={spent}
                total={monthly_budget}
                show={format.yuan}
                warnAt={alert_percent / 100}
              />
            ),
        },
        { name: t.projects.keys, isNumber: true, isExtra: true, cell: ({ keys }) => format.number(keys) },
        {
          name: t.actions,
          isWide: true,
          cell: (project) =>
            onDo === undefined ? (
              "–"
            ) : (
              <span className="flex flex-wrap items-center gap-1.5">
                <Button
                  size="small"
                  aria-label={`${t.keys.change}: ${project.name}`}
                  onClick={() => onDo({ what: "change", project })}
                >
                  {t.keys.change}
                </Button>
                <Button
                  size="small"
                  kind="danger"
                  aria-label={`${t.projects.remove}: ${project.name}`}
                  disabled={project.keys > 0}
                  aria-describedby={project.keys > 0 ? `keys-of-${project.id}` : undefined}
                  onClick={() => onDo({ what: "remove", project })}
                >
                  {t.projects.remove}
                </Button>
                {project.keys > 0 && (
                  <span id={`keys-of-${project.id}`} className="basis-full text-xs text-soft">
                    {t.projects.hasKeys}
                  </span>
                )}
              </span>
            ),
        },
      ]}
    />
  );
}
