import { useText } from "../text/text.tsx";
import { Button } from "./button.tsx";
import { Failure } from "./states.tsx";

/** The button below a paged list that loads the next page. It is hidden after the last page. */
export function MoreRows({ query }: { query: PagedQuery }) {
  const t = useText();
  if (!query.hasNextPage) return null;
  return (
    <div className="flex flex-col items-center gap-3 border-t border-line p-3">
      {query.isFetchNextPageError && <Failure error={query.error} />}
      <Button isBusy={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
        {t.more}
      </Button>
    </div>
  );
}

/** A query whose pages are loaded one after the other. */
export interface PagedQuery {
  readonly hasNextPage: boolean;
  readonly isFetchingNextPage: boolean;
  readonly isFetchNextPageError: boolean;
  readonly error: unknown;
  fetchNextPage(): Promise<unknown>;
}
