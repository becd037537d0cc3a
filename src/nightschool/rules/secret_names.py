"""Files that hold secrets by their names. Relieves mining of it: what they hold needs no look."""

from __future__ import annotations

import re
from typing import Final

_SAMPLES = ("example", "sample", "template", "dist", "defaults")
"""What ends the name of a file that shows which secrets there are, and has none."""
_NAMES: Final = re.compile(
    r"\.env(?:[.-].*|rc|\.)?|.*\.env|\.(?:netrc|pgpass|npmrc|yarnrc|pypirc|htpasswd|git-credentials|s3cfg|boto"
    r"|my\.cnf|vault-token|dockercfg)|_netrc|id_(?:rsa|dsa|ecdsa|ed25519)(?:_sk)?|kubeconfig"
    r"|(?:.*[._-])?(?:secrets?|credentials?|passwords?)(?:[._-].*)?\.(?:json|ya?ml|toml|ini|txt|env|properties)"
    r"|credentials|service[_-]?account.*\.json|.*\.(?:pem|key|p12|pfx|jks|keystore|kdbx|ppk|asc|gpg|tfvars)",
    re.IGNORECASE,
)


def holds_secrets(path: str) -> bool:
    """Whether a file of that name is kept for the secrets in it: `.env`, `id_rsa`, `credentials.json`."""
    name = path.rpartition("/")[2]
    return _NAMES.fullmatch(name) is not None and not name.casefold().endswith(_SAMPLES)
