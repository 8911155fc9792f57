import type { ApiKey, CreatedKey } from "@dataq/contract/wire";
import { useState } from "react";
import { graces, rotateKey } from "../../service/keys.ts";
import { useText } from "../../text/text.tsx";
import { Confirm } from "../../ui/confirm.tsx";
import { Field, Select } from "../../ui/field.tsx";

/** Replaces a key with a new one; the old one works until the grace period ends. */
export function Rotate({
  apiKey,
  onClose,
  onDone,
}: {
  readonly apiKey: ApiKey;
  readonly onClose: () => void;
  readonly onDone: (made: CreatedKey) => void;
}) {
  const t = useText();
  const [grace, setGrace] = useState<number>(86_400);
  return (
    <Confirm
      kind="primary"
      title={t.keys.rotateTitle(apiKey.name || apiKey.prefix)}
      about={t.keys.rotateAbout}
      action={t.keys.rotate}
      onConfirm={async () => onDone(await rotateKey(apiKey.id, grace))}
      onClose={onClose}
    >
      <Field label={t.keys.grace} hint={t.keys.graceHint}>
        {(attributes) => (
          <Select {...attributes} value={grace} onChange={(event) => setGrace(Number(event.target.value))}>
            {graces.map((seconds) => (
              <option key={seconds} value={seconds}>
                {t.keys.graces[seconds]}
              </option>
            ))}
          </Select>
        )}
      </Field>
    </Confirm>
  );
}
