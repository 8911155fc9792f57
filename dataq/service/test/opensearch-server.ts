import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import {
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statfsSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "../../../testing/free-port.ts";

/** An OpenSearch of this test or proof, on the loopback address, without security. */
export interface OpenSearchServer {
  readonly url: string;
  readonly pid: number;
  /** Its index files. */
  readonly dataFolder: string;
  /** Ends it like a power cut; `start` starts it on the same data and port. */
  kill(): Promise<void>;
  start(): Promise<void>;
  remove(): Promise<void>;
}

/** The unpacked distribution that TEST_OPENSEARCH names; undefined if it or a Java for it is missing. */
export const openSearchFolder = findFolder();

/** `isBrief`: in a short life most time goes to compiling and to waiting for the disk, so both are left out. */
export async function startOpenSearch({ heap = "512m", isBrief = false } = {}): Promise<OpenSearchServer> {
  const home = openSearchFolder as string;
  const folder = mkdtempSync(
    join(isBrief && hasMemoryFolder() ? memoryFolder : tmpdir(), "dataq-opensearch-"),
  );
  const [config, dataFolder, logs] = ["config", "data", "logs"].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  cpSync(join(home, "config"), config, { recursive: true });
  for (const each of [dataFolder, logs]) mkdirSync(each);
  const port = await freePort();
  writeFileSync(
    join(config, "opensearch.yml"),
    [
      "cluster.name: dataq-test",
      "discovery.type: single-node",
      "network.host: 127.0.0.1",
      `http.port: ${port}`,
      `transport.port: ${await freePort()}`,
      `path.data: ${dataFolder}`,
      `path.logs: ${logs}`,
      "cluster.routing.allocation.disk.threshold_enabled: false",
      "",
    ].join("\n"),
  );
  // The lines about logs and dumps name folders of the distribution, which need not be writable.
  const options = readFileSync(join(home, "config", "jvm.options"), "utf8");
  writeFileSync(join(config, "jvm.options"), options.replace(/^.*(logs\/|HeapDumpPath|Xlog).*$/gm, ""));
  // OpenSearch refuses to run as root.
  const owner = process.getuid?.() === 0 ? { uid: nobody, gid: nobody } : {};
  if (owner.uid !== undefined) chownAll(folder);
  const url = `http://127.0.0.1:${port}`;
  let child: ChildProcess | undefined;
  let said = "";
  const kill = async () => {
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((resolve) => child?.once("exit", resolve));
    process.kill(-(child.pid as number), "SIGKILL");
    await ended;
  };
  const start = async () => {
    child = spawn(join(home, "bin", "opensearch"), {
      ...owner,
      detached: true,
      stdio: ["ignore", "pipe", "pipe"],
      env: {
        PATH: process.env["PATH"],
        HOME: folder,
        OPENSEARCH_JAVA_HOME: javaHome() as string,
        OPENSEARCH_PATH_CONF: config,
        OPENSEARCH_JAVA_OPTS: `-Xms${heap} -Xmx${heap}${isBrief ? " -XX:TieredStopAtLevel=1" : ""}`,
      },
    });
    said = "";
    for (const stream of [child.stdout, child.stderr])
      stream?.on("data", (part: Buffer) => {
        said = (said + part.toString()).slice(-4_000);
      });
    await isUp(url, child, () => said);
  };
  const remove = async () => {
    await kill();
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    await start();
  } catch (error) {
    await remove();
    throw error;
  }
  return {
    url,
    get pid() {
      return child?.pid as number;
    },
    dataFolder,
    kill,
    start,
    remove,
  };
}

const nobody = 65_534;
/** Linux keeps the files in it in memory. In a container it may be small. */
const memoryFolder = "/dev/shm";
const leastMemoryBytes = 1 << 30;

function hasMemoryFolder(): boolean {
  if (!existsSync(memoryFolder)) return false;
  const { bavail, bsize } = statfsSync(memoryFolder);
  return bavail * bsize >= leastMemoryBytes;
}
const longestStartMs = 120_000;

async function isUp(url: string, child: ChildProcess, said: () => string): Promise<void> {
  for (const until = Date.now() + longestStartMs; Date.now() < until; ) {
    if (child.exitCode !== null) throw new Error(`OpenSearch ended with ${child.exitCode}: ${said()}`);
    const health = `${url}/_cluster/health?wait_for_status=yellow&timeout=5s`;
    if (
      await fetch(health).then(
        ({ ok }) => ok,
        () => false,
      )
    )
      return;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  throw new Error(`OpenSearch did not start in time: ${said()}`);
}

function findFolder(): string | undefined {
  const folder = process.env["TEST_OPENSEARCH"];
  return folder !== undefined && existsSync(join(folder, "bin", "opensearch")) && javaHome() !== undefined
    ? folder
    : undefined;
}

/** OpenSearch 3 needs Java 21 or newer. */
function javaHome(): string | undefined {
  const installed = "/usr/lib/jvm";
  const homes = [
    process.env["OPENSEARCH_JAVA_HOME"],
    process.env["JAVA_HOME"],
    ...(existsSync(installed) ? readdirSync(installed).map((name) => join(installed, name)) : []),
  ];
  return homes.find((home) => home !== undefined && versionOf(home) >= 21);
}

function versionOf(home: string): number {
  try {
    const said = execFileSync(join(home, "bin", "java"), ["--version"], { encoding: "utf8" });
    return Number(/^\w+ (\d+)/.exec(said)?.[1] ?? 0);
  } catch {
    return 0;
  }
}

function chownAll(path: string): void {
  chownSync(path, nobody, nobody);
  for (const entry of readdirSync(path, { recursive: true }))
    chownSync(join(path, String(entry)), nobody, nobody);
}
