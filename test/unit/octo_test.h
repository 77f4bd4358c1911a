/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_TEST_H
#define OCTO_TEST_H

/* cmocka.h needs these four before it */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#endif /* OCTO_TEST_H */
