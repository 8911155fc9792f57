import { useText } from "../text/text.tsx";
import { Button } from "./button.tsx";

/** Below a list that comes in pages: fetches the next page, and is not there after the last. */
export function MoreRows({ query }: { query: PagedQuery }) {
  const t = useText();
  if (!query.hasNextPage) return null;
  return (
    <div className="border-t border-line p-3 text-center">
      <Button isBusy={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
        {t.more}
      </Button>
    </div>
  );
}

interface PagedQuery {
  readonly hasNextPage: boolean;
  readonly isFetchingNextPage: boolean;
  fetchNextPage(): Promise<unknown>;
}
