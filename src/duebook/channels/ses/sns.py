"""Amazon SNS, through which SES posts back: who signed a message.

https://docs.aws.amazon.com/sns/latest/dg/sns-verify-signature-of-message-verify-message-signature.html
"""

from __future__ import annotations

import base64
import re
from collections.abc import Sequence
from datetime import datetime, timedelta
from importlib.util import find_spec
from urllib.parse import urlsplit

from ...errors import InvalidInput, MissingExtra, UnverifiedReceipt
from ..http.receiving import check_age, document, iso, text, within

PROVIDER = "ses"
OLDEST = timedelta(hours=1)
"""A delivery policy of SNS tries for 3,600 seconds at most, and the signature is that of the publication."""

_HOST = re.compile(r"sns\.[a-z0-9-]+\.amazonaws\.com(\.cn)?")
_SIGNED = {
    "Notification": ("Message", "MessageId", "Subject", "Timestamp", "TopicArn", "Type"),
    "SubscriptionConfirmation": (
        "Message", "MessageId", "SubscribeURL", "Timestamp", "Token", "TopicArn", "Type",
    ),
}  # fmt: skip


def certificate_url(body: bytes) -> str:
    """Return where the certificate of a message is to be fetched; raises UnverifiedReceipt if that is not SNS itself.

    Whoever names the certificate is not yet verified: fetch it from nowhere else, over https, and keep it.
    """
    named = text(within(document(PROVIDER, body), "SigningCertURL")) or ""
    parts = urlsplit(named)
    if parts.scheme != "https" or not _HOST.fullmatch(parts.netloc) or not parts.path.endswith(".pem"):
        raise UnverifiedReceipt(PROVIDER, "its SigningCertURL is not one of SNS's")
    return named


def verify(posted: object, topics: Sequence[str], certificate: bytes, now: datetime) -> None:
    """Raise UnverifiedReceipt unless a message is of one of these topics, recent, and signed by the certificate."""
    if within(posted, "TopicArn") not in topics:
        raise UnverifiedReceipt(PROVIDER, "its topic is none of yours")
    signed = _SIGNED.get(str(within(posted, "Type")))
    if signed is None:
        raise UnverifiedReceipt(PROVIDER, "it is of a type that is not read")
    content = "".join(f"{name}\n{value}\n" for name in signed if (value := within(posted, name)) is not None)
    try:
        signature = base64.b64decode(str(within(posted, "Signature")), validate=True)
    except ValueError:
        raise UnverifiedReceipt(PROVIDER, "its signature is not base64") from None
    _check(certificate, signature, content.encode(), within(posted, "SignatureVersion"), now)
    check_age(PROVIDER, iso(within(posted, "Timestamp")), now, OLDEST)


def _check(certificate: bytes, signature: bytes, content: bytes, version: object, now: datetime) -> None:
    if find_spec("cryptography") is None:
        raise MissingExtra("verifying receipts of Amazon SES", "receipts")
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
    from cryptography.hazmat.primitives.hashes import SHA1, SHA256
    from cryptography.x509 import load_pem_x509_certificate

    try:
        read = load_pem_x509_certificate(certificate)
        public = read.public_key()
    except ValueError:
        raise InvalidInput("certificate", "must be a certificate in PEM form") from None
    if not isinstance(public, RSAPublicKey) or not read.not_valid_before_utc <= now <= read.not_valid_after_utc:
        raise UnverifiedReceipt(PROVIDER, "its certificate is not valid now, or of another kind")
    try:
        # Version 1 is what a topic uses that was not told otherwise.
        public.verify(signature, content, PKCS1v15(), SHA256() if version == "2" else SHA1())
    except InvalidSignature:
        raise UnverifiedReceipt(PROVIDER, "its signature is not that of the certificate") from None
