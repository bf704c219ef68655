"""SHA-256 and HMAC by the interpreter's own code. hashlib and hmac load OpenSSL, which costs each start of an agent some
milliseconds and megabytes; contents of files are hashed by hashlib all the same, where OpenSSL is faster."""
from _operator import _compare_digest as same_bytes

try:
    from _sha2 import sha256            # since 3.12
except ImportError:
    try:
        from _sha256 import sha256
    except ImportError:
        from hashlib import sha256

BLOCK = 64
INNER, OUTER = bytes(number ^ 0x36 for number in range(256)), bytes(number ^ 0x5c for number in range(256))


def hmac_sha256(key, data):
    """In hex (RFC 2104)."""
    if len(key) > BLOCK:
        key = sha256(key).digest()
    key = key.ljust(BLOCK, b"\0")
    return sha256(key.translate(OUTER) + sha256(key.translate(INNER) + data).digest()).hexdigest()
