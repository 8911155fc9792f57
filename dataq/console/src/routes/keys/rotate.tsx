import { useState } from "react";
import { type ApiKey, graces, type MadeKey, rotateKey } from "../../service/keys.ts";
import { useText } from "../../text/text.tsx";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Field, Select } from "../../ui/field.tsx";
import { Failure } from "../../ui/states.tsx";

/** A new key with the same rights; the old one goes on for the grace chosen. */
export function Rotate({
  apiKey,
  onClose,
  onDone,
}: {
  readonly apiKey: ApiKey;
  readonly onClose: () => void;
  readonly onDone: (made: MadeKey) => void;
}) {
  const t = useText();
  const [grace, setGrace] = useState<number>(86_400);
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const rotate = async () => {
    setBusy(true);
    setError(null);
    try {
      onDone(await rotateKey(apiKey.id, grace));
    } catch (thrown) {
      setError(thrown);
      setBusy(false);
    }
  };
  return (
    <Dialog
      isOpen
      onClose={onClose}
      title={t.keys.rotateTitle(apiKey.name || apiKey.prefix)}
      about={t.keys.rotateAbout}
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
      {error ? (
        <div className="mt-4">
          <Failure error={error} />
        </div>
      ) : null}
      <div className="mt-5 flex justify-end gap-2">
        <Button onClick={onClose}>{t.cancel}</Button>
        <Button kind="primary" isBusy={isBusy} onClick={() => void rotate()}>
          {t.keys.rotate}
        </Button>
      </div>
    </Dialog>
  );
}
