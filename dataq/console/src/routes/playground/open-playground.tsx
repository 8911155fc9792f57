import { Link } from "@tanstack/react-router";
import FlaskConical from "~icons/lucide/flask-conical";
import { useText } from "../../text/text.tsx";
import { buttonClass } from "../../ui/button.tsx";

/** What an empty page offers whose calls are still missing. */
export function OpenPlayground() {
  const t = useText();
  return (
    <Link to="/playground" search={{ operation: undefined }} className={buttonClass("plain", "small")}>
      <FlaskConical className="size-4" />
      {t.overview.try}
    </Link>
  );
}
