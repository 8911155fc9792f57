import { chinaMonth, Failure } from "@dataq/contract";
import { changedProject, newProject, type project, type Sent } from "@dataq/contract/wire";
import type { FastifyInstance, FastifyRequest } from "fastify";
import {
  changeProject,
  createProject,
  deleteProject,
  listProjects,
  type ProjectState,
} from "../../accounts/project.ts";
import { inTransaction } from "../../database/transaction.ts";
import { nextMonth } from "../../ledger/project-spend.ts";
import { check, readJson } from "../body.ts";
import { authorOf, principalOf } from "../caller.ts";
import type { HttpParts } from "../parts.ts";

type ById = { Params: { id: string } };

/** Projects of the caller's account: keys that share a monthly budget. */
export function addProjectRoutes(app: FastifyInstance, parts: HttpParts): void {
  const { database, clock } = parts;

  app.get("/v1/projects", async (request) => {
    const now = clock();
    const found = await listProjects(database, principalOf(request).account.id, now);
    return { data: found.map((one) => projectBody(one, now)) };
  });

  app.post("/v1/projects", async (request, reply): Promise<Sent<typeof project>> => {
    const accountId = accountOf(request);
    const { name, monthly_budget, alert_percent } = check(newProject, readJson(request));
    const author = authorOf(parts, request);
    const settings = { name, monthlyBudget: monthly_budget, alertPercent: alert_percent };
    const made = await inTransaction(database, (transaction) =>
      createProject(transaction, accountId, settings, author),
    );
    reply.code(201);
    return projectBody(made, author.now);
  });

  app.patch<ById>("/v1/projects/:id", async (request): Promise<Sent<typeof project>> => {
    const accountId = accountOf(request);
    const { name, monthly_budget, alert_percent } = check(changedProject, readJson(request));
    const author = authorOf(parts, request);
    const change = { name, monthlyBudget: monthly_budget, alertPercent: alert_percent };
    const changed = await inTransaction(database, (transaction) =>
      changeProject(transaction, accountId, request.params.id, change, author),
    );
    return projectBody(changed, author.now);
  });

  app.delete<ById>("/v1/projects/:id", async (request, reply) => {
    const accountId = accountOf(request);
    const author = authorOf(parts, request);
    await inTransaction(database, (transaction) =>
      deleteProject(transaction, accountId, request.params.id, author),
    );
    return reply.code(204).send();
  });
}

/** A key of a project could raise its own budget, so it changes none. */
function accountOf(request: FastifyRequest): string {
  const { account, projectId } = principalOf(request);
  if (projectId !== null)
    throw new Failure("grant_denied", { right: "changes of budgets", param: "monthly_budget" });
  return account.id;
}

function projectBody(one: ProjectState, now: Date): Sent<typeof project> {
  const month = chinaMonth(now);
  return {
    id: one.id,
    name: one.name,
    monthly_budget: one.monthlyBudget,
    alert_percent: one.alertPercent,
    month,
    spent: one.spent,
    resets_at: new Date(nextMonth(month)),
    keys: one.keys,
    created_at: one.createdAt,
  };
}
