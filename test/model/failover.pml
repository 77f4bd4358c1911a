/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Failover during a move: PF number DIES, the one that the flow came by or the one
 * that it is to come by, dies at any time. Only what it has is lost.
 */

#ifndef DIES
#define DIES 0
#endif
#include "move.pml"
