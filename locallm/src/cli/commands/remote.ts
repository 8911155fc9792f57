import { createInterface } from "node:readline/promises";
import { Writable } from "node:stream";
import { setTimeout } from "node:timers/promises";
import { Command } from "commander";
import { readCommandConfig } from "../../config.ts";
import { CredentialsFile } from "../../sources/credentials.ts";
import { RemoteHosts } from "../../sources/remote-hosts.ts";
import { remoteHostAnswer, remotesAnswer } from "../../wire/api/answers.ts";
import { counted } from "../../wire/counted.ts";
import { LocallmError } from "../../wire/errors.ts";
import { hostAndPort, parseNamedHost, parseRemoteUrl, remoteKeyName } from "../../wire/remote-address.ts";
import { Client } from "../client.ts";
import { humanSeconds, plain, table } from "../text.ts";

export function remoteCommand(): Command {
  const command = new Command("remote")
    .description("list the engines that remote models use, or manage them")
    .action(list);
  command
    .command("drain")
    .description("stop sending new requests to a host, also after a restart; running answers finish")
    .argument("<host>", "host, with or without a port, such as gpu1.example:8000, or a URL")
    .option("--wait", "wait until the running answers have finished")
    .action(drain);
  command
    .command("resume")
    .description("send requests to a drained host again")
    .argument("<host>", "host, with or without a port, such as gpu1.example:8000, or a URL")
    .action(async (typed: string) => {
      const { host } = await change("resume", typed);
      console.log(plain(`${host} gets requests again.`));
    });
  command
    .command("allow")
    .description("let remote models use a host; run it on the server's machine, as the server's user")
    .argument("<host...>", "host and port, such as gpu1.example:8000, or a URL")
    .action(async (hosts: string[]) => {
      await ownHosts().allow(hosts.map(urlOf));
      for (const host of hosts) console.log(`Remote models may use ${hostAndPort(urlOf(host))}.`);
    });
  command
    .command("forbid")
    .description("remove a host from the list; remote models may no longer use it")
    .argument("<host>", "host and port, such as gpu1.example:8000, or a URL")
    .action(async (typed: string) => {
      const host = hostAndPort(urlOf(typed));
      if (!(await ownHosts().forbid(host)))
        throw new LocallmError("invalid_field", {
          field: "host",
          problem: `${host} is not in the list; \`locallm remote hosts\` shows it (LOCALLM_REMOTES allows hosts too)`,
        });
      console.log(`Remote models may no longer use ${host}.`);
    });
  command
    .command("hosts")
    .description("list the hosts that were allowed on the command line")
    .action(async () => {
      for (const host of await ownHosts().allowed()) console.log(host);
    });
  command
    .command("key")
    .description("store an engine's key, read from standard input, under a name that Modelfiles use")
    .argument("<name>", "the name in REMOTE key lines")
    .option("--host <host...>", "the only hosts to which the key is sent, with their ports")
    .option("--insecure", "also send the key over unencrypted http")
    .option("--remove", "remove the key")
    .addHelpText("after", "\nExample: locallm remote key gpu1 --host gpu1.example:8000 < key.txt")
    .action(setKey);
  return command;
}

/** Prints a line for each replica. */
async function list(): Promise<void> {
  const { models } = await new Client(readCommandConfig()).json("/api/remotes", remotesAnswer);
  const rows = models.flatMap(({ model, replicas }) =>
    replicas.map((replica) => [
      model,
      replica.host,
      replica.model,
      replica.retry_seconds > 0
        ? `${replica.state}, next try in ${humanSeconds(replica.retry_seconds)}`
        : replica.state,
      String(replica.open),
      String(replica.answered),
      String(replica.failed),
      replica.last_error?.message ?? "",
    ]),
  );
  console.log(
    table(["MODEL", "HOST", "ENGINE MODEL", "STATE", "RUNNING", "ANSWERED", "FAILED", "LAST ERROR"], rows),
  );
  for (const { model, waiting, error } of models) {
    if (waiting > 0) console.log(plain(`${model}: ${counted(waiting, "request")} waiting`));
    if (error !== undefined) console.error(plain(`${model}: ${error}`));
  }
}

async function drain(typed: string, { wait }: { readonly wait?: true }): Promise<void> {
  const { host, open } = await change("drain", typed);
  console.log(plain(`${host} gets no new requests; ${running(open)}.`));
  let left = open;
  while (wait === true && left > 0) {
    await setTimeout(pollMs);
    // Draining a drained host again only reports how many answers still run.
    left = (await change("drain", host)).open;
    if (left === 0) console.log(plain(`${host} has finished its answers.`));
  }
}

const pollMs = 1_000;

function running(open: number): string {
  if (open === 0) return "no answer is running";
  return `${counted(open, "answer is", "answers are")} still running`;
}

async function change(verb: "drain" | "resume", typed: string) {
  const url = /^https?:\/\//i.test(typed) ? parseRemoteUrl(typed) : null;
  const host = typeof url === "string" ? hostAndPort(url) : typed;
  const client = new Client(readCommandConfig());
  return await client.json(`/api/remotes/${verb}`, remoteHostAnswer, { body: { host } });
}

interface KeyOptions {
  readonly host?: string[];
  readonly insecure?: true;
  readonly remove?: true;
}

async function setKey(name: string, { host: hosts = [], insecure, remove }: KeyOptions): Promise<void> {
  if (!remoteKeyName.test(name))
    throw new LocallmError("invalid_field", {
      field: "name",
      problem: "must have at most 64 letters, digits, dots, hyphens and underscores",
    });
  const credentials = new CredentialsFile(readCommandConfig().credentialsFile);
  if (remove === true) {
    const existed = await credentials.setRemoteKey(name, null);
    if (!existed) throw new LocallmError("invalid_field", { field: "name", problem: "is not a stored key" });
    console.log(`Removed the key ${name}.`);
    return;
  }
  if (hosts.length === 0)
    throw new LocallmError("invalid_field", {
      field: "--host",
      problem: "must name the hosts to which the key is sent, such as --host gpu1.example:8000",
    });
  const named = hosts.map((host) => hostAndPort(urlOf(host)));
  const token = await readSecret();
  await credentials.setRemoteKey(name, {
    token,
    hosts: named,
    ...(insecure === undefined ? {} : { insecure }),
  });
  console.log(`Stored the key ${name} for ${named.join(", ")}.`);
}

function ownHosts(): RemoteHosts {
  return new RemoteHosts({ file: readCommandConfig().remoteHostsFile, named: [] });
}

/** The URL for a typed host. A host needs its port, because a permission is for one port. */
function urlOf(typed: string): string {
  const isUrl = /^https?:\/\//i.test(typed);
  const url = isUrl ? parseRemoteUrl(typed) : `http://${typed}`;
  const isHost = isUrl || (parseNamedHost(typed)?.port ?? null) !== null;
  if (typeof url === "string" && isHost) return url;
  throw new LocallmError("invalid_field", {
    field: "host",
    problem: typeof url === "string" ? "must have a port, as in gpu1.example:8000" : url.problem,
  });
}

/** Reads one line from standard input; a terminal does not show it. */
async function readSecret(): Promise<string> {
  const isTerminal = process.stdin.isTTY === true;
  if (isTerminal) process.stderr.write("Key: ");
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const reader = createInterface({ input: process.stdin, output: silent, terminal: isTerminal });
  for await (const line of reader) {
    reader.close();
    if (isTerminal) process.stderr.write("\n");
    return line.trim();
  }
  return "";
}
