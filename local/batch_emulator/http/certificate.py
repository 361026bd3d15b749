"""A certificate for this machine, created when first needed, so that clients that require https can connect.

It is self-signed and valid for loopback only. Clients trust `certificate.pem`; `key.pem` stays private to its owner.
"""

import ipaddress
import os
import ssl
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from local.batch_emulator.core.clock import real_now
from local.batch_emulator.core.stamps import SECOND

CERTIFICATE, _KEY = "certificate.pem", "key.pem"
_LIFETIME, _MIN_REMAINING = timedelta(days=365), timedelta(days=7)
_NAMES = ("localhost", "*.localhost")
_ADDRESSES = ("127.0.0.1", "::1")


def tls_context(folder: Path) -> ssl.SSLContext:
    """Returns a TLS context with the folder's certificate, renewed unless valid for a week. Raises OSError."""
    if not _is_valid(folder):
        _create(folder)
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(folder / CERTIFICATE, folder / _KEY)
    return tls


def _now() -> datetime:
    return datetime.fromtimestamp(real_now() / SECOND, UTC)


def _is_valid(folder: Path) -> bool:
    if not ((folder / CERTIFICATE).exists() and (folder / _KEY).exists()):
        return False
    certificate = x509.load_pem_x509_certificate((folder / CERTIFICATE).read_bytes())
    return certificate.not_valid_after_utc > _now() + _MIN_REMAINING


def _create(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "Batch emulator on this machine")])
    names = [x509.DNSName(each) for each in _NAMES]
    addresses = [x509.IPAddress(ipaddress.ip_address(each)) for each in _ADDRESSES]
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(_now() - timedelta(days=1))
        .not_valid_after(_now() + _LIFETIME)
        .add_extension(x509.SubjectAlternativeName([*names, *addresses]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, hashes.SHA256())
    )
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    _write(folder / _KEY, private, mode=0o600)
    _write(folder / CERTIFICATE, certificate.public_bytes(serialization.Encoding.PEM), mode=0o644)


def _write(path: Path, content: bytes, *, mode: int) -> None:
    path.unlink(missing_ok=True)
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as file:
        file.write(content)
