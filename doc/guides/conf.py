# SPDX-License-Identifier: BSD-3-Clause
"""Sphinx configuration of the guides."""

import re
from pathlib import Path

_meson = (Path(__file__).resolve().parents[2] / "meson.build").read_text(encoding="utf-8")

project = "net_octo"
author = "The net_octo authors"
project_copyright = "2026, The net_octo authors"
version = release = re.search(r"version: '([^']+)'", _meson).group(1)

highlight_language = "none"
html_theme = "alabaster"
html_theme_options = {"description": "The PFs of a multi-PF NIC as one DPDK port",
                      "page_width": "1000px"}
html_show_sourcelink = False
