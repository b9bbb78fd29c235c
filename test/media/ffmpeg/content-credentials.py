"""Signs a video with certificates made here (sign SOURCE TARGET), or prints what a validator finds in videos (read VIDEO...)."""

import datetime
import json
import sys

import c2pa
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

AI = "http://cv.iptc.org/newscodes/digitalsourcetype/trainedAlgorithmicMedia"


def certificate(name, key, issuer, issuer_key, is_authority):
    named = lambda text: x509.Name(
        [x509.NameAttribute(NameOID.ORGANIZATION_NAME, "An upstream"), x509.NameAttribute(NameOID.COMMON_NAME, text)]
    )
    now = datetime.datetime.now(datetime.timezone.utc)
    day = datetime.timedelta(days=1)
    builder = (
        x509.CertificateBuilder()
        .subject_name(named(name))
        .issuer_name(named(issuer))
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - day)
        .not_valid_after(now + day)
        .add_extension(x509.BasicConstraints(ca=is_authority, path_length=None), critical=True)
        .add_extension(
            x509.KeyUsage(not is_authority, False, False, False, False, is_authority, is_authority, False, False),
            critical=True,
        )
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(issuer_key.public_key()), critical=False)
    )
    if not is_authority:
        builder = builder.add_extension(
            x509.ExtendedKeyUsage([ExtendedKeyUsageOID.EMAIL_PROTECTION]), critical=False
        )
    return builder.sign(issuer_key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)


def sign(source, target):
    authority_key, key = (ec.generate_private_key(ec.SECP256R1()) for _ in range(2))
    authority = certificate("Authority", authority_key, "Authority", authority_key, True)
    leaf = certificate("Signer", key, "Authority", authority_key, False)
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    signer = c2pa.Signer.from_info(c2pa.C2paSignerInfo(b"es256", leaf + authority, private, None))
    actions = {"actions": [{"action": "c2pa.created", "digitalSourceType": AI}]}
    manifest = {
        "claim_generator_info": [{"name": "An upstream", "version": "1"}],
        "assertions": [{"label": "c2pa.actions", "data": actions}],
    }
    with open(source, "rb") as video, open(target, "w+b") as signed:
        c2pa.Builder(manifest).sign(signer, "video/mp4", video, signed)


def read(path):
    try:
        with open(path, "rb") as video:
            reader = c2pa.Reader("video/mp4", video)
            text = reader.json()
            codes = [status["code"] for status in json.loads(text).get("validation_status") or []]
            return {"state": reader.get_validation_state(), "codes": codes, "isAi": AI in text}
    except c2pa.C2paError as error:
        return {"state": "none", "codes": [type(error).__name__.lstrip("_")], "isAi": False}


if sys.argv[1] == "sign":
    sign(*sys.argv[2:])
else:
    print(json.dumps([read(path) for path in sys.argv[2:]]))
