"""Requests to a queue's HTTP API, each made until it is answered or there is no sense in it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from ...domain.text import clean
from ...errors import QueueUnavailable
from .patience import pause_seconds

if TYPE_CHECKING:
    from httpx2 import AsyncClient, Response

_CONNECT_SECONDS = 5.0
_ANSWER_SECONDS = 10.0
_EXCERPT_CHARACTERS = 200


class Link:
    """Connections to one API. They are made when they are needed.

    `url`: below which the paths stand. `token`: goes into a header, and into nothing else. `place`: what is shown.
    """

    def __init__(self, url: str, token: str, place: str) -> None:
        self._url = url.rstrip("/")
        self._token = token
        self._place = place
        self._client: AsyncClient | None = None

    async def ask(self, path: str) -> None:
        """GET a path, once. Raises QueueUnavailable unless all is well."""
        answer = await self._try("GET", path, None, {}, 0.0)
        if isinstance(answer, str) or not answer.is_success:
            raise self._unavailable(answer)

    async def post(
        self, path: str, document: Mapping[str, Any], headers: Mapping[str, str] | None = None, wait_seconds: float = 0
    ) -> Any:
        """POST a document, again where that may help, and return the JSON of the answer; None if it has none.

        `wait_seconds`: how long the server may take before it begins to answer. Raises QueueUnavailable.
        """
        number = 1
        while True:
            answer = await self._try("POST", path, document, headers or {}, wait_seconds)
            if isinstance(answer, str):
                pause = pause_seconds(number, None, None)
            elif answer.is_success:
                return _json(answer)
            else:
                pause = pause_seconds(number, answer.status_code, answer.headers.get("retry-after"))
            if pause is None:
                raise self._unavailable(answer)
            await asyncio.sleep(pause)
            number += 1

    async def close(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()

    async def _try(
        self,
        method: str,
        path: str,
        document: Mapping[str, Any] | None,
        headers: Mapping[str, str],
        wait_seconds: float,
    ) -> Response | str:
        """Return an answer, or what went wrong before there was one."""
        from httpx2 import HTTPError, Timeout

        timeout = Timeout(_ANSWER_SECONDS, connect=_CONNECT_SECONDS, read=wait_seconds + _ANSWER_SECONDS)
        try:
            return await self._connected().request(
                method, self._url + path, json=document, headers=dict(headers), timeout=timeout
            )
        except (HTTPError, OSError) as error:
            return f"{str(error) or 'no answer in time'} ({type(error).__name__})"

    def _connected(self) -> AsyncClient:
        from httpx2 import AsyncClient

        if self._client is None:
            said = {"Authorization": f"Bearer {self._token}", "Accept": "application/json", "User-Agent": "duebook"}
            self._client = AsyncClient(headers=said, trust_env=False)
        return self._client

    def _unavailable(self, answer: Response | str) -> QueueUnavailable:
        """Return the error; a server that quotes the token does not carry it any further."""
        said = answer if isinstance(answer, str) else _summary(answer)
        return QueueUnavailable(clean(f"{self._place}: {said}".replace(self._token, "***")))


def _json(answer: Response) -> Any:
    try:
        return answer.json()
    except (ValueError, RecursionError):
        return None


def _summary(answer: Response) -> str:
    try:
        phrase = HTTPStatus(answer.status_code).phrase
    except ValueError:
        phrase = ""
    excerpt = " ".join(answer.text.split())
    return f"{answer.status_code} {phrase}: {clean(excerpt, _EXCERPT_CHARACTERS)}".rstrip(": ")
