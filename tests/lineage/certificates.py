"""An authority of a test's own, with a server and a client that it vouches for."""

from __future__ import annotations

import ssl
from datetime import timedelta
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from lineage_assets.clock import utc_now
from lineage_assets.lineage.http_receiver import Tls


def certificates(folder: Path) -> tuple[ssl.SSLContext, Tls]:
    """What a server of 127.0.0.1 needs, which asks for a certificate, and what a client needs that has one."""
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "a test")])
    key = ec.generate_private_key(ec.SECP256R1())
    now = utc_now()
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    certificate, private = folder / "certificate.pem", folder / "key.pem"
    certificate.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    private.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    server = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=certificate)
    server.verify_mode = ssl.CERT_REQUIRED
    server.load_cert_chain(certificate, private)
    return server, Tls(authorities=certificate, certificate=certificate, key=private)
