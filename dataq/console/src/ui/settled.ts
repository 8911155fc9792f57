import { useEffect, useState } from "react";

/** The value after it has not changed for a moment: one request per pause, not one per keystroke. */
export function useSettled(value: string): string {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), 250);
    return () => clearTimeout(timer);
  }, [value]);
  return settled;
}
