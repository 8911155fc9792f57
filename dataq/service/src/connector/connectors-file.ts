import { mkdir, open, readFile, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { type ContractEntry, readContracts } from "./configured.ts";

interface Written {
  contracts?: ContractEntry[];
  connectors?: unknown[];
}

/**
 * Adds a contract to connectors.json, or replaces the one with the same preset. Other entries stay as they are. The file
 * is readable by its owner only, and is replaced in one step.
 */
export async function writeContract(path: string, entry: ContractEntry): Promise<void> {
  const file = await read(path);
  const contracts = file.contracts ?? [];
  const place = contracts.findIndex(({ preset }) => preset === entry.preset);
  if (place < 0) contracts.push(entry);
  else contracts[place] = entry;
  await write(path, { ...file, contracts });
}

/** Whether there was such a contract. */
export async function removeContract(path: string, preset: string): Promise<boolean> {
  const file = await read(path);
  const left = (file.contracts ?? []).filter((entry) => entry.preset !== preset);
  if (left.length === (file.contracts ?? []).length) return false;
  await write(path, { ...file, contracts: left });
  return true;
}

async function read(path: string): Promise<Written> {
  try {
    return JSON.parse(await readFile(path, "utf8")) as Written;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return {};
    if (error instanceof SyntaxError) throw new Error(`${path} is not JSON.`);
    throw error;
  }
}

async function write(path: string, file: Written): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  const fresh = `${path}.${process.pid}`;
  const handle = await open(fresh, "w", 0o600);
  try {
    await handle.writeFile(`${JSON.stringify(file, undefined, 2)}\n`);
    await handle.sync();
  } finally {
    await handle.close();
  }
  try {
    // What would stop the service from starting is not put in place.
    await readContracts(fresh);
    await rename(fresh, path);
  } catch (error) {
    await rm(fresh, { force: true });
    throw error;
  }
}
