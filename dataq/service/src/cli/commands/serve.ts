import { setTimeout } from "node:timers/promises";
import { KeptSocket } from "@locallm/autostart";
import { logOutput, outliveOutput } from "@locallm/autostart/log-output";
import { watchForUpdates } from "@locallm/updates";
import { Command } from "commander";
import { readConfig } from "../../config.ts";
import { type RealData, realDataLine } from "../../operations/open-data.ts";
import type { Service } from "../../server.ts";
import { updatable } from "../update.ts";

/** Delay before loading dictionaries, which blocks the process for a moment. The first calls go first. */
const WARM_AFTER_MS = 1_000;

/** Within this time it is known whether there is anything to prepare. */
const knownAfterMs = 500;

/** `dataq serve`: the whole service in one process, with its database. */
export function serveCommand(): Command {
  return new Command("serve")
    .description("start the service; settings come from the environment (docs/dataq/operating.md)")
    .option("--json", "print one line of JSON when ready: {url, key, console}")
    .action(async (options: { json?: boolean }) => {
      outliveOutput();
      const errorOutput = logOutput(2, { waitMs: 0 });
      const progress = (line: string) => errorOutput.write(`${line}\n`);
      const config = readConfig();
      // Imported here, so that the other commands start faster.
      const { createService } = await import("../../server.ts");
      const stopping = Promise.withResolvers<void>();
      // The service ends with its parent process, even if that was killed.
      for (const event of ["SIGINT", "SIGTERM", "SIGHUP", "disconnect"] as const)
        process.on(event, () => stopping.resolve());
      // biome-ignore lint/style/noProcessEnv: systemd passes sockets here
      const socket = await KeptSocket.take(process.env, `${config.host}:${config.port}`);
      const starting = createService(config, { socket, progress });
      const service = await Promise.race([starting, stopping.promise]);
      if (service) {
        // A first start is still importing laws. Calls that need them wait, all others are answered.
        const tell = announcer(service, options.json === true);
        const isPrepared = await Promise.race([
          service.firstData.then(() => true),
          setTimeout(knownAfterMs, false, { ref: false }),
        ]);
        tell.ready(isPrepared, await service.firstCall());
        if (config.checksForUpdates) watchForUpdates(updatable(), progress);
        const prepared = isPrepared
          ? undefined
          : service.firstData.then(service.firstCall).then(tell.prepared);
        void Promise.resolve(prepared)
          .then(() => service.realData())
          .then(tell.realData, (error: Error) => progress(`Real data: ${error.message}`));
        void service.firstData.then(() =>
          setTimeout(WARM_AFTER_MS, undefined, { ref: false }).then(() => service.warm()),
        );
        await stopping.promise;
      }
      await (await starting).close();
      // The channel to the parent would keep the process alive.
      process.exit(0);
    });
}

/** Says where the service listens, and gives a line to try as soon as that line gets an answer. */
function announcer({ url, localKey, consoleUrl }: Service, asJson: boolean) {
  const example = (call: string) =>
    `curl ${url}/v1/data/query -H 'Authorization: Bearer ${localKey}' -H 'Content-Type: application/json' \\
  -d '${call}'`;
  return {
    ready(isPrepared: boolean, call: string): void {
      if (process.send)
        process.send({ ready: { url, key: localKey, console: consoleUrl, isPrepared, call } });
      else if (asJson) console.log(JSON.stringify({ url, key: localKey, console: consoleUrl }));
      else {
        console.log(`dataq listens on ${url}`);
        console.log(`key: ${localKey}`);
        console.log(`console: ${consoleUrl} (works once; "dataq link" makes another)`);
        console.log(
          isPrepared
            ? example(call)
            : "The laws are being prepared; a line to try follows when they are there.",
        );
      }
    },
    realData(data: RealData): void {
      if (process.send) process.send({ realData: realDataLine(data, "npm run dataq --") });
      else if (!asJson) console.log(realDataLine(data, "dataq"));
    },
    prepared(call: string): void {
      if (process.send) process.send({ prepared: call });
      else if (!asJson) console.log(example(call));
    },
  };
}
