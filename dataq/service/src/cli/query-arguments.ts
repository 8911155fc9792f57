import { editDistance, findOperation, operations } from "@dataq/contract";
import { InvalidArgumentError } from "commander";

/**
 * Reads `name=value` arguments. A value without a name is the first parameter of the operation, as in
 * `dataq query legal_laws "民法典 第五百七十七条"`.
 */
export function readParameters(operation: string, words: readonly string[]): Record<string, string> {
  const known = Object.keys((findOperation(operation) ?? noSuchOperation(operation)).params.shape);
  const params: Record<string, string> = {};
  for (const word of words) {
    const named = /^([a-z_]+)=(.*)$/s.exec(word);
    const isNamed = named !== null && known.includes(named[1] ?? "");
    const name = isNamed ? named[1] : known[0];
    if (name === undefined) throw new InvalidArgumentError(`${operation} has no parameters.`);
    if (params[name] !== undefined) throw new InvalidArgumentError(`${name} is given twice.`);
    params[name] = isNamed ? (named[2] ?? "") : word;
  }
  return params;
}

function noSuchOperation(name: string): never {
  const [near] = operations
    .map((operation) => ({ name: operation.name, distance: editDistance(name.slice(0, 64), operation.name) }))
    .sort((a, b) => a.distance - b.distance);
  const hint = near !== undefined && near.distance <= 6 ? ` Did you mean ${near.name}?` : "";
  throw new InvalidArgumentError(`Operation ${name} does not exist.${hint}`);
}

export function readWhole(given: string): number {
  if (/^\d{1,15}$/.test(given)) return Number(given);
  throw new InvalidArgumentError("It must be a whole number.");
}

export function readList(given: string): string[] {
  return given.split(",").map((name) => name.trim());
}
