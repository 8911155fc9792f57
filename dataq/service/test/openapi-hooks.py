"""Values that a JSON Schema cannot describe, for schemathesis: check digits, and dates that are not in the future."""

from datetime import date, timedelta

import schemathesis
from hypothesis import strategies as st

SYMBOLS = "0123456789ABCDEFGHJKLMNPQRTUWXY"


def with_check(first17):
    total = sum(SYMBOLS.index(symbol) * pow(3, place, 31) for place, symbol in enumerate(first17))
    return first17 + SYMBOLS[(31 - total % 31) % 31]


schemathesis.openapi.format("credit-code", st.text(SYMBOLS, min_size=17, max_size=17).map(with_check))
# The day before yesterday at the latest: the service counts days in China, wherever this runs.
schemathesis.openapi.format(
    "date", st.dates(date(2011, 1, 1), date.today() - timedelta(days=2)).map(date.isoformat)
)
# None of these is an EMS number, which has a check digit.
schemathesis.openapi.format("parcel-number", st.text("0123456789YT", min_size=6, max_size=32))
