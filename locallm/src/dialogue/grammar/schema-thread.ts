import { doTasks } from "../thread-tasks.ts";
import { type SchemaFault, type SchemaTask, schemaBudget } from "./schema-threads.ts";
import {
  BudgetSpent,
  checkAnswer,
  SchemaError,
  type WrittenSchemas,
  writeSchemas,
} from "./written-schemas.ts";

// This module runs in the threads of `SchemaThreads`.

doTasks(
  (task: SchemaTask): WrittenSchemas | readonly string[] =>
    task.kind === "check"
      ? checkAnswer(task.schema, task.text, schemaBudget.steps)
      : writeSchemas(task.wishes, schemaBudget.steps),
  (error): SchemaFault | null => {
    if (error instanceof BudgetSpent) return { kind: "spent" };
    if (error instanceof SchemaError) return { kind: "refused", problem: error.message };
    if (error instanceof RangeError) return { kind: "refused", problem: "the schema is nested too deep" };
    return null;
  },
);
