# When was a topic written about, and which papers are cited most? A notebook as a script: editors show its cells.
#   pip install 'dataq-client[pandas]' && python paper-years.py 大语言模型

# %% What it costs, before anything is bought
import sys

from dataq_client import DataQuery

query = sys.argv[1] if len(sys.argv) > 1 else "大语言模型"
client = DataQuery()
price = client.estimate("research_paper_search", query=query, page_size=50)
print(f"{price['tokens']} tokens a page, {client.balance()['balance']} left")

# %% At most 100 papers for at most 2,000 tokens
walk = client.paginate("research_paper_search", query=query, page_size=50, max_tokens=2_000)
papers = walk.to_pandas(limit=100)

# %% Papers by year
print(papers.groupby("year").size().to_string())

# %% The most cited
print(papers.nlargest(5, "citation_count")[["citation_count", "title"]].to_string(index=False))
