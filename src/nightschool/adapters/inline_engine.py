"""Runs jobs in threads of this process. A job is a subprocess or a request of seconds to minutes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from threading import Event

from nightschool.core.jobs import Job, Outcome
from nightschool.core.ports import Ticket


class InlineEngine:
    """Up to `width` jobs at once. What a job raises, `completed` raises, after the others were stopped."""

    def __init__(self, run: Callable[[Job, Event], Outcome], *, width: int) -> None:
        if width < 1:
            raise ValueError("an engine needs a width of at least 1")
        self._run = run
        self._pool = ThreadPoolExecutor(max_workers=width, thread_name_prefix="job")
        self._waiting: dict[Future[Outcome], Ticket] = {}
        self._cancels: dict[Ticket, Event] = {}
        self._next = 1

    def submit(self, job: Job) -> Ticket:
        ticket, cancelled = self._next, Event()
        self._next += 1
        # Before the job starts: a Ctrl-C right behind its start must find how to stop it.
        self._cancels[ticket] = cancelled
        self._waiting[self._pool.submit(self._run, job, cancelled)] = ticket
        return ticket

    def completed(self) -> Iterator[tuple[Ticket, Outcome]]:
        """Outcomes in order of completion. On an error or Ctrl-C everything that runs is cancelled first."""
        try:
            while self._waiting:
                done, _ = wait(self._waiting, return_when=FIRST_COMPLETED, timeout=0.2)
                for future in done:
                    outcome = future.result()
                    ticket = self._waiting.pop(future)
                    del self._cancels[ticket]
                    yield ticket, outcome
        except BaseException:
            self.stop()
            raise

    def cancel(self, ticket: Ticket) -> None:
        if ticket in self._cancels:
            self._cancels[ticket].set()

    def stop(self) -> None:
        """Cancel all and wait for their end."""
        for cancelled in self._cancels.values():
            cancelled.set()
        for future in self._waiting:
            future.cancel()
        wait([future for future in self._waiting if not future.cancelled()])
        self._waiting.clear()
        self._cancels.clear()
