from __future__ import annotations

import asyncio
import random
import time


class Clock:
    """Time and randomness of a client. Tests replace it."""

    def now(self) -> float:
        """Seconds since 1970."""
        return time.time()

    def random(self) -> float:
        """A number from 0 up to 1."""
        return random.random()

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)

    async def sleep_async(self, seconds: float) -> None:
        await asyncio.sleep(seconds)
