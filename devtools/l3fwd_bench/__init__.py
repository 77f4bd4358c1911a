# SPDX-License-Identifier: BSD-3-Clause
"""./octo bench l3fwd: l3fwd over the near PF, the far one, both as an octo port, and bonded."""
