"""One call, and the knowledge of what had left when it failed.

The transport is used without a client: a client follows its environment's proxies, and logs the whole URL. Each
attempt has a connection of its own. A kept one that the server closes while we write looks exactly like a lost
reply, and would turn a healthy delivery into an uncertain one.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...domain.outcome import Retry, Uncertain
from ...domain.text import clean
from ..deadline import Deadline
from .answer import Answer
from .call import Call, origin

if TYPE_CHECKING:
    from httpx2 import Request, Response

_BODY_BYTES = 65_536

Failure = Retry | Uncertain


@dataclass(slots=True)
class _Progress:
    """`sent` is true from the first byte of the body on.

    Up to there the server holds a request without its content, and cannot have acted on it. Later there is no
    telling: a write that failed may have been complete on the other side.
    """

    sent: bool = False

    async def trace(self, event: str, info: Mapping[str, object]) -> None:
        if event.endswith(".send_request_body.started"):
            self.sent = True


async def exchange(
    call: Call, addresses: Sequence[str], *, tls: ssl.SSLContext, connect_seconds: float, deadline: Deadline
) -> Answer | Failure:
    """Make a call to the first of these addresses that can be reached; return the answer or what else is known."""
    failure: Failure = Retry(f"{origin(call.url)}: there was no time left to connect")
    for address in addresses:
        progress = _Progress()
        answer = await _attempt(_request(call, address, progress, connect_seconds), progress, tls, deadline)
        if isinstance(answer, Answer):
            return answer
        failure = _failed(origin(call.url), progress, answer)
        if progress.sent or not deadline.left():
            break
    return failure


def _request(call: Call, address: str, progress: _Progress, connect_seconds: float) -> Request:
    from httpx2 import Request

    return Request(
        call.method,
        call.url.copy_with(host=address),
        headers={"Host": call.url.netloc.decode("ascii"), **call.headers},
        content=call.body,
        extensions={
            "trace": progress.trace,
            "timeout": {"connect": connect_seconds},
            # The certificate must be that of the name, although we connect to an address.
            "sni_hostname": call.url.raw_host.decode("ascii").strip("[]"),
        },
    )


async def _attempt(
    request: Request, progress: _Progress, tls: ssl.SSLContext, deadline: Deadline
) -> Answer | Exception:
    from httpx2 import AsyncHTTPTransport

    try:
        async with AsyncHTTPTransport(verify=tls, trust_env=False) as transport:
            async with asyncio.timeout_at(deadline.at):
                response = await transport.handle_async_request(request)
            return await _answer(response, deadline)
    except Exception as error:  # noqa: BLE001  what had left decides, not the error's type
        return error


async def _answer(response: Response, deadline: Deadline) -> Answer:
    """Read the answer's body as far as it is of use; the status alone decides, so a broken body changes nothing."""
    from httpx2 import HTTPError

    body = b""
    try:
        async with asyncio.timeout_at(deadline.at):
            async for chunk in response.aiter_raw():
                body += chunk
                if len(body) >= _BODY_BYTES:
                    break
            await response.aclose()
    except (HTTPError, OSError, TimeoutError):
        pass
    return Answer(response.status_code, dict(response.headers), body[:_BODY_BYTES])


def _failed(origin: str, progress: _Progress, error: Exception) -> Failure:
    what = clean(f"{origin}: {str(error) or 'no answer in time'} ({type(error).__name__})")
    if progress.sent:
        return Uncertain(f"{what}; the request had left", phase="reply")
    return Retry(what)
