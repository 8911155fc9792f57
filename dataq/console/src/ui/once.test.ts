import { QueryClient, QueryClientProvider, type UseMutationOptions } from "@tanstack/react-query";
import { createElement } from "react";
import { renderToString } from "react-dom/server";
import { expect, test } from "vitest";
import { useOnce } from "./once.ts";

type Options = UseMutationOptions<string, Error, string>;

/** Renders a component with these options and returns its `mutate`. */
function mutateOf(options: Options): (value: string) => void {
  const found: ((value: string) => void)[] = [];
  const client = new QueryClient();
  const probe = createElement(Probe, { options, found });
  renderToString(createElement(QueryClientProvider, { client }, probe));
  return found[0]!;
}

function Probe({ options, found }: { options: Options; found: ((value: string) => void)[] }) {
  found.push(useOnce(options).mutate);
  return null;
}

test("calls every callback of the caller", async () => {
  const called: string[] = [];
  const mutate = mutateOf({
    mutationFn: async (value) => value,
    onMutate: () => void called.push("mutate"),
    onSuccess: () => void called.push("success"),
    onSettled: () => void called.push("settled"),
  });
  mutate("a");
  await expect.poll(() => called).toEqual(["mutate", "success", "settled"]);
});

test("ignores a second press until the first has ended, also with an error", async () => {
  const started: string[] = [];
  const settled: string[] = [];
  const gates: PromiseWithResolvers<string>[] = [];
  const mutate = mutateOf({
    mutationFn: (value) => {
      started.push(value);
      const gate = Promise.withResolvers<string>();
      gates.push(gate);
      return gate.promise;
    },
    onSettled: (_answer, error) => void settled.push(error ? "error" : "answer"),
  });
  mutate("first");
  mutate("second");
  await expect.poll(() => started).toEqual(["first"]);
  gates[0]!.reject(new Error("refused"));
  await expect.poll(() => settled).toEqual(["error"]);
  mutate("third");
  await expect.poll(() => started).toEqual(["first", "third"]);
  gates[1]!.resolve("done");
  await expect.poll(() => settled).toEqual(["error", "answer"]);
});
