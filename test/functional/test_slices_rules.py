# SPDX-License-Identifier: BSD-3-Clause
"""Rules, telemetry and other programs: their tests, run over slices of one port."""

import pytest

from octotest import slices


@pytest.mark.many(short=2)
@pytest.mark.parametrize("file", slices.RULES)
def test_over_slices(file):
    """Each passes as it does over PFs."""
    slices.run(file, slices.RULES[file])
