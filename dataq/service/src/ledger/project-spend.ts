import { chinaMonth, Failure, instantInChina } from "@dataq/contract";
import type { Database } from "../database/database.ts";

/** The project that a call is counted in, as it was when the call began. */
export interface ProjectSpending {
  readonly id: string;
  readonly name: string;
  /** Tokens of a month; null: no budget. */
  readonly budget: number | null;
  /** YYYY-MM in China. */
  readonly month: string;
  /** Tokens that were spent or held in the month. */
  readonly spent: number;
}

/**
 * Refuses what the budget surely does not allow, before any statement. The statement that holds decides the rest, because
 * other calls spend meanwhile.
 */
export function assertWithin(project: ProjectSpending, tokens: number): void {
  if (project.budget !== null && project.spent + tokens > project.budget) throw refusal(project, tokens);
}

/** Whether a statement was undone because it would have gone beyond a project's budget. */
export function isBeyondBudget(error: unknown): boolean {
  const { code, constraint } = error as { code?: string; constraint?: string };
  return code === "23514" && constraint === "project_within_budget";
}

/** The refusal of a call, with what the project has spent now. */
export async function beyondBudget(
  database: Database,
  project: ProjectSpending,
  tokens: number,
): Promise<Failure> {
  const found = await database.pool.query<{ tokens: number }>(
    "select tokens from project_spend where project_id = $1 and month = $2",
    [project.id, project.month],
  );
  return refusal({ ...project, spent: found.rows[0]?.tokens ?? project.spent }, tokens);
}

function refusal({ name, budget, month, spent }: ProjectSpending, tokens: number): Failure {
  return new Failure("project_budget_reached", {
    param: "monthly_budget",
    project: name,
    budget: budget!,
    spent,
    required: tokens,
    month,
    resets_at: nextMonth(month),
  });
}

/** When the month after this one begins in China. */
export function nextMonth(month: string): string {
  // The 15th and 30 days are always in the next month.
  const next = new Date(Date.parse(instantInChina(`${month}-15`, "00:00:00")) + 30 * 86_400_000);
  return instantInChina(`${chinaMonth(next)}-01`, "00:00:00");
}
