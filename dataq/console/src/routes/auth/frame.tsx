import { Outlet } from "@tanstack/react-router";
import { useText } from "../../text/text.tsx";
import { Brand, LookSwitch } from "../../ui/look-switch.tsx";

/** The frame of sign-in pages: a form, and a summary of the service beside it. */
export function AuthFrame() {
  const t = useText();
  return (
    <div className="grid min-h-dvh lg:grid-cols-[minmax(0,1fr)_minmax(0,1.1fr)]">
      <div className="flex flex-col">
        <header className="flex h-14 items-center justify-between px-4 sm:px-6">
          {/* The page for visitors is not one of the console. */}
          <a href="/">
            <Brand />
          </a>
          <div className="flex items-center gap-1">
            <LookSwitch />
          </div>
        </header>
        <main className="mx-auto flex w-full max-w-sm flex-1 flex-col justify-center px-4 py-10">
          <Outlet />
        </main>
        <p className="px-6 py-4 text-center text-xs text-faint">{t.auth.foot}</p>
      </div>
      <aside className="hidden border-l border-line bg-surface lg:flex lg:flex-col lg:justify-center lg:px-14">
        <p className="max-w-md text-2xl leading-snug text-balance font-semibold tracking-tight">
          {t.auth.headline}
        </p>
        <ul className="mt-8 flex max-w-md flex-col gap-5">
          {t.auth.points.map(({ title, about }) => (
            <li key={title} className="border-l-2 border-seal pl-4">
              <p className="font-medium">{title}</p>
              <p className="text-pretty text-soft">{about}</p>
            </li>
          ))}
        </ul>
      </aside>
    </div>
  );
}
