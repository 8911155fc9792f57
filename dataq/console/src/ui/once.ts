import { type UseMutationOptions, useMutation } from "@tanstack/react-query";
import { useRef } from "react";

/** A mutation that ignores a second press while it runs, even before the button shows as busy. */
export function useOnce<Answer, Values = void>(options: UseMutationOptions<Answer, Error, Values>) {
  const isRunning = useRef(false);
  const mutation = useMutation(options);
  const mutate = (values: Values) => {
    if (isRunning.current) return;
    isRunning.current = true;
    const settle = () => {
      isRunning.current = false;
    };
    // Components read the error from the mutation's state.
    mutation.mutateAsync(values).then(settle, settle);
  };
  return { ...mutation, mutate };
}
