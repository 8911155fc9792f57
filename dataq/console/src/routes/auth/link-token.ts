import { useEffect, useState } from "react";

/**
 * Returns the secret of a link from the part after `#`, which browsers do not send to servers. Removes it
 * from the address bar and the history at once. Also handles a link that is pasted into the open page: the
 * browser then loads nothing and only reports a changed hash.
 */
export function useLinkToken(): string {
  const [token, setToken] = useState(readToken);
  useEffect(() => {
    const take = () => {
      if (!location.hash) return;
      setToken(readToken());
      history.replaceState(history.state, "", location.pathname);
    };
    take();
    addEventListener("hashchange", take);
    return () => removeEventListener("hashchange", take);
  }, []);
  return token;
}

function readToken(): string {
  return new URLSearchParams(location.hash.slice(1)).get("token") ?? "";
}
