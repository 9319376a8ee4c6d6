"""A browser's end of web push: a subscription, and the reading of what was sealed for it (RFC 8291, RFC 8188)."""

from __future__ import annotations

import json
from base64 import urlsafe_b64decode

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

# The keys of RFC 8291, appendix A.
PUBLIC_KEY = "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"
PRIVATE_KEY = "q1dXpw3UpT5VOmu_cf_v6ih07Aems3njxI-JWgLcM94"
AUTH = "BTBZMqHH6r4Tts7J_aSIgg"


def decoded(text: str) -> bytes:
    return urlsafe_b64decode(text + "=" * (-len(text) % 4))


def subscription(endpoint: str, *, p256dh: str = PUBLIC_KEY, auth: str = AUTH) -> str:
    """Return what `JSON.stringify(subscription)` gives in the browser."""
    return json.dumps({"endpoint": endpoint, "expirationTime": None, "keys": {"p256dh": p256dh, "auth": auth}})


def opened(sealed: bytes) -> bytes:
    """Return what was sealed for the subscription, if nobody else sealed or changed it."""
    salt, size, length = sealed[:16], int.from_bytes(sealed[16:20], "big"), sealed[20]
    senders, record = sealed[21 : 21 + length], sealed[21 + length :]
    assert len(record) <= size
    ours = ec.derive_private_key(int.from_bytes(decoded(PRIVATE_KEY), "big"), ec.SECP256R1())
    theirs = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), senders)
    public = ours.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
    shared = _derived(ours.exchange(ec.ECDH(), theirs), decoded(AUTH), b"WebPush: info\0" + public + senders, 32)
    key = _derived(shared, salt, b"Content-Encoding: aes128gcm\0", 16)
    nonce = _derived(shared, salt, b"Content-Encoding: nonce\0", 12)
    content, _, padding = AESGCM(key).decrypt(nonce, record, None).rpartition(b"\2")
    assert not padding.strip(b"\0")
    return content


def _derived(secret: bytes, salt: bytes, info: bytes, length: int) -> bytes:
    return HKDF(SHA256(), length, salt, info).derive(secret)
