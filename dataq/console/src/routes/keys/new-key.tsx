import type { CreatedKey } from "@dataq/contract/wire";
import { useText } from "../../text/text.tsx";
import { ShownOnce } from "../../ui/shown-once.tsx";

/** Shows a new key once. */
export function NewKey({ made, onClose }: { readonly made: CreatedKey; readonly onClose: () => void }) {
  const { madeTitle: title, once, onceAbout: about, kept } = useText().keys;
  return (
    <ShownOnce secret={made.key} words={{ title, once, about, kept }} testId="new-key" onClose={onClose} />
  );
}
