import { useEffect, useState } from "react";

/**
 * The secret of a link, from behind the `#`: browsers keep that part from every server and its logs. It leaves the
 * address bar at once, and with it the history.
 */
export function useLinkToken(): string {
  const [token] = useState(readToken);
  useEffect(() => {
    if (location.hash) history.replaceState(history.state, "", location.pathname);
  }, []);
  return token;
}

function readToken(): string {
  return new URLSearchParams(location.hash.slice(1)).get("token") ?? "";
}
