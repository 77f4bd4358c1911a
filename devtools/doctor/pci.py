# SPDX-License-Identifier: BSD-3-Clause
"""What bytes of PCI devices mean. Pure: bytes and text in, values out."""

import re

from .text import printable

EXTENDED_START = 0x100  # PCIe: extended capabilities follow the first 256 bytes
CONFIG_SIZE = 0x1000
CAP_SERIAL_NUMBER = 0x0003
READABLE_BY_ALL = 64  # bytes of config space that Linux shows to users other than root

MOST_NAME = 255  # bytes of a product's name that are looked at
VPD_NAME, VPD_READ_ONLY, VPD_END = 0x82, 0x90, 0x78


def _extended_capabilities(config):
    """Offsets by id. Each has a header: id of 16 bits, version of 4, next offset of 12."""
    found, visited, offset = {}, set(), EXTENDED_START
    while EXTENDED_START <= offset <= len(config) - 4 and offset not in visited:
        header = int.from_bytes(config[offset:offset + 4], "little")
        if header in (0, 0xffffffff):
            break
        visited.add(offset)
        found.setdefault(header & 0xffff, offset)
        offset = header >> 20 & ~3
    return found


def is_telling(serial):
    """Is it a serial number, and not what a vendor left blank?"""
    digits = re.sub(r"[^0-9a-zA-Z]", "", serial or "").lower()
    return len(set(digits)) > 2 and digits not in ("na", "none", "unknown")


def serial_number(config):
    """The Device Serial Number capability, written as lspci writes it, or None."""
    offset = _extended_capabilities(config or b"").get(CAP_SERIAL_NUMBER)
    if offset is None or offset + 12 > len(config):
        return None
    serial = config[offset + 4:offset + 12][::-1].hex("-")
    return serial if is_telling(serial) else None


def _text(data):
    return printable(data.decode(errors="replace").strip("\0 "))


def _vpd_fields(data):
    """Keyword of two letters, length of one byte, value."""
    fields, at = {}, 0
    while at + 3 <= len(data):
        keyword, length = data[at:at + 2], data[at + 2]
        value = data[at + 3:at + 3 + length]
        if not keyword.isalnum() or len(value) < length:
            break
        fields[keyword.decode()] = _text(value)
        at += 3 + length
    return fields


def parse_vpd(data):
    """Vital product data: the read-only fields, with the product's name as "name"."""
    fields, at = {}, 0
    while data and at + 3 <= len(data) and data[at] != VPD_END:
        tag, length = data[at], int.from_bytes(data[at + 1:at + 3], "little")
        if tag < 0x80:
            break
        body = data[at + 3:at + 3 + length]
        if tag == VPD_NAME:
            fields["name"] = _text(body)[:MOST_NAME]
        elif tag == VPD_READ_ONLY:
            fields.update(_vpd_fields(body))
        at += 3 + length
    return fields


def parse_speed(text):
    """GT/s of "8.0 GT/s PCIe"; None of "Unknown"."""
    match = re.match(r"([0-9]{1,4}(\.[0-9]{1,4})?) GT/s", text or "")
    return float(match[1]) if match else None


def parse_width(text):
    """Lanes; None without a link, which some kernels tell by 0 and some by 63 or 255."""
    lanes = int(text) if re.fullmatch(r"[0-9]{1,3}", text or "") else 0
    return lanes if lanes in (1, 2, 4, 8, 12, 16, 32) else None


def lanes_of_board(vpd):
    """The lanes that the board itself has, by the field V0 of NVIDIA's: "PCIeGen4 x16"."""
    match = re.search(r"PCIe.* x([0-9]{1,3})$", vpd.get("V0", ""))
    return int(match[1]) if match else None


def slot_of(address):
    """Domain, bus and device: functions of one slot are one device."""
    return address.rpartition(".")[0]


def function_of(address):
    """The number behind the dot."""
    return int(address.rpartition(".")[2], 16)
