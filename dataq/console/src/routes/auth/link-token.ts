import { useEffect, useState } from "react";

/**
 * The secret of a link, from behind the `#`: browsers keep that part from every server and its logs. It leaves the
 * address bar at once, and with it the history. A link that is pasted over the open page counts too: the browser
 * loads nothing then, and only says that the part has changed.
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
