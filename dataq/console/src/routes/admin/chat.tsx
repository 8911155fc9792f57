import { useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useEffect, useRef, useState } from "react";
import MessageSquare from "~icons/lucide/message-square";
import SendHorizontal from "~icons/lucide/send-horizontal";
import Square from "~icons/lucide/square";
import { chat, type Message } from "../../service/models.ts";
import { useText } from "../../text/text.tsx";
import { Button } from "../../ui/button.tsx";
import { classes } from "../../ui/classes.ts";
import { Select, Textarea } from "../../ui/field.tsx";
import { useFormat } from "../../ui/format.tsx";
import { Panel } from "../../ui/panel.tsx";
import { Empty, Failure } from "../../ui/states.tsx";

/** A chat with a model. Answers stream and can be stopped. */
export function Chat({ models }: { readonly models: readonly string[] }) {
  const t = useText();
  const format = useFormat();
  const client = useQueryClient();
  const [model, setModel] = useState("");
  const [messages, setMessages] = useState<readonly Message[]>([]);
  const [isRunning, setRunning] = useState(false);
  const [rate, setRate] = useState<number | null>(null);
  const [error, setError] = useState<unknown>(null);
  const [draft, setDraft] = useState("");
  const stopper = useRef<AbortController>(null);
  const end = useRef<HTMLDivElement>(null);
  const chosen = model || models[0] || "";
  // biome-ignore lint/correctness/useExhaustiveDependencies: the messages are what makes the list longer
  useEffect(() => {
    end.current?.scrollIntoView({ block: "nearest" });
  }, [messages]);
  useEffect(() => () => stopper.current?.abort(), []);
  const send = async (event?: FormEvent) => {
    event?.preventDefault();
    const content = draft.trim();
    if (content === "" || chosen === "" || isRunning) return;
    const asked: readonly Message[] = [...messages, { role: "user", content }];
    const controller = new AbortController();
    stopper.current = controller;
    setDraft("");
    setError(null);
    setRunning(true);
    setMessages([...asked, { role: "assistant", content: "" }]);
    let answer = "";
    try {
      for await (const step of chat(chosen, asked, controller.signal)) {
        answer += step.message?.content ?? "";
        setMessages([...asked, { role: "assistant", content: answer }]);
        if (step.eval_count && step.eval_duration) setRate((step.eval_count / step.eval_duration) * 1e9);
      }
      await client.invalidateQueries({ queryKey: ["models", "ps"] });
    } catch (thrown) {
      if (!controller.signal.aborted) setError(thrown);
    } finally {
      setRunning(false);
    }
  };
  return (
    <Panel
      title={t.models.chat}
      about={
        rate === null ? undefined : <span data-testid="rate">{t.models.rate(format.number(rate, 1))}</span>
      }
      isFlush
      className="flex flex-col"
      actions={
        <>
          <Select
            aria-label={t.models.name}
            className="w-44"
            value={chosen}
            onChange={(event) => setModel(event.target.value)}
          >
            {models.map((name) => (
              <option key={name}>{name}</option>
            ))}
          </Select>
          <Button disabled={messages.length === 0 || isRunning} onClick={() => setMessages([])}>
            {t.models.clear}
          </Button>
        </>
      }
    >
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by keyboard */}
      <div role="log" aria-label={t.models.chat} tabIndex={0} className="h-100 overflow-y-auto p-4 sm:p-5">
        {messages.length === 0 ? (
          <Empty icon={<MessageSquare className="size-5" />} title={t.models.empty}>
            {t.models.emptyAbout}
          </Empty>
        ) : (
          <ul className="flex flex-col gap-3">
            {messages.map((message, index) => (
              <li
                // biome-ignore lint/suspicious/noArrayIndexKey: a message is its place in the talk
                key={index}
                className={classes(
                  "max-w-[92%] rounded-xl px-3.5 py-2 break-words whitespace-pre-wrap",
                  message.role === "user" ? "self-end bg-accent-wash" : "self-start bg-sunken",
                )}
              >
                <span className="sr-only">{message.role === "user" ? t.models.you : chosen}: </span>
                {message.content || "…"}
              </li>
            ))}
          </ul>
        )}
        {error ? (
          <div className="mt-3">
            <Failure error={error} />
          </div>
        ) : null}
        <div ref={end} />
      </div>
      <form className="flex items-end gap-2 border-t border-line p-3" onSubmit={(event) => void send(event)}>
        <Textarea
          aria-label={t.models.message}
          placeholder={t.models.message}
          rows={2}
          maxLength={20_000}
          value={draft}
          onChange={(event) => setDraft(event.target.value)}
          onKeyDown={(event) => {
            // Enter sends, but not while an input method composes a word.
            if (event.key === "Enter" && !event.shiftKey && !event.nativeEvent.isComposing) {
              event.preventDefault();
              void send();
            }
          }}
        />
        {isRunning ? (
          <Button icon={<Square className="size-4" />} onClick={() => stopper.current?.abort()}>
            {t.models.stop}
          </Button>
        ) : (
          <Button
            type="submit"
            kind="primary"
            disabled={chosen === "" || draft.trim() === ""}
            icon={<SendHorizontal className="size-4" />}
          >
            {t.models.send}
          </Button>
        )}
      </form>
    </Panel>
  );
}
