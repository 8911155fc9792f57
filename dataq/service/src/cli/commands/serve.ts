import { Command } from "commander";
import { readConfig } from "../../config.ts";
import type { Service } from "../../server.ts";

/** The first start waits this long for its data before it says that it is ready. */
const FIRST_DATA_LIMIT_MS = 90_000;

/** Who asks as soon as we are ready is not kept waiting for what only a search needs. */
const WARM_AFTER_MS = 1_000;

/** `dataq serve`: everything that the service needs, in one process and its database. */
export function serveCommand(): Command {
  return new Command("serve")
    .description("start the service; settings come from the environment (docs/dataq/operating.md)")
    .option("--json", "print one line of JSON when ready: {url, key, console}")
    .action(async (options: { json?: boolean }) => {
      const config = readConfig();
      // The other commands are quicker without all of it.
      const { createService } = await import("../../server.ts");
      const stopping = Promise.withResolvers<void>();
      // A parent that goes away, however it went, takes us along.
      for (const event of ["SIGINT", "SIGTERM", "SIGHUP", "disconnect"] as const)
        process.on(event, () => stopping.resolve());
      const starting = createService(config, { progress: (line) => console.error(line) });
      const service = await Promise.race([starting, stopping.promise]);
      if (service) {
        const limit = new Promise((resolve) => setTimeout(resolve, FIRST_DATA_LIMIT_MS).unref());
        await Promise.race([service.firstData, limit, stopping.promise]);
        announce(service, options.json === true);
        setTimeout(() => void service.warm(), WARM_AFTER_MS).unref();
        await stopping.promise;
      }
      await (await starting).close();
      // Else a parent's channel, which we listen to, would keep us.
      process.exit(0);
    });
}

function announce(service: Service, asJson: boolean): void {
  const { url, localKey, consoleUrl } = service;
  if (process.send) process.send({ ready: { url, key: localKey, console: consoleUrl } });
  else if (asJson) console.log(JSON.stringify({ url, key: localKey, console: consoleUrl }));
  else {
    console.log(`dataq listens on ${url}`);
    console.log(`key: ${localKey}`);
    console.log(`console: ${consoleUrl} (works once; "dataq link" makes another)`);
    console.log(`curl ${url}/v1/data/query -H 'Authorization: Bearer ${localKey}' -H 'Content-Type: application/json' \\
  -d '{"operation":"legal_laws","params":{"query":"民法典 第五百七十七条"}}'`);
  }
}
