import { goEscaped } from "../../wire/go-json.ts";
import { fromJson, GoStruct, type GoValue } from "./value.ts";

/** A conversation in the form that Go templates of models read. The field names come from the templates. */
export interface GoChat {
  readonly system?: string;
  readonly prompt?: string;
  readonly suffix?: string;
  readonly response?: string;
  readonly messages?: readonly GoChatMessage[];
  readonly tools?: readonly GoChatTool[];
  /** Null if the request does not specify it. */
  readonly think?: boolean | null;
  readonly thinkLevel?: string;
}

export interface GoChatMessage {
  readonly role: string;
  readonly content: string;
  readonly thinking?: string;
  readonly tool_calls?: readonly {
    readonly id?: string;
    readonly function: {
      readonly index?: number;
      readonly name: string;
      readonly arguments: Readonly<Record<string, unknown>>;
    };
  }[];
  readonly tool_name?: string;
  readonly tool_call_id?: string;
}

export interface GoChatTool {
  readonly type: string;
  readonly function: {
    readonly name: string;
    readonly description?: string;
    readonly parameters?: Readonly<Record<string, unknown>>;
  };
}

/** The variables of a template. Tools and arguments print as JSON, everything else as Go prints it. */
export function goChatData(chat: GoChat): Record<string, GoValue> {
  const tools = (chat.tools ?? []).map(toolValue);
  const printTools = () => goEscaped(JSON.stringify(chat.tools ?? []));
  return {
    System: chat.system ?? "",
    Prompt: chat.prompt ?? "",
    Suffix: chat.suffix ?? "",
    Response: chat.response ?? "",
    Messages: (chat.messages ?? []).map(messageValue),
    Tools: Object.assign(tools, { print: printTools }),
    Think: chat.think ?? false,
    ThinkLevel: chat.thinkLevel ?? "",
    IsThinkSet: (chat.think ?? null) !== null,
  };
}

function messageValue(message: GoChatMessage): GoValue {
  return new GoStruct("Message", {
    Role: message.role,
    Content: message.content,
    Thinking: message.thinking ?? "",
    Images: [],
    ToolCalls: (message.tool_calls ?? []).map(callValue),
    ToolName: message.tool_name ?? "",
    ToolCallID: message.tool_call_id ?? "",
  });
}

type Call = NonNullable<GoChatMessage["tool_calls"]>[number];

function callValue(call: Call, position: number): GoValue {
  const given = call.function.arguments;
  const print = () => goEscaped(JSON.stringify(given));
  return new GoStruct("ToolCall", {
    ID: call.id ?? "",
    Function: new GoStruct("ToolCallFunction", {
      Index: call.function.index ?? position,
      Name: call.function.name,
      Arguments: Object.assign(new Map(fromJson(given) as ReadonlyMap<string, GoValue>), {
        print,
        json: given,
      }),
    }),
  });
}

function toolValue(tool: GoChatTool): GoValue {
  const { name, description, parameters = {} } = tool.function;
  const print = () => goEscaped(JSON.stringify(tool));
  const field = (key: string) => fromJson(Object.hasOwn(parameters, key) ? parameters[key] : null);
  const required = parameters["required"];
  return new GoStruct(
    "Tool",
    {
      Type: tool.type,
      Function: new GoStruct(
        "ToolFunction",
        {
          Name: name,
          Description: description ?? "",
          Parameters: new GoStruct(
            "Parameters",
            {
              Type: field("type"),
              Defs: field("$defs"),
              Items: field("items"),
              Required: Array.isArray(required) ? required.map(String) : [],
              Properties: field("properties") ?? new Map(),
            },
            { json: parameters },
          ),
        },
        { json: tool.function },
      ),
    },
    { print, json: tool },
  );
}
