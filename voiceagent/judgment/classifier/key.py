"""Which key a classifier far away is sent."""

import os
from dataclasses import dataclass
from typing import Final

from voiceagent.errors import ConfigError

NO_KEY: Final = "none"


@dataclass(frozen=True, slots=True)
class Vendor:
    """A classifier's class, and the variables of the environment that hold its vendor's key and address."""

    classifier: str
    key: str
    address: str


def key_for(vendor: Vendor, api_key: str | None, base_url: str | None) -> str:
    """`api_key`; or the environment's, which goes to the vendor's address or the environment's own, never to a `base_url`; or
    none where a server of one's own is named. Raises ConfigError, without the key in it, for a missing one or one that no header
    can hold."""
    key = (api_key or ("" if base_url is not None else os.environ.get(vendor.key, ""))).strip()
    if not key:
        if base_url is not None or os.environ.get(vendor.address, "").strip():
            return NO_KEY
        raise ConfigError(
            f"{vendor.classifier} has no key: set {vendor.key} or give api_key=; or name a server of yours by base_url= "
            "([judgment] classifier_url in the settings)"
        )
    if not key.isascii() or not key.isprintable() or " " in key:
        raise ConfigError(f"the key for {vendor.classifier} holds blanks or letters that no key has")
    return key
