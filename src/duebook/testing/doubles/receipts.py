"""What providers post back: receipts."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from urllib.error import HTTPError
from urllib.request import ProxyHandler, Request, build_opener

from .http_messages import Content, encoded

SECONDS = 10.0


async def post_receipt(url: str, body: Content, headers: Mapping[str, str] | None = None) -> int:
    """POST a receipt as a provider would, and return the status it was answered.

    A body that is no bytes and no text is sent as JSON. Raises OSError where nobody answers within ten seconds.
    """
    content, stated = encoded(body, headers or {})
    return await asyncio.to_thread(_post, Request(url, content, stated, method="POST"))


def _post(request: Request) -> int:
    try:
        # A proxy of the environment has no way to a receiver on loopback.
        with build_opener(ProxyHandler({})).open(request, timeout=SECONDS) as response:
            return int(response.status)
    except HTTPError as error:
        error.close()
        return error.code
