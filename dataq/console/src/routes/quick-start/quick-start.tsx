import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { useText } from "../../text/text.tsx";
import { buttonClass } from "../../ui/button.tsx";
import { Code } from "../../ui/code.tsx";
import { PageHead, Panel } from "../../ui/panel.tsx";
import { Table } from "../../ui/table.tsx";
import { clientPackages, snippet } from "../playground/snippet.ts";

const first = { operation: "legal_laws", params: { query: "民法典 第五百七十七条" } };

/** A guide to the first call. */
export function QuickStart() {
  const t = useText();
  const base = location.origin;
  return (
    <>
      <PageHead title={t.pages.quickStart} about={t.quickStart.about} />
      <ol className="flex flex-col gap-5">
        <Step number={1} title={t.quickStart.key}>
          <p className="mb-3 text-soft">{t.quickStart.keyAbout}</p>
          <Link to="/keys" className={buttonClass("plain", "small")}>
            {t.keys.make}
          </Link>
          <Code className="mt-4" label="sh" text='export DATAQ_API_KEY="dq_live_…"' />
        </Step>
        <Step number={2} title={t.quickStart.ask}>
          <p className="mb-3 text-soft">{t.quickStart.askAbout}</p>
          <Code label="curl" text={snippet("curl", first, base)} />
        </Step>
        <Step number={3} title={t.quickStart.program}>
          <p className="mb-3 text-soft">{t.quickStart.programAbout}</p>
          <Code
            label="TypeScript"
            text={`${clientPackages.typescript}\n\n${snippet("typescript", first, base)}`}
          />
          <Code
            className="mt-4"
            label="Python"
            text={`${clientPackages.python}\n\n${snippet("python", first, base)}`}
          />
        </Step>
        <Step number={4} title={t.quickStart.pages}>
          <p className="mb-3 text-soft">{t.quickStart.pagesAbout}</p>
          <Code
            label="TypeScript"
            text={`for await (const page of dataq.paginate("legal_cases", { query: "民间借贷", page_size: 50 })) {
  console.log(page.page, page.total_pages, page.data.length);
}`}
          />
        </Step>
        <Step number={5} title={t.quickStart.errors}>
          <p className="mb-3 text-soft">{t.quickStart.errorsAbout}</p>
          <div className="-mx-4 sm:-mx-5">
            <Table
              label={t.quickStart.errors}
              rows={t.quickStart.errorRows}
              keyOf={({ status }) => status}
              columns={[
                {
                  name: t.quickStart.status,
                  cell: ({ status }) => <code className="font-mono whitespace-nowrap">{status}</code>,
                },
                { name: t.quickStart.meaning, className: "min-w-40", cell: ({ meaning }) => meaning },
                { name: t.quickStart.todo, className: "min-w-40", cell: ({ todo }) => todo },
              ]}
            />
          </div>
        </Step>
      </ol>
      <p className="mt-6 text-soft">
        {t.quickStart.reference}{" "}
        <a href="/docs" className="text-accent underline underline-offset-4">
          /docs
        </a>{" "}
        ·{" "}
        <a href="/openapi.json" className="text-accent underline underline-offset-4">
          /openapi.json
        </a>
      </p>
    </>
  );
}

function Step({
  number,
  title,
  children,
}: {
  readonly number: number;
  readonly title: string;
  readonly children: ReactNode;
}) {
  return (
    <li>
      <Panel title={`${number}. ${title}`}>{children}</Panel>
    </li>
  );
}
