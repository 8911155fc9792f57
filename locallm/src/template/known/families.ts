/** A family's turn format as a Go template, written from its documentation. */
export interface KnownTemplate {
  readonly name: string;
  /** Where the format is documented. */
  readonly source: string;
  /** Texts that all Jinja templates of the family contain. */
  readonly marks: readonly string[];
  readonly template: string;
  /** Texts that end a turn, for models whose vocabulary does not mark them as end tokens. */
  readonly stop: readonly string[];
}

/** A turn of each kind, and the text that opens the model's turn. */
function turns(parts: { system: string; user: string; assistant: string; open: string }): string {
  // The branches must keep the line breaks at the end of a turn.
  const { system, user, assistant, open } = parts;
  const branches = `{{ if eq .Role "system" }}${system}{{ else if eq .Role "user" }}${user}{{ else if eq .Role "assistant" }}${assistant}{{ end }}`;
  return `{{- range .Messages }}${branches}{{ end }}${open}`;
}

/** For formats without a system turn. Puts the system text before the first user message. */
const systemFirst = "{{ if and $.System (eq $i $first) }}{{ $.System }}\n\n{{ end }}{{ .Content }}";
const withFirst = (body: string) => `{{- $first := -1 }}
{{- range $i, $message := .Messages }}{{ if and (eq .Role "user") (eq $first -1) }}{{ $first = $i }}{{ end }}{{ end }}
{{- range $i, $message := .Messages }}
${body}
{{- end }}`;

const chatml = turns({
  system: "<|im_start|>system\n{{ .Content }}<|im_end|>\n",
  user: "<|im_start|>user\n{{ .Content }}<|im_end|>\n",
  assistant: "<|im_start|>assistant\n{{ .Content }}<|im_end|>\n",
  open: "<|im_start|>assistant\n",
});

const hermes = `{{- if or .System .Tools }}<|im_start|>system
{{ .System }}
{{- if .Tools }}{{ if .System }}

{{ end }}# Tools

You may call one or more functions to help with the user's query.

The functions' signatures stand within <tools></tools>:
<tools>
{{- range .Tools }}
{{ . }}
{{- end }}
</tools>

For each call, write a JSON object with the function's name and arguments within <tool_call></tool_call>:
<tool_call>
{"name": <function name>, "arguments": <object of arguments>}
</tool_call>
{{- end }}<|im_end|>
{{ end }}
{{- range $i, $message := .Messages }}
{{- if eq .Role "user" }}<|im_start|>user
{{ .Content }}<|im_end|>
{{ else if eq .Role "assistant" }}<|im_start|>assistant
{{ if .Content }}{{ .Content }}{{ end }}
{{- range $at, $call := .ToolCalls }}{{ if or $at $message.Content }}
{{ end }}<tool_call>
{"name": "{{ .Function.Name }}", "arguments": {{ .Function.Arguments }}}
</tool_call>{{ end }}<|im_end|>
{{ else if eq .Role "tool" }}<|im_start|>user
<tool_response>
{{ .Content }}
</tool_response><|im_end|>
{{ end }}
{{- end }}<|im_start|>assistant
`;

const llama3 = `{{- if or .System .Tools }}<|start_header_id|>system<|end_header_id|>

{{ .System }}
{{- if .Tools }}{{ if .System }}

{{ end }}To call a function, answer with nothing but JSON of this form: {"name": function name, "parameters": dictionary of argument name and its value}.

{{ range .Tools }}{{ . }}

{{ end }}{{ end }}<|eot_id|>
{{- end }}
{{- range .Messages }}
{{- if eq .Role "user" }}<|start_header_id|>user<|end_header_id|>

{{ .Content }}<|eot_id|>
{{- else if eq .Role "assistant" }}<|start_header_id|>assistant<|end_header_id|>

{{ if .ToolCalls }}{{ range .ToolCalls }}{"name": "{{ .Function.Name }}", "parameters": {{ .Function.Arguments }}}{{ end }}{{ else }}{{ .Content }}{{ end }}<|eot_id|>
{{- else if eq .Role "tool" }}<|start_header_id|>ipython<|end_header_id|>

{{ .Content }}<|eot_id|>
{{- end }}
{{- end }}<|start_header_id|>assistant<|end_header_id|>

`;

const mistral = `{{- $last := -1 }}
{{- range $i, $message := .Messages }}{{ if eq .Role "user" }}{{ $last = $i }}{{ end }}{{ end }}
{{- range $i, $message := .Messages }}
{{- if eq .Role "user" }}
{{- if and $.Tools (eq $i $last) }}[AVAILABLE_TOOLS] {{ $.Tools }}[/AVAILABLE_TOOLS]{{ end }}[INST] {{ if and $.System (eq $i $last) }}{{ $.System }}

{{ end }}{{ .Content }}[/INST]
{{- else if eq .Role "assistant" }}
{{- if .ToolCalls }}[TOOL_CALLS] [
{{- range $at, $call := .ToolCalls }}{{ if $at }}, {{ end }}{"name": "{{ .Function.Name }}", "arguments": {{ .Function.Arguments }}}{{ end }}]</s>
{{- else }} {{ .Content }}</s>{{ end }}
{{- else if eq .Role "tool" }}[TOOL_RESULTS] {"content": {{ json .Content }}}[/TOOL_RESULTS]
{{- end }}
{{- end }}`;

/** The templates are tried in this order. A special case of a family must come before that family. */
export const knownTemplates: readonly KnownTemplate[] = [
  {
    name: "phi-4",
    source: "Phi-4 model card",
    marks: ["<|im_sep|>"],
    template: turns({
      system: "<|im_start|>system<|im_sep|>{{ .Content }}<|im_end|>",
      user: "<|im_start|>user<|im_sep|>{{ .Content }}<|im_end|>",
      assistant: "<|im_start|>assistant<|im_sep|>{{ .Content }}<|im_end|>",
      open: "<|im_start|>assistant<|im_sep|>",
    }),
    stop: ["<|im_start|>", "<|im_end|>", "<|im_sep|>"],
  },
  {
    name: "hermes",
    source: "Hermes 2 Pro model card; Qwen function calling guide",
    marks: ["<|im_start|>", "<tool_call>"],
    template: hermes,
    stop: ["<|im_start|>", "<|im_end|>"],
  },
  {
    name: "chatml",
    source: "OpenAI's description of ChatML; SmolLM2 and Qwen model cards",
    marks: ["<|im_start|>"],
    template: chatml,
    stop: ["<|im_start|>", "<|im_end|>"],
  },
  {
    name: "llama3",
    source: "Meta's prompt format pages of Llama 3, 3.1 and 3.2",
    marks: ["<|start_header_id|>"],
    template: llama3,
    stop: ["<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>"],
  },
  {
    name: "llama4",
    source: "Meta's prompt format page of Llama 4",
    marks: ["<|header_start|>"],
    template: turns({
      system: "<|header_start|>system<|header_end|>\n\n{{ .Content }}<|eot|>",
      user: "<|header_start|>user<|header_end|>\n\n{{ .Content }}<|eot|>",
      assistant: "<|header_start|>assistant<|header_end|>\n\n{{ .Content }}<|eot|>",
      open: "<|header_start|>assistant<|header_end|>\n\n",
    }),
    stop: ["<|eot|>", "<|header_start|>"],
  },
  {
    name: "llama2",
    source: "Meta's prompt format page of Llama 2",
    marks: ["[INST]", "<<SYS>>"],
    template: withFirst(`{{- if eq .Role "user" }}[INST] {{ if and $.System (eq $i $first) }}<<SYS>>
{{ $.System }}
<</SYS>>

{{ end }}{{ .Content }} [/INST]
{{- else if eq .Role "assistant" }} {{ .Content }} </s><s>
{{- end }}`),
    stop: ["[INST]", "[/INST]", "<<SYS>>", "<</SYS>>"],
  },
  {
    name: "mistral",
    source: "mistral-common: instruct tokenizers v1 to v3",
    marks: ["[INST]"],
    template: mistral,
    stop: ["[INST]", "[/INST]"],
  },
  {
    name: "gemma",
    source: "Google's page on Gemma formatting and system instructions",
    marks: ["<start_of_turn>"],
    template: `${withFirst(`{{- if eq .Role "user" }}<start_of_turn>user
${systemFirst}<end_of_turn>
{{ else if eq .Role "assistant" }}<start_of_turn>model
{{ .Content }}<end_of_turn>
{{ end }}`)}<start_of_turn>model\n`,
    stop: ["<start_of_turn>", "<end_of_turn>"],
  },
  {
    name: "phi-3",
    source: "Phi-3 model cards",
    marks: ["<|user|>", "<|end|>"],
    template: turns({
      system: "<|system|>\n{{ .Content }}<|end|>\n",
      user: "<|user|>\n{{ .Content }}<|end|>\n",
      assistant: "<|assistant|>\n{{ .Content }}<|end|>\n",
      open: "<|assistant|>\n",
    }),
    stop: ["<|end|>", "<|system|>", "<|user|>", "<|assistant|>"],
  },
  {
    name: "glm4",
    source: "GLM-4 model card",
    marks: ["[gMASK]"],
    template: `[gMASK]<sop>${turns({
      system: "<|system|>\n{{ .Content }}",
      user: "<|user|>\n{{ .Content }}",
      assistant: "<|assistant|>\n{{ .Content }}",
      open: "<|assistant|>\n",
    })}`,
    stop: ["<|user|>", "<|observation|>"],
  },
  {
    name: "zephyr",
    source: "Zephyr and TinyLlama model cards",
    marks: ["<|user|>", "<|assistant|>"],
    template: turns({
      system: "<|system|>\n{{ .Content }}</s>\n",
      user: "<|user|>\n{{ .Content }}</s>\n",
      assistant: "<|assistant|>\n{{ .Content }}</s>\n",
      open: "<|assistant|>\n",
    }),
    stop: ["<|system|>", "<|user|>", "<|assistant|>", "</s>"],
  },
  {
    name: "command-r",
    source: "Cohere's documentation of the Command R prompt format",
    marks: ["<|START_OF_TURN_TOKEN|>"],
    template: turns({
      system: "<|START_OF_TURN_TOKEN|><|SYSTEM_TOKEN|>{{ .Content }}<|END_OF_TURN_TOKEN|>",
      user: "<|START_OF_TURN_TOKEN|><|USER_TOKEN|>{{ .Content }}<|END_OF_TURN_TOKEN|>",
      assistant: "<|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|>{{ .Content }}<|END_OF_TURN_TOKEN|>",
      open: "<|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|>",
    }),
    stop: ["<|START_OF_TURN_TOKEN|>", "<|END_OF_TURN_TOKEN|>"],
  },
  {
    name: "granite",
    source: "Granite 3 model cards",
    marks: ["<|start_of_role|>"],
    template: turns({
      system: "<|start_of_role|>system<|end_of_role|>{{ .Content }}<|end_of_text|>\n",
      user: "<|start_of_role|>user<|end_of_role|>{{ .Content }}<|end_of_text|>\n",
      assistant: "<|start_of_role|>assistant<|end_of_role|>{{ .Content }}<|end_of_text|>\n",
      open: "<|start_of_role|>assistant<|end_of_role|>",
    }),
    stop: ["<|end_of_text|>", "<|start_of_role|>"],
  },
  {
    name: "deepseek",
    source: "DeepSeek V3 and R1 model cards",
    marks: ["<｜User｜>"],
    template: turns({
      system: "{{ .Content }}",
      user: "<｜User｜>{{ .Content }}",
      assistant: "<｜Assistant｜>{{ .Content }}<｜end▁of▁sentence｜>",
      open: "<｜Assistant｜>",
    }),
    stop: ["<｜User｜>", "<｜end▁of▁sentence｜>"],
  },
  {
    name: "openchat",
    source: "OpenChat 3.5 model card",
    marks: ["GPT4 Correct"],
    template: turns({
      system: "GPT4 Correct System: {{ .Content }}<|end_of_turn|>",
      user: "GPT4 Correct User: {{ .Content }}<|end_of_turn|>",
      assistant: "GPT4 Correct Assistant: {{ .Content }}<|end_of_turn|>",
      open: "GPT4 Correct Assistant:",
    }),
    stop: ["<|end_of_turn|>"],
  },
  {
    name: "vicuna",
    source: "FastChat's Vicuna prompt format, v1.1",
    marks: ["USER: ", "ASSISTANT:"],
    template: turns({
      system: "{{ .Content }} ",
      user: "USER: {{ .Content }} ",
      assistant: "ASSISTANT: {{ .Content }}</s>",
      open: "ASSISTANT:",
    }),
    stop: ["USER:", "ASSISTANT:"],
  },
  {
    name: "alpaca",
    source: "Stanford Alpaca's prompt format",
    marks: ["### Instruction:"],
    template: turns({
      system: "{{ .Content }}\n\n",
      user: "### Instruction:\n{{ .Content }}\n\n",
      assistant: "### Response:\n{{ .Content }}\n\n",
      open: "### Response:\n",
    }),
    stop: ["### Instruction:", "### Response:"],
  },
  {
    name: "exaone",
    source: "EXAONE 3 and 3.5 model cards",
    marks: ["[|user|]", "[|assistant|]"],
    template: turns({
      system: "[|system|]{{ .Content }}[|endofturn|]\n",
      user: "[|user|]{{ .Content }}\n",
      assistant: "[|assistant|]{{ .Content }}[|endofturn|]\n",
      open: "[|assistant|]",
    }),
    stop: ["[|endofturn|]"],
  },
  {
    name: "alfred",
    source: "Alfred 40B model card",
    marks: ["<start_user>", "<end_message>"],
    template: turns({
      system: "<start_system>{{ .Content }}<end_message>",
      user: "<start_user>{{ .Content }}<end_message>",
      assistant: "<start_assistant>{{ .Content }}<end_message>",
      open: "<start_assistant>",
    }),
    stop: ["<start_system>", "<end_message>", "<start_user>", "<start_assistant>"],
  },
  {
    name: "codellama-70b",
    source: "Code Llama 70B Instruct model card",
    marks: ["Source: ", "<step>"],
    template: turns({
      system: "Source: system\n\n {{ .Content }} <step> ",
      user: "Source: user\n\n {{ .Content }} <step> ",
      assistant: "Source: assistant\n\n {{ .Content }} <step> ",
      open: "Source: assistant\nDestination: user\n\n ",
    }),
    stop: ["<step>", "Source:", "Destination:"],
  },
  {
    name: "falcon",
    source: "Falcon 180B Chat model card",
    marks: ["Falcon:"],
    template: turns({
      system: "System: {{ .Content }}\n",
      user: "User: {{ .Content }}\n",
      assistant: "Falcon: {{ .Content }}\n",
      open: "Falcon:",
    }),
    stop: ["User:", "Falcon:"],
  },
  {
    name: "solar",
    source: "SOLAR 10.7B Instruct model card",
    marks: ["### User:", "### Assistant:"],
    template: turns({
      system: "### System:\n{{ .Content }}\n\n",
      user: "### User:\n{{ .Content }}\n\n",
      assistant: "### Assistant:\n{{ .Content }}\n\n",
      open: "### Assistant:\n",
    }),
    stop: ["### System:", "### User:", "### Assistant:"],
  },
  {
    name: "magicoder",
    source: "Magicoder S DS model card",
    marks: ["@@ Instruction"],
    template: turns({
      system: "{{ .Content }}\n\n",
      user: "@@ Instruction\n{{ .Content }}\n\n",
      assistant: "@@ Response\n{{ .Content }}\n\n",
      open: "@@ Response\n",
    }),
    stop: ["@@ Instruction", "@@ Response"],
  },
  {
    name: "starcoder2",
    source: "StarCoder2 Instruct model card",
    marks: ["### Instruction", "### Response"],
    template: turns({
      system: "{{ .Content }}\n\n",
      user: "### Instruction\n{{ .Content }}\n\n",
      assistant: "### Response\n{{ .Content }}<|endoftext|>",
      open: "### Response\n",
    }),
    stop: ["### Instruction", "### Response", "<|endoftext|>"],
  },
  {
    name: "chatqa",
    source: "ChatQA 1.5 model card",
    marks: ["User: ", "Assistant:"],
    template: turns({
      system: "System: {{ .Content }}\n\n",
      user: "User: {{ .Content }}\n\n",
      assistant: "Assistant: {{ .Content }}\n\n",
      open: "Assistant:",
    }),
    stop: ["User:", "Assistant:"],
  },
];
