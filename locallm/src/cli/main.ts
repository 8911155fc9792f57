import { runCommandLine } from "./command-line.ts";

// The reader of our output closed the pipe, as `head` does.
for (const output of [process.stdout, process.stderr]) {
  output.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error;
    process.exit();
  });
}

await runCommandLine(process.argv.slice(2));
