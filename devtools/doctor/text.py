# SPDX-License-Identifier: BSD-3-Clause
"""Text of devices and captures, which may come from anybody. Pure."""


def printable(text, also=""):
    """ASCII without control characters, which a terminal may obey; the rest becomes "?"."""
    return "".join(c if " " <= c <= "~" or c in also else "?" for c in text)
