/**
 * A ChatML template with tools in the Hermes format, for models that were not trained with it. A grammar
 * enforces the format.
 */
export const hermesTemplate = `{{- if .Tools }}<|im_start|>system
{{ if .System }}{{ .System }}

{{ end }}You may call functions. Their signatures:
<tools>
{{- range .Tools }}
{{ . }}
{{- end }}
</tools>
Answer with <tool_call>{"name": ..., "arguments": ...}</tool_call> to call one.<|im_end|>
{{ else if .System }}<|im_start|>system
{{ .System }}<|im_end|>
{{ end }}
{{- range .Messages }}
{{- if eq .Role "user" }}<|im_start|>user
{{ .Content }}<|im_end|>
{{ else if eq .Role "assistant" }}<|im_start|>assistant
{{ .Content }}
{{- range .ToolCalls }}<tool_call>
{"name": "{{ .Function.Name }}", "arguments": {{ .Function.Arguments }}}
</tool_call>{{ end }}<|im_end|>
{{ else if eq .Role "tool" }}<|im_start|>user
<tool_response>
{{ .Content }}
</tool_response><|im_end|>
{{ end }}
{{- end }}<|im_start|>assistant
`;
