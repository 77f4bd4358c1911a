/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * What the models of the fence share: a NIC of two PFs that carries one flow, and time.
 *
 * A packet is its number. The switch (MPFS) sends it to a PF when it comes from the
 * wire; there it is in a pipeline, meets the rule that picks its queue (ARFS), and
 * comes into that queue's ring within the grace time.
 *
 * Time: a stamp is kept as its age in ticks, so that what has no end has finitely
 * many states. What is in a pipeline at one tick is out of it at the next: what
 * is two ticks old is older than the grace time.
 *
 * "All that was in that ring at time T is with the application" (as_of) matters for
 * one question only, whether T is the grace time after some event. So the answer is
 * kept, taken at T, and is no again when the event is replaced by a later one.
 */

#ifndef PKTS
#define PKTS 3
#endif
#ifdef NO_GRACE
#define GRACE 0
#else
#define GRACE 2
#endif
/* the age of what has not happened yet */
#define NEVER 15

#define RING(q, pf) ring[(q) * 2 + (pf)]

chan before_arfs[2] = [PKTS] of { byte };
chan after_arfs[2] = [PKTS] of { byte, bit };
chan ring[4] = [PKTS] of { byte };

bit mpfs = 0; /* the PF that the flow is sent to */
bit arfs[2] = 0; /* the queue, on each PF */
byte sent = 0;
byte lost = 0; /* with a PF that died */
bool dead[2] = false;
byte late[2] = 0; /* packets that were in the pipeline at the last tick */

byte expected = 0; /* the packet that the application must get next */

/* Has the grace time gone by since? Older ages are one. */
#define is_past(age) (age != NEVER && age >= GRACE)
#define grow(age) age = (age < 2 -> age + 1 : age)

/* One tick of the NIC's: what was in a pipeline at the last one has left it. */
#define tick_nic() \
	late[0] == 0 && late[1] == 0 -> \
	late[0] = len(before_arfs[0]) + len(after_arfs[0]); \
	late[1] = len(before_arfs[1]) + len(after_arfs[1])

#ifdef ONE_QUEUE
#define classify(pf) false
#define enter(pf) after_arfs[pf]!sent, 0
#else
#define classify(pf) before_arfs[pf]?p
#define enter(pf) before_arfs[pf]!sent
#endif

active proctype nic()
{
	byte p;
	bit q;

end:	do
	:: atomic { sent < PKTS && !dead[mpfs] -> enter(mpfs); sent++ }
	:: atomic { sent < PKTS && dead[mpfs] -> sent++; lost++ }
	:: atomic { classify(0) -> after_arfs[0]!p, arfs[0]; p = 0 }
	:: atomic { classify(1) -> after_arfs[1]!p, arfs[1]; p = 0 }
	:: atomic { after_arfs[0]?p, q -> RING(q, 0)!p; late[0] = (late[0] > 0 -> late[0] - 1 : 0); p = 0; q = 0 }
	:: atomic { after_arfs[1]?p, q -> RING(q, 1)!p; late[1] = (late[1] > 0 -> late[1] - 1 : 0); p = 0; q = 0 }
	od
}

/* A PF is no more, nor what is in its pipeline; what is in its rings may come out yet. */
inline die(pf)
{
	atomic {
		dead[pf] = true;
		lost = lost + len(before_arfs[pf]) + len(after_arfs[pf]);
		late[pf] = 0;
		do
		:: len(before_arfs[pf]) > 0 -> before_arfs[pf]?_
		:: len(before_arfs[pf]) == 0 && len(after_arfs[pf]) > 0 -> after_arfs[pf]?_, _
		:: len(before_arfs[pf]) + len(after_arfs[pf]) == 0 -> break
		od
	}
}
