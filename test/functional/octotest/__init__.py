# SPDX-License-Identifier: BSD-3-Clause
"""Library of the functional tests: processes, packets, networks, telemetry."""
