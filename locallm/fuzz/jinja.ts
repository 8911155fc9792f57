import type { Target } from "../../fuzz/target.ts";
import { jinjaPrompter } from "../src/dialogue/jinja-prompt.ts";
import { compileJinja } from "../src/template/jinja.ts";
import { TemplateError } from "../src/template/limits.ts";
import { fullTurn } from "./parts/turn.ts";

export const target: Target = {
  covers: [
    "locallm/src/template/jinja.ts",
    "locallm/src/template/jinja-bounds.ts",
    "locallm/src/template/strftime.ts",
    "locallm/src/dialogue/jinja-prompt.ts",
    "node_modules/@huggingface/jinja",
  ],
  seeds: [
    "{% for m in messages %}<|{{ m.role }}|>{{ m['content'] | trim }}{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}",
    "{%- set ns = namespace(x=0, y='') -%}{%- for m in messages[1:] if m.tool_calls is defined -%}{%- set ns.x = ns.x + loop.index0 -%}{{ m.tool_calls | tojson(indent=2) }}{%- endfor -%}{{ ns.x }}",
    "{% macro f(a, b=1) %}{{ a ~ b }}{% endmacro %}{{ f('x', b=[1, 2.5, {'k': none}]) }}{% if tools is not none and tools | length > 0 %}{{ tools[0].function.name | upper }}{% else %}{{ raise_exception('no') }}{% endif %}",
    "{{ messages | map(attribute='role') | list | join(', ') }}{{ messages | selectattr('role', 'equalto', 'user') | list | length }}{{ range(3) | list }}{{ strftime_now('%d %b %Y') }}",
    "{% set s = 'a,b'.split(',') %}{{ s[-1].replace('b', 'cc').strip() if s else '' }}{{ 'x' * 3 }}{{ [1] + [2] }}{{ {'a': 1}.items() | list }}{{ 7 // 2 }}{{ -7 % 3 }}{% break %}{# c #}{% raw %}{{ x }}{% endraw %}",
    "{% filter upper %}a{% endfilter %}{% call f() %}x{% endcall %}{{ 'abc'[::-1] }}{{ 'a' in 'abc' and not false or 1 < 2 }}{% generation %}{% endgeneration %}",
  ],
  words: [
    "{%",
    "%}",
    "{{",
    "}}",
    "{%-",
    "-%}",
    "{#",
    "#}",
    " in ",
    " is ",
    " not ",
    "|",
    "[",
    "]",
    "(",
    ")",
    "messages",
  ],
  // A template that goes on until its limit of steps is refused. That takes as long as it takes.
  bounds: { ms: 2_000, mib: 128 },
  read(input) {
    const template = compileJinja(input.toString(), () => new Date(0));
    jinjaPrompter(template, { bosText: "<s>", eosText: "</s>" } as Parameters<
      typeof jinjaPrompter
    >[1]).render(fullTurn);
  },
  refuses: (error) => error instanceof TemplateError,
};
