"""Signature Version 4, as far as a call without a query needs it.

https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

ALGORITHM = "AWS4-HMAC-SHA256"


@dataclass(frozen=True, slots=True)
class Credentials:
    """Who signs. `session_token` belongs to keys that expire."""

    access_key_id: str
    secret_access_key: str = field(repr=False)
    session_token: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class Scope:
    """For which service of which region a signature is good."""

    region: str
    service: str

    def on(self, at: datetime) -> str:
        return f"{at:%Y%m%d}/{self.region}/{self.service}/aws4_request"


def signed(
    method: str,
    path: str,
    headers: Mapping[str, str],
    body: bytes,
    *,
    credentials: Credentials,
    scope: Scope,
    at: datetime,
) -> dict[str, str]:
    """Return the headers to be sent: those given, all of which are signed, with time, token and signature.

    `headers` must hold Host. `at`: now; AWS refuses a time that is more than five minutes off.
    """
    at = at.astimezone(UTC)
    stamp = f"{at:%Y%m%dT%H%M%SZ}"
    complete = {**headers, "X-Amz-Date": stamp}
    if credentials.session_token is not None:
        complete["X-Amz-Security-Token"] = credentials.session_token
    lines = sorted((name.lower(), " ".join(value.split())) for name, value in complete.items())
    names = ";".join(name for name, _ in lines)
    fields = "".join(f"{name}:{value}\n" for name, value in lines)
    request = "\n".join([method, path, "", fields, names, _digest(body)])
    statement = "\n".join([ALGORITHM, stamp, scope.on(at), _digest(request.encode())])
    signature = hmac.new(_key(credentials, scope, at), statement.encode(), hashlib.sha256).hexdigest()
    complete["Authorization"] = (
        f"{ALGORITHM} Credential={credentials.access_key_id}/{scope.on(at)}, "
        f"SignedHeaders={names}, Signature={signature}"
    )
    return complete


def _key(credentials: Credentials, scope: Scope, at: datetime) -> bytes:
    key = f"AWS4{credentials.secret_access_key}".encode()
    for part in scope.on(at).split("/"):
        key = hmac.new(key, part.encode(), hashlib.sha256).digest()
    return key


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
