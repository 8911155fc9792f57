import { enterByLink } from "../../service/identity.ts";
import { useText } from "../../text/text.tsx";
import { BrokenLink } from "./broken-link.tsx";
import { AuthForm } from "./form.tsx";
import { useLinkToken } from "./link-token.ts";
import { useFinish } from "./sign-in.tsx";

/** Signs in with the one-time link that the service prints at startup. */
export function Enter() {
  const t = useText();
  const token = useLinkToken();
  const finish = useFinish();
  if (token === "") return <BrokenLink about={t.auth.enterBroken} />;
  return (
    <AuthForm
      title={t.auth.enterTitle}
      about={t.auth.enterAbout}
      action={t.auth.enter}
      onSend={async () => {
        await enterByLink(token);
        await finish();
      }}
    >
      {null}
    </AuthForm>
  );
}
