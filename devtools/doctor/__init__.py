# SPDX-License-Identifier: BSD-3-Clause
"""./octo doctor: which NICs of a machine are multi-PF, and what is in their way."""

import sys

if sys.version_info < (3, 9):  # before anything that older ones cannot read
    sys.exit("octo: doctor needs Python 3.9 or newer, and python3 is " + sys.version.split()[0])
