import { useEffect, useState } from "react";

/**
 * The secret of a link, from the part after `#`, which browsers send to no server. It leaves the address bar and the
 * history at once. A link that is pasted into the open page also counts: the browser then loads nothing and only
 * reports that the part has changed.
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
