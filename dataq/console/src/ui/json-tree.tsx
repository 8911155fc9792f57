import { isObject } from "../service/call.ts";

/** Nested data as a tree. Deep and long parts start collapsed. */
export function JsonTree({ value, isClosed }: { readonly value: unknown; readonly isClosed?: boolean }) {
  return (
    <div className="font-mono text-xs leading-relaxed">
      <Node value={value} depth={isClosed ? 2 : 0} />
    </div>
  );
}

const LONG = 50;
const LONG_TEXT = 160;

function Node({
  name,
  value,
  depth,
}: {
  readonly name?: string;
  readonly value: unknown;
  readonly depth: number;
}) {
  const label = name === undefined ? null : <span className="text-accent">{name}: </span>;
  if (!isObject(value) && !Array.isArray(value))
    return (
      <div className="break-words whitespace-pre-wrap">
        {label}
        <Leaf value={value} />
      </div>
    );
  const entries = Object.entries(value);
  const shown = entries.slice(0, LONG);
  const size = Array.isArray(value) ? `[${entries.length}]` : `{${entries.length}}`;
  if (entries.length === 0)
    return (
      <div>
        {label}
        <span className="text-faint">{Array.isArray(value) ? "[]" : "{}"}</span>
      </div>
    );
  return (
    <details open={depth < 2}>
      <summary className="rounded-sm hover:bg-sunken">
        {label}
        <span className="text-faint">{size}</span>
      </summary>
      <div className="ml-1.5 border-l border-line pl-3.5">
        {shown.map(([key, item]) => (
          <Node key={key} name={key} value={item} depth={depth + 1} />
        ))}
        {entries.length > LONG && <div className="text-faint">… {entries.length - LONG}</div>}
      </div>
    </details>
  );
}

function Leaf({ value }: { readonly value: unknown }) {
  if (typeof value === "string" && value.length > LONG_TEXT)
    return (
      <details className="inline">
        <summary className="inline hover:bg-sunken">{value.slice(0, LONG_TEXT)}…</summary>
        <span>{value.slice(LONG_TEXT)}</span>
      </details>
    );
  if (typeof value === "string") return <span>{value}</span>;
  if (value === null) return <span className="text-faint">null</span>;
  return <span className="text-good">{String(value)}</span>;
}
