import { Tabs } from "@base-ui/react/tabs";
import { useState } from "react";
import type { QueryBody } from "../../service/catalog.ts";
import { useText } from "../../text/text.tsx";
import { Code } from "../../ui/code.tsx";
import { type Dialect, dialects, snippet } from "./snippet.ts";

/** The same call as curl, TypeScript and Python code. */
export function Snippets({ body }: { readonly body: QueryBody }) {
  const t = useText();
  const [dialect, setDialect] = useState<Dialect>("curl");
  return (
    <Tabs.Root value={dialect} onValueChange={(value) => setDialect(value as Dialect)}>
      <Tabs.List className="mb-2 flex gap-1" aria-label={t.playground.asCode}>
        {dialects.map((name) => (
          <Tabs.Tab
            key={name}
            value={name}
            className="h-8 rounded-md px-3 text-sm text-soft hover:bg-sunken data-active:bg-accent-wash data-active:font-medium data-active:text-accent-strong"
          >
            {{ curl: "curl", typescript: "TypeScript", python: "Python", mcp: "MCP" }[name]}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      {dialects.map((name) => (
        <Tabs.Panel key={name} value={name}>
          <Code text={snippet(name, body, location.origin)} label={t.playground.keyHint} />
        </Tabs.Panel>
      ))}
    </Tabs.Root>
  );
}
