"""Bearer tokens as Microsoft Entra issues them: JWTs, verified by the key that the emulator was started with.

Source: "Authenticate Batch service solutions with Microsoft Entra ID", and details of errors seen in public reports.
Times are checked against the machine's clock with five minutes of grace, as in Microsoft's own validators.
"""

from dataclasses import dataclass
from pathlib import Path

import jwt
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePublicKey
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from cryptography.hazmat.primitives.serialization import load_pem_public_key

AUDIENCE = "https://batch.core.windows.net/"
ISSUER = "https://sts.windows.net/00000000-0000-0000-0000-000000000000/"
_GRACE_SECONDS = 300
_REQUIRED = ("aud", "exp", "iss", "nbf")
_MIN_SECRET_BYTES = 32


class TokenError(Exception):
    """The reason why a token isn't accepted."""


@dataclass(frozen=True, slots=True)
class TokenKey:
    """A public key or a secret, its algorithms, and the only trusted issuer."""

    key: RSAPublicKey | EllipticCurvePublicKey | bytes
    algorithms: tuple[str, ...]
    issuer: str = ISSUER

    def check(self, token: str) -> None:
        """Raises TokenError unless the token is signed by the key, for Batch, by the issuer, and valid now."""
        try:
            jwt.decode(
                token,
                self.key,
                algorithms=list(self.algorithms),
                audience=AUDIENCE,
                issuer=self.issuer,
                leeway=_GRACE_SECONDS,
                options={"require": list(_REQUIRED)},
            )
        except jwt.InvalidAudienceError:
            raise TokenError(
                "The access token has been obtained from wrong audience or resource. It should exactly match "
                f"(including forward slash) with one of the allowed audiences '{AUDIENCE}'"
            ) from None
        except jwt.InvalidIssuerError:
            text = f"The access token is from the wrong issuer. It must match '{self.issuer}'."
            raise TokenError(text) from None
        except jwt.PyJWTError as error:
            raise TokenError(f"The access token is not valid: {error}") from None


def read_token_key(path: Path) -> TokenKey:
    """Reads a key: a PEM file holds a public key (RSA or elliptic curve P-256), any other the secret of HS256.

    Raises ValueError with the reason, or OSError.
    """
    text = path.read_bytes().strip()
    if not text.startswith(b"-----BEGIN"):
        if len(text) < _MIN_SECRET_BYTES:
            raise ValueError(f"'{path}' holds neither a PEM key nor a secret of at least {_MIN_SECRET_BYTES} bytes")
        return TokenKey(text, ("HS256",))
    try:
        key = load_pem_public_key(text)
    except (ValueError, UnsupportedAlgorithm):
        raise ValueError(f"'{path}' holds no public key in PEM") from None
    if isinstance(key, RSAPublicKey):
        return TokenKey(key, ("RS256", "RS384", "RS512", "PS256"))
    if isinstance(key, EllipticCurvePublicKey):
        return TokenKey(key, ("ES256",))
    raise ValueError(f"'{path}' holds a key that is neither RSA nor elliptic curve")
