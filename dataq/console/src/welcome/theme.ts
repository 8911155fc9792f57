import { readLook, setLook } from "../ui/kept-look.ts";

const following = { system: "light", light: "dark", dark: "system" } as const;

/** Goes to the next theme. The console opens in it, too. */
export function setTheme(): void {
  setLook({ theme: following[readLook().theme] });
}
