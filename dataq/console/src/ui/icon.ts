import { createElement, type ReactElement } from "react";

/** Makes a component of an icon's inner SVG. An icon is decoration: the text beside it says what it means. */
export function drawn(body: string): (props: { readonly className?: string }) => ReactElement {
  return ({ className }) =>
    createElement("svg", {
      className,
      viewBox: "0 0 24 24",
      "aria-hidden": true,
      dangerouslySetInnerHTML: { __html: body },
    });
}
