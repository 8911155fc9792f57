import { createContext, type ReactNode, useCallback, useContext, useState } from "react";

const ToastContext = createContext<(text: string) => void>(() => {});

/** Short messages at the edge of the page, which screen readers announce. */
export function ToastProvider({ children }: { readonly children: ReactNode }) {
  const [toasts, setToasts] = useState<readonly { id: number; text: string }[]>([]);
  const say = useCallback((text: string) => {
    const id = performance.now();
    setToasts((before) => [...before.slice(-2), { id, text }]);
    setTimeout(() => setToasts((before) => before.filter((toast) => toast.id !== id)), 4_500);
  }, []);
  return (
    <ToastContext value={say}>
      {children}
      <div
        aria-live="polite"
        className="pointer-events-none fixed inset-x-4 bottom-4 z-60 flex flex-col items-center gap-2"
      >
        {toasts.map(({ id, text }) => (
          <p key={id} className="rounded-lg bg-ink px-4 py-2.5 text-sm text-canvas shadow-float">
            {text}
          </p>
        ))}
      </div>
    </ToastContext>
  );
}

/** Shows a message for a few seconds. */
export function useToast(): (text: string) => void {
  return useContext(ToastContext);
}
