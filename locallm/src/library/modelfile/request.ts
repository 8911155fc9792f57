import type { CreateRequest } from "../../wire/api/library.ts";
import { LocallmError } from "../../wire/errors.ts";
import { isOptionName, optionRules, parseOptionText } from "../../wire/options.ts";
import { isRemoteAddress } from "../../wire/remote-address.ts";
import { retiredParameters } from "../create.ts";
import type { Instruction } from "./instruction.ts";
import { invalid } from "./parse.ts";
import { RemoteLines } from "./remote-lines.ts";

/** The `/api/create` request that a Modelfile describes. FROM may be a path or a model name; the caller decides. */
export interface ModelfileRequest {
  /** The value of each FROM: a model name or a path. Empty for a remote model. */
  from: string[];
  adapters: string[];
  /** The path of the draft model. */
  draft: string | null;
  fields: Partial<
    Pick<
      CreateRequest,
      | "template"
      | "system"
      | "license"
      | "parameters"
      | "messages"
      | "renderer"
      | "parser"
      | "requires"
      | "remotes"
      | "info"
    >
  >;
  /** Parameters that no longer have an effect: skipped, but reported. */
  retired: string[];
}

/** Throws `invalid_modelfile` with the line of an unknown parameter or invalid value. */
export function modelfileRequest(instructions: readonly Instruction[]): ModelfileRequest {
  const request: ModelfileRequest = { from: [], adapters: [], draft: null, fields: {}, retired: [] };
  const parameters: Record<string, unknown> = {};
  const licenses: string[] = [];
  const messages: { role: string; content: string }[] = [];
  const remotes = new RemoteLines();
  for (const instruction of instructions) {
    switch (instruction.kind) {
      case "from": {
        const { value, line = 0 } = instruction;
        if (isRemoteAddress(value)) remotes.address(value, line);
        else request.from.push(value);
        if (request.from.length > 0 && !remotes.isEmpty)
          throw invalid(
            line,
            "the model must be either local or remote; use only addresses of engines in FROM, or none",
          );
        break;
      }
      case "remote":
        remotes.setting(instruction);
        break;
      case "adapter":
        request.adapters.push(instruction.value);
        break;
      case "license":
        licenses.push(instruction.value);
        break;
      case "message":
        messages.push({ role: instruction.role, content: instruction.value });
        break;
      case "draft":
        request.draft = instruction.value;
        break;
      case "parameter":
        try {
          addParameter(parameters, instruction, request.retired);
        } catch (error) {
          throw atLine(instruction.line, error as LocallmError);
        }
        break;
      default:
        request.fields[instruction.kind] = instruction.value;
    }
  }
  if (Object.keys(parameters).length > 0) request.fields.parameters = parameters;
  if (licenses.length > 0) request.fields.license = licenses;
  if (messages.length > 0) request.fields.messages = messages;
  return { ...request, fields: { ...request.fields, ...remotes.fields() } };
}

function addParameter(
  parameters: Record<string, unknown>,
  { name, value }: { name: string; value: string },
  retired: string[],
): void {
  if (retiredParameters.has(name)) {
    retired.push(name);
    return;
  }
  if (!isOptionName(name)) throw new LocallmError("unknown_parameter", { name: name.slice(0, 80) });
  const parsed = parseOptionText(name, value);
  // Repeated lines extend a list.
  const isList = optionRules[name].type === "strings";
  const before = isList ? ((parameters[name] as string[] | undefined) ?? []) : [];
  parameters[name] = isList ? [...before, ...(parsed as string[])] : parsed;
}

function atLine(line: number | undefined, error: LocallmError): LocallmError {
  if (line === undefined) return error;
  return new LocallmError(
    "invalid_modelfile",
    { reason: `(line ${line}): ${error.message}` },
    { cause: error },
  );
}
