import { writeNote } from "./mutant-plan.ts";
import { watch } from "./mutant-switch.ts";

// A thread beside the one that runs the tests: a loop without an end lets that one do nothing else.
watch((mutant) => {
  writeNote({ kind: "killed", mutant, by: "a run that did not end" });
  process.kill(process.pid, "SIGKILL");
});
