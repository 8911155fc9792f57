import { Dialog } from "@base-ui/react/dialog";
import { useQuery } from "@tanstack/react-query";
import { Link, Outlet, useRouterState } from "@tanstack/react-router";
import { lazy, type ReactNode, Suspense, useEffect, useRef, useState } from "react";
import Activity from "~icons/lucide/activity";
import BookOpen from "~icons/lucide/book-open";
import Boxes from "~icons/lucide/boxes";
import ChartColumn from "~icons/lucide/chart-column";
import CircleDollarSign from "~icons/lucide/circle-dollar-sign";
import Cpu from "~icons/lucide/cpu";
import DatabaseZap from "~icons/lucide/database-zap";
import FileText from "~icons/lucide/file-text";
import FlaskConical from "~icons/lucide/flask-conical";
import KeyRound from "~icons/lucide/key-round";
import LayoutDashboard from "~icons/lucide/layout-dashboard";
import LogOut from "~icons/lucide/log-out";
import MenuIcon from "~icons/lucide/menu";
import ReceiptText from "~icons/lucide/receipt-text";
import Scale from "~icons/lucide/scale";
import ScrollText from "~icons/lucide/scroll-text";
import Search from "~icons/lucide/search";
import Settings from "~icons/lucide/settings";
import ShieldCheck from "~icons/lucide/shield-check";
import Tags from "~icons/lucide/tags";
import Ticket from "~icons/lucide/ticket";
import TrendingUp from "~icons/lucide/trending-up";
import Users from "~icons/lucide/users";
import WalletCards from "~icons/lucide/wallet-cards";
import Webhook from "~icons/lucide/webhook";
import X from "~icons/lucide/x";
import { signOut } from "../service/identity.ts";
import { balanceQuery } from "../service/money.ts";
import { sessionQuery, useSignedIn } from "../service/session.ts";
import { useText } from "../text/text.tsx";
import { IconButton } from "../ui/button.tsx";
import { classes } from "../ui/classes.ts";
import { useFormat } from "../ui/format.tsx";
import { useLook } from "../ui/look.ts";
import { Brand, LookSwitch } from "../ui/look-switch.tsx";
import { Notice, Skeleton } from "../ui/states.tsx";
import { Terms } from "./terms.tsx";

/** The navigation of signed-in users. */
export function Shell() {
  const { data: session } = useQuery(sessionQuery);
  if (!session?.user?.account_id) return <Left />;
  if (session.terms && session.user.must_accept_terms) return <Terms terms={session.terms} />;
  return <Surroundings />;
}

/** Reloads the page when the session ended elsewhere or the user left the account. */
function Left() {
  useEffect(() => location.reload(), []);
  return <Skeleton />;
}

const Palette = lazy(() => import("./palette.tsx").then((module) => ({ default: module.Palette })));

/** Opens with Ctrl-K, or ⌘K, and with its button. */
function GoTo() {
  const t = useText();
  const [isOpen, setOpen] = useState(false);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== "k" || !(event.ctrlKey || event.metaKey) || event.altKey) return;
      event.preventDefault();
      // Not above another dialog.
      setOpen((was) => !was && document.querySelector("[role=dialog]") === null);
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, []);
  return (
    <>
      <IconButton label={`${t.palette.title} (Ctrl K)`} onClick={() => setOpen(true)}>
        <Search className="size-4.5" aria-hidden />
      </IconButton>
      {isOpen && (
        <Suspense>
          <Palette onClose={() => setOpen(false)} />
        </Suspense>
      )}
    </>
  );
}

/** The frame of every page: navigation, balance, theme, language and sign-out. */
function Surroundings() {
  const t = useText();
  const [isOpen, setOpen] = useState(false);
  const path = useRouterState({ select: (state) => state.location.pathname });
  const main = useRef<HTMLElement>(null);
  const isFirst = useRef(true);
  // Moving the focus tells screen readers about the new page, as a full page load would.
  // biome-ignore lint/correctness/useExhaustiveDependencies: the path is what changes
  useEffect(() => {
    setOpen(false);
    if (isFirst.current) isFirst.current = false;
    else main.current?.focus({ preventScroll: true });
  }, [path]);
  return (
    <div className="min-h-dvh lg:grid lg:grid-cols-[15rem_minmax(0,1fr)] print:block">
      <a
        href="#main"
        className="sr-only focus:not-sr-only focus:fixed focus:top-2 focus:left-2 focus:z-50 focus:rounded-md focus:bg-surface focus:px-3 focus:py-2"
      >
        {t.shell.skip}
      </a>
      <aside className="hidden border-r border-line bg-surface lg:block print:hidden">
        <div className="sticky top-0 flex h-dvh flex-col">
          <Way />
        </div>
      </aside>
      <div className="min-w-0">
        <header className="sticky top-0 z-30 flex print:hidden h-14 items-center gap-2 border-b border-line bg-canvas/92 px-3 backdrop-blur sm:px-6">
          <Dialog.Root open={isOpen} onOpenChange={setOpen}>
            <Dialog.Trigger render={<IconButton label={t.shell.menu} className="lg:hidden" />}>
              <MenuIcon className="size-5" />
            </Dialog.Trigger>
            <Dialog.Portal>
              <Dialog.Backdrop className="fixed inset-0 z-40 bg-black/45" />
              <Dialog.Popup className="fixed inset-y-0 left-0 z-50 flex w-68 flex-col border-r border-line bg-surface shadow-float">
                <Dialog.Title className="sr-only">{t.shell.menu}</Dialog.Title>
                <Dialog.Close render={<IconButton label={t.close} className="absolute top-2.5 right-2" />}>
                  <X className="size-4.5" />
                </Dialog.Close>
                <Way />
              </Dialog.Popup>
            </Dialog.Portal>
          </Dialog.Root>
          <span className="lg:hidden">
            <Brand isSmall />
          </span>
          <div className="ml-auto flex items-center gap-1 sm:gap-2">
            <BalanceChip />
            <GoTo />
            <LookSwitch />
          </div>
        </header>
        <main
          id="main"
          ref={main}
          tabIndex={-1}
          className="mx-auto max-w-280 px-4 py-6 outline-none sm:px-6 sm:py-8"
        >
          <MaintenanceBanner />
          <Outlet />
        </main>
      </div>
    </div>
  );
}

/** Tells everybody why calls are refused. */
function MaintenanceBanner() {
  const t = useText();
  const format = useFormat();
  const { language } = useLook();
  const { data } = useQuery({ ...sessionQuery, refetchInterval: 60_000 });
  const open = data?.maintenance;
  if (!open) return null;
  return (
    <div className="mb-5">
      <Notice tone="warn" title={t.maintenance.now}>
        {open.message[language]}
        {open.until && <p>{t.maintenance.expected(format.moment(open.until))}</p>}
      </Notice>
    </div>
  );
}

function BalanceChip() {
  const t = useText();
  const format = useFormat();
  const { data } = useQuery(balanceQuery);
  if (!data) return null;
  return (
    <Link
      to="/top-up"
      className="tabular flex h-9 items-center gap-2 rounded-md px-2.5 text-sm text-soft hover:bg-sunken"
    >
      <WalletCards className="size-4 text-faint" />
      <span className="sr-only">{t.shell.balance}</span>
      <span className="font-medium text-ink">{format.yuan(data.balance)}</span>
      <span className="hidden text-faint sm:inline">{t.amount(format.tokens(data.balance))}</span>
    </Link>
  );
}

function Way() {
  const t = useText();
  const user = useSignedIn();
  const { data: session } = useQuery(sessionQuery);
  const icon = "size-4.5 shrink-0";
  const nav = useRef<HTMLElement>(null);
  // An operator's list is longer than many screens.
  useEffect(() => {
    nav.current?.querySelector("[aria-current=page]")?.scrollIntoView({ block: "nearest" });
  }, []);
  return (
    <>
      <div className="flex h-14 shrink-0 items-center px-5">
        <Brand />
      </div>
      <nav
        ref={nav}
        aria-label={t.shell.navigation}
        className="flex-1 scroll-pb-8 overflow-y-auto px-3 pt-2 pb-8 mask-[linear-gradient(to_top,transparent,black_2rem)]"
      >
        <ul className="flex flex-col gap-0.5">
          <Step to="/" icon={<LayoutDashboard className={icon} />} name={t.pages.overview} />
          <Step to="/playground" icon={<FlaskConical className={icon} />} name={t.pages.playground} />
          <Step to="/citations" icon={<Scale className={icon} />} name={t.pages.citations} />
          <Step to="/keys" icon={<KeyRound className={icon} />} name={t.pages.keys} />
          <Step to="/webhooks" icon={<Webhook className={icon} />} name={t.pages.webhooks} />
        </ul>
        <Group name={t.shell.money}>
          <Step to="/usage" icon={<ChartColumn className={icon} />} name={t.pages.usage} />
          <Step to="/requests" icon={<Activity className={icon} />} name={t.pages.requests} />
          <Step to="/ledger" icon={<ScrollText className={icon} />} name={t.pages.ledger} />
          <Step to="/top-up" icon={<CircleDollarSign className={icon} />} name={t.pages.topUp} />
          <Step to="/invoices" icon={<FileText className={icon} />} name={t.pages.invoices} />
        </Group>
        <Group name={t.shell.reference}>
          <Step to="/pricing" icon={<Tags className={icon} />} name={t.pages.pricing} />
          <Step to="/quick-start" icon={<BookOpen className={icon} />} name={t.pages.quickStart} />
        </Group>
        {user.role === "admin" && (
          <Group name={t.shell.admin}>
            <Step to="/admin/board" icon={<TrendingUp className={icon} />} name={t.pages.board} />
            <Step to="/admin/accounts" icon={<Users className={icon} />} name={t.pages.accounts} />
            <Step to="/admin/payments" icon={<WalletCards className={icon} />} name={t.pages.payments} />
            <Step to="/admin/invoices" icon={<FileText className={icon} />} name={t.pages.allInvoices} />
            <Step to="/admin/vouchers" icon={<Ticket className={icon} />} name={t.pages.vouchers} />
            <Step to="/admin/prices" icon={<ReceiptText className={icon} />} name={t.pages.prices} />
            <Step to="/admin/sources" icon={<DatabaseZap className={icon} />} name={t.pages.sources} />
            <Step to="/admin/datasets" icon={<Boxes className={icon} />} name={t.pages.datasets} />
            <Step to="/admin/integrity" icon={<ShieldCheck className={icon} />} name={t.pages.integrity} />
            {session?.models && (
              <Step to="/admin/models" icon={<Cpu className={icon} />} name={t.pages.models} />
            )}
          </Group>
        )}
      </nav>
      <div className="border-t border-line p-3">
        <ul>
          <Step to="/settings" icon={<Settings className={icon} />} name={t.pages.settings} />
        </ul>
        <Person name={user.name} email={user.is_local ? t.shell.local : user.email} />
      </div>
    </>
  );
}

function Person({ name, email }: { readonly name: string; readonly email: string }) {
  const t = useText();
  const leave = async () => {
    await signOut().catch(() => {});
    // A full page load, so that nothing of this session stays in memory.
    location.assign("/console/sign-in");
  };
  return (
    <div className="mt-2 flex items-center gap-2 rounded-lg px-2 py-1">
      <span className="flex size-8 shrink-0 items-center justify-center rounded-full bg-accent-wash text-sm font-semibold text-accent-strong">
        {[...name][0]?.toUpperCase() ?? <Boxes className="size-4" />}
      </span>
      <span className="min-w-0 flex-1 leading-tight">
        <span className="block truncate text-sm font-medium">{name}</span>
        <span className="block truncate text-xs text-faint">{email}</span>
      </span>
      <IconButton label={t.shell.signOut} onClick={() => void leave()}>
        <LogOut className="size-4" />
      </IconButton>
    </div>
  );
}

function Group({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  return (
    <div className="mt-5">
      <h2 className="px-3 pb-1.5 text-xs font-medium tracking-normal text-faint">{name}</h2>
      <ul className="flex flex-col gap-0.5">{children}</ul>
    </div>
  );
}

type Destination =
  | "/"
  | "/playground"
  | "/citations"
  | "/keys"
  | "/webhooks"
  | "/usage"
  | "/requests"
  | "/ledger"
  | "/top-up"
  | "/invoices"
  | "/pricing"
  | "/quick-start"
  | "/settings"
  | "/admin/board"
  | "/admin/accounts"
  | "/admin/payments"
  | "/admin/invoices"
  | "/admin/vouchers"
  | "/admin/prices"
  | "/admin/sources"
  | "/admin/datasets"
  | "/admin/integrity"
  | "/admin/models";

function Step({
  to,
  icon,
  name,
}: {
  readonly to: Destination;
  readonly icon: ReactNode;
  readonly name: string;
}) {
  const look = "flex h-9 items-center gap-3 rounded-md px-3 text-sm transition-colors";
  return (
    <li>
      <Link
        to={to}
        activeOptions={{ exact: to === "/" }}
        className={look}
        activeProps={{
          className: classes("bg-accent-wash font-medium text-accent-strong"),
          "aria-current": "page",
        }}
        inactiveProps={{ className: "text-soft hover:bg-sunken hover:text-ink" }}
      >
        {icon}
        {name}
      </Link>
    </li>
  );
}
