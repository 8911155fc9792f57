import type { CreatedWebhook } from "@dataq/contract/wire";
import { useText } from "../../text/text.tsx";
import { ShownOnce } from "../../ui/shown-once.tsx";

/** Shows a webhook's secret once. */
export function NewSecret({
  made,
  onClose,
}: {
  readonly made: CreatedWebhook;
  readonly onClose: () => void;
}) {
  const { secretTitle: title, once, onceAbout: about, kept } = useText().webhooks;
  return (
    <ShownOnce
      secret={made.secret}
      words={{ title, once, about, kept }}
      testId="new-secret"
      onClose={onClose}
    />
  );
}
