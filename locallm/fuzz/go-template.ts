import type { Target } from "../../fuzz/target.ts";
import { goPrompter } from "../src/dialogue/go-prompt.ts";
import { compileGo } from "../src/template/go/template.ts";
import { TemplateError } from "../src/template/limits.ts";
import { fullTurn } from "./parts/turn.ts";

export const target: Target = {
  covers: ["locallm/src/template/go", "locallm/src/dialogue/go-prompt.ts"],
  seeds: [
    "{{ if .System }}<|system|>{{ .System }}{{ end }}{{ .Prompt }}{{ .Response }}",
    '{{- range $i, $m := .Messages }}{{ if eq .Role "user" }}{{ .Content }}{{ else if and .ToolCalls (not .Thinking) }}{{ range .ToolCalls }}{"name": "{{ .Function.Name }}", "arguments": {{ .Function.Arguments }}}{{ end }}{{ break }}{{ end }}{{ end -}}',
    '{{ define "t" }}{{ . }}{{ end }}{{ template "t" (printf "%5.2f %q %v %-8s|%x" 1.5 "a" .Tools "b" "c") }}{{ with $x := slice .Messages 1 }}{{ len $x }}{{ end }}',
    '{{ $last := "" }}{{ range .Tools }}{{ $last = json .Function }}{{ continue }}{{ end }}{{ index .Messages 0 }}{{ html "<" | js | urlquery }}{{/* c */}}{{ `raw` }}{{ currentDate }}',
    "{{ if or (gt 1 2) (le 3 3) (ne 1.5 2) (lt `a` `b`) }}{{ .IsThinkSet }}{{ end }}{{ range $k, $v := .Messages }}{{ else }}none{{ end }}{{ 0x1F }}{{ 'a' }}{{ nil }}",
  ],
  words: [
    "{{",
    "}}",
    "{{-",
    "-}}",
    "|",
    ":=",
    "(",
    ")",
    "$x",
    ".Messages",
    ".Content",
    "end",
    "%v",
    "%q",
    "%[1]d",
    "%*d",
  ],
  // A template that goes on until its limit of steps is refused. That takes as long as it takes.
  bounds: { ms: 1_500, mib: 96 },
  read(input) {
    const template = compileGo(input.toString(), () => new Date(0));
    goPrompter(template).render(fullTurn);
    if (template.fields.has("Suffix")) goPrompter(template).insert("before", "after");
  },
  refuses: (error) => error instanceof TemplateError,
};
