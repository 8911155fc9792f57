import { Environment, parse, tokenize } from "@huggingface/jinja";
import { BoundedInterpreter, type Node, type Scope } from "./jinja-bounds.ts";
import { TemplateError, TemplateRefusal, templateLimits } from "./limits.ts";
import { strftime } from "./strftime.ts";

export interface JinjaTemplate {
  readonly source: string;
  /** Throws TemplateError. Throws TemplateRefusal if the template itself calls `raise_exception`. */
  render(variables: Record<string, unknown>): string;
}

/**
 * Compiles a chat template in Jinja, as model makers publish it in a GGUF file under
 * `tokenizer.chat_template`. The template can use only the given variables, `range`, `namespace`,
 * `raise_exception` and `strftime_now`, and runs within `templateLimits`. Throws TemplateError for a source
 * that cannot be parsed.
 */
export function compileJinja(source: string, now: () => Date = () => new Date()): JinjaTemplate {
  if (source.length > templateLimits.sourceChars) {
    throw new TemplateError(`is longer than ${templateLimits.sourceChars} characters`);
  }
  const program = guarded((): Node => parse(tokenize(source, { lstrip_blocks: true, trim_blocks: true })));
  return {
    source,
    render: (variables) =>
      guarded(() => {
        const scope: Scope = new Environment();
        for (const [name, value] of Object.entries({ ...globals(now), ...variables })) {
          scope.set(name, value);
        }
        return new BoundedInterpreter(scope).print(program);
      }),
  };
}

function globals(now: () => Date): Record<string, unknown> {
  return {
    true: true,
    True: true,
    false: false,
    False: false,
    none: null,
    None: null,
    range,
    raise_exception: (reason: unknown) => {
      throw new TemplateRefusal(String(reason).slice(0, 500));
    },
    strftime_now: (format: unknown) => strftime(now(), String(format)),
  };
}

function range(first: unknown, second?: unknown, third?: unknown): number[] {
  const [start, stop] = second === undefined ? [0, Number(first)] : [Number(first), Number(second)];
  const step = third === undefined ? 1 : Number(third);
  const count = Math.max(0, Math.ceil((stop - start) / step));
  if (!Number.isFinite(count) || count > 100_000) {
    throw new TemplateError("calls range() for more than 100000 numbers, or without an end");
  }
  return Array.from({ length: count }, (_, index) => start + index * step);
}

function guarded<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof TemplateError) throw error;
    // A RangeError means that the stack or a string reached the runtime's own limit.
    const problem =
      error instanceof RangeError ? "is nested too deeply or grows too large" : (error as Error).message;
    throw new TemplateError(problem.slice(0, 500), { cause: error });
  }
}
