/* SPDX-License-Identifier: BSD-3-Clause */

/* What each file of testpmd includes, compiled once: reading it takes half of a file's time. */

#include "testpmd.h"
