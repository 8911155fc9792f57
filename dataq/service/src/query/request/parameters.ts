import {
  Failure,
  type Operation,
  type Params,
  readParams,
  summarise,
  type Warning,
  warning,
} from "@dataq/contract";

/** Reads the parameters of an operation. A lenient request ignores unknown ones, with a warning. */
export function readParameters(
  operation: Operation,
  raw: Record<string, unknown>,
  options: { readonly today: string; readonly lenient?: boolean },
): { params: Params; warnings: readonly Warning[] } {
  const warnings: Warning[] = [];
  let read = readParams(operation, raw, options.today);
  if (options.lenient && "code" in read && read.code === "unknown_parameter") {
    for (const { param } of read.details) {
      delete raw[param.replace(/^params\./, "")];
      warnings.push(warning("parameter_ignored", { param }));
    }
    read = readParams(operation, raw, options.today);
  }
  if (!("code" in read)) return { params: read.params, warnings: [...warnings, ...read.warnings] };
  const first = read.details[0]!;
  throw new Failure(read.code, {
    param: first.param,
    operation: operation.name,
    fix: first.fix,
    summary: summarise(read.details),
    details: read.details,
  });
}
