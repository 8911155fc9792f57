import { parentPort } from "node:worker_threads";
import { type SchemaReport, type SchemaTask, schemaBudget } from "./schema-threads.ts";
import { BudgetSpent, checkAnswer, SchemaError, writeSchemas } from "./written-schemas.ts";

/** The other side of `SchemaThreads`: one task after the other. */
parentPort?.on("message", (task: SchemaTask) => {
  parentPort?.postMessage(report(task));
});

function report(task: SchemaTask): SchemaReport {
  try {
    if (task.kind === "check")
      return { kind: "checked", faults: checkAnswer(task.schema, task.text, schemaBudget.steps) };
    return { kind: "written", written: writeSchemas(task.wishes, schemaBudget.steps) };
  } catch (error) {
    if (error instanceof BudgetSpent) return { kind: "spent" };
    if (error instanceof SchemaError) return { kind: "refused", problem: error.message };
    if (error instanceof RangeError) return { kind: "refused", problem: "the schema is nested too deep" };
    throw error;
  }
}
