import { Failure, findOperation, type Operation } from "@dataq/contract";

/** The error for an operation without real data. It says what an operator would connect. */
export function notConfigured(name: string, hasSamples: boolean): Failure {
  const { needs } = findOperation(name) as Operation;
  const fix = `ask the operator to connect ${needs.en} or to import it`;
  const fixZh = `请联系运营方接入或导入${needs.zh}`;
  const detail = hasSamples
    ? {
        code: "samples_only",
        message: `${name} has samples only, and this value is not one of them`,
        fix: `${fix}; the samples are listed in /v1/catalog/${name}`,
        fixZh: `${fixZh}；样例见 /v1/catalog/${name}`,
      }
    : { code: "no_source", message: `${name} has no data source`, fix, fixZh };
  return new Failure("not_configured", {
    operation: name,
    param: "operation",
    fix: detail.fix,
    details: [{ param: "operation", ...detail }],
  });
}
