/**
 * A coding assistant that `locallm launch` starts, and the way to connect it to a local model without changing
 * its own configuration files.
 */
export interface Assistant {
  readonly title: string;
  /** The command that starts the assistant. */
  readonly program: string;
  readonly install: string;
  /** Whether it needs a model that calls tools. */
  readonly needsTools: boolean;
  /** Whether its settings contain the context window, so that the model must be loaded first. */
  readonly needsWindow?: boolean;
  wiring(server: Wired): Wiring;
}

/** What a program is connected to. */
export interface Wired {
  /** The server's URL without a trailing slash. */
  readonly url: string;
  readonly apiKey: string | null;
  readonly model: string;
  /** The model's window in tokens; null unless the program needs it. */
  readonly contextLength: number | null;
}

/** Environment variables for the program, and parameters that precede the user's. */
export interface Wiring {
  readonly environment: Readonly<Record<string, string>>;
  readonly parameters: readonly string[];
  /** A file of ours, for a program that takes its settings only from a file. `option` names it to the program. */
  readonly file?: { readonly name: string; readonly text: string; readonly option: string };
}

/**
 * The assistants by the names that `locallm launch` accepts. Each entry follows the program's documentation.
 */
export const assistants: Readonly<Record<string, Assistant>> = {
  aider: {
    title: "Aider",
    program: "aider",
    install: "python3 -m pip install aider-chat",
    needsTools: false,
    wiring: ({ url, apiKey, model }) => ({
      environment: { OLLAMA_API_BASE: url, ...(apiKey === null ? {} : { OLLAMA_API_KEY: apiKey }) },
      parameters: ["--model", `ollama_chat/${model}`],
    }),
  },
  claude: {
    title: "Claude Code",
    program: "claude",
    install: "npm install -g @anthropic-ai/claude-code",
    needsTools: true,
    needsWindow: true,
    wiring: ({ url, apiKey, model, contextLength }) => ({
      environment: {
        ANTHROPIC_BASE_URL: url,
        ANTHROPIC_AUTH_TOKEN: apiKey ?? anyKey,
        // Empty, because the program would otherwise send the user's own key to this server.
        ANTHROPIC_API_KEY: "",
        ANTHROPIC_MODEL: model,
        ANTHROPIC_DEFAULT_OPUS_MODEL: model,
        ANTHROPIC_DEFAULT_SONNET_MODEL: model,
        ANTHROPIC_DEFAULT_HAIKU_MODEL: model,
        CLAUDE_CODE_SUBAGENT_MODEL: model,
        CLAUDE_CODE_ATTRIBUTION_HEADER: "0",
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
        ...(contextLength === null ? {} : claudeWindow(contextLength)),
      },
      parameters: [],
    }),
  },
  codex: {
    title: "Codex",
    program: "codex",
    install: "npm install -g @openai/codex",
    needsTools: true,
    needsWindow: true,
    wiring: ({ url, apiKey, model, contextLength }) => {
      const provider = {
        name: "locallm",
        base_url: `${url}/v1`,
        wire_api: "responses",
        ...(apiKey === null ? {} : { env_key: "LOCALLM_API_KEY" }),
      };
      const settings = [
        ["model_provider", "locallm"],
        ...Object.entries(provider).map(([key, value]) => [`model_providers.locallm.${key}`, value]),
        ["model", model],
        ...(contextLength === null ? [] : [["model_context_window", String(contextLength)]]),
        // Disable tools that only OpenAI supports.
        ["web_search", "disabled"],
        ["agents.enabled", "false"],
      ];
      return {
        environment: { ...(apiKey === null ? {} : { LOCALLM_API_KEY: apiKey }) },
        // Codex reads invalid TOML as plain text, so values need no quotes, which a shell would remove.
        parameters: settings.flatMap(([key, value]) => ["-c", `${key}=${value}`]),
      };
    },
  },
  continue: {
    title: "Continue",
    program: "cn",
    install: "npm install -g @continuedev/cli",
    needsTools: true,
    needsWindow: true,
    wiring: ({ url, apiKey, model, contextLength }) => {
      const settings = {
        name: "locallm",
        version: "1.0.0",
        schema: "v1",
        models: [
          {
            name: model,
            provider: "openai",
            model,
            apiBase: `${url}/v1`,
            // biome-ignore lint/suspicious/noTemplateCurlyInString: the program puts the variable here
            apiKey: apiKey === null ? anyKey : "${{ secrets.LOCALLM_API_KEY }}",
            roles: ["chat", "edit", "apply"],
            // Otherwise the program decides by the model's name whether it calls tools.
            capabilities: ["tool_use"],
            ...(contextLength === null ? {} : { defaultCompletionOptions: { contextLength } }),
          },
        ],
      };
      return {
        environment: { ...(apiKey === null ? {} : { LOCALLM_API_KEY: apiKey }) },
        parameters: [],
        // JSON is YAML.
        file: { name: "continue.yaml", text: `${JSON.stringify(settings, null, 2)}\n`, option: "--config" },
      };
    },
  },
  goose: {
    title: "goose",
    program: "goose",
    install: "see its documentation",
    needsTools: true,
    needsWindow: true,
    wiring: ({ url, apiKey, model, contextLength }) => {
      const { origin, pathname } = new URL(url);
      return {
        environment: {
          GOOSE_PROVIDER: "openai",
          GOOSE_MODEL: model,
          OPENAI_HOST: origin,
          OPENAI_BASE_PATH: `${pathname.slice(1)}/v1/chat/completions`.replace(/^\//, ""),
          OPENAI_API_KEY: apiKey ?? anyKey,
          ...(contextLength === null ? {} : { GOOSE_CONTEXT_LIMIT: String(contextLength) }),
        },
        parameters: [],
      };
    },
  },
  opencode: {
    title: "OpenCode",
    program: "opencode",
    install: "npm install -g opencode-ai",
    needsTools: true,
    needsWindow: true,
    wiring: ({ url, apiKey, model, contextLength }) => {
      const limit =
        contextLength === null ? null : { context: contextLength, output: answerOf(contextLength) };
      const settings = {
        model: `locallm/${model}`,
        // The program also uses this model for titles and summaries.
        small_model: `locallm/${model}`,
        provider: {
          locallm: {
            npm: "@ai-sdk/openai-compatible",
            name: "locallm",
            options: { baseURL: `${url}/v1`, apiKey: apiKey ?? anyKey },
            models: { [model]: { name: model, ...(limit === null ? {} : { limit }) } },
          },
        },
      };
      return { environment: { OPENCODE_CONFIG_CONTENT: JSON.stringify(settings) }, parameters: [] };
    },
  },
  qwen: {
    title: "Qwen Code",
    program: "qwen",
    install: "npm install -g @qwen-code/qwen-code",
    needsTools: true,
    wiring: ({ url, apiKey, model }) => ({
      environment: { OPENAI_BASE_URL: `${url}/v1`, OPENAI_API_KEY: apiKey ?? anyKey, OPENAI_MODEL: model },
      parameters: ["--auth-type", "openai"],
    }),
  },
};

/**
 * Limits Claude Code to the window, because it assumes that an unknown model has a window of a million tokens
 * and requests answers of 32,000.
 */
function claudeWindow(contextLength: number): Record<string, string> {
  return {
    CLAUDE_CODE_MAX_CONTEXT_TOKENS: String(contextLength),
    ...(contextLength < smallestCompactWindow
      ? {}
      : { CLAUDE_CODE_AUTO_COMPACT_WINDOW: String(contextLength) }),
    CLAUDE_CODE_MAX_OUTPUT_TOKENS: String(answerOf(contextLength)),
  };
}

/** Claude Code takes a smaller one for this one, and complains at each start. */
const smallestCompactWindow = 100_000;

/** How many tokens of the window a program may ask for in one answer. */
function answerOf(contextLength: number): number {
  return Math.min(32_000, Math.ceil(contextLength / 4));
}

/** The programs require a key even if the server does not. */
const anyKey = "locallm";
