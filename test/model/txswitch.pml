/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Tx switch: a queue that sends by one PF goes to the other and back. The sender may
 * fall silent at any time; then the control thread brings the queue to the new PF.
 */

#define PKTS 4
#define SWITCHES 2
#define NO_PF 2
#define RING 1
#define STASH 2

chan ring[2] = [RING] of { byte }; /* of each PF; what has left it is on the wire */
chan stash = [STASH] of { byte };

byte via = 0; /* PF that bursts go by; NO_PF: on the way to another */
bit home = 0;
bit to = 0;
bool hold = false; /* the old PF gets nothing any more */
bool locked = false;

byte given = 0; /* packets of the application's that were taken */
byte wire = 0;

proctype nic(bit pf)
{
	byte p;

end:	do
	:: atomic { ring[pf]?p -> assert(p == wire); wire++; p = 0 }
	od
}

inline lock()
{
	atomic { !locked -> locked = true }
}

/* To the new PF, in order, what has waited for it. */
inline flush()
{
	do
	:: atomic { len(stash) > 0 && len(ring[home]) < RING -> stash?p; ring[home]!p; p = 0 }
	:: else -> break
	od
}

/* May the queue leave its old PF? */
#ifdef NO_DRAIN
#define drained true
#else
#define drained (len(ring[home]) == 0)
#endif

/* Brings the queue nearer to its new PF; pf: who can have packets now. */
inline advance()
{
	pf = NO_PF;
	if
	:: to != home && drained -> home = to
	:: to != home && !drained && !hold -> pf = home
	:: to != home && !drained -> hold = true
	:: to == home
	fi;
	if
	:: to == home ->
		flush();
		if
#ifdef NO_FLUSH_FIRST
		:: true -> pf = home; hold = false; via = home
#else
		:: len(stash) == 0 -> pf = home; hold = false; via = home
		:: else
#endif
		fi
	:: else
	fi
}

/* A ring that is full refuses; so does a stash. */
inline send_by(pf)
{
	if
	:: atomic { len(ring[pf]) < RING -> ring[pf]!given; given++ }
	:: else
	fi
}

inline put_aside()
{
	if
	:: atomic { len(stash) < STASH -> stash!given; given++ }
	:: else
	fi
}

proctype sender()
{
	byte p, pf, switches = 0;

	do
	:: given < PKTS && via != NO_PF -> pf = via; send_by(pf); pf = 0
	:: via != NO_PF && switches < SWITCHES ->
		/* follow_sender() */
		switches++;
		to = 1 - home;
		via = NO_PF
	:: given < PKTS && via == NO_PF ->
#ifndef NO_LOCK
		lock();
#endif
		advance();
		if
		:: pf != NO_PF -> send_by(pf)
		:: else -> put_aside()
		fi;
		pf = 0;
		locked = false
	:: given == PKTS -> break
	od
}

/* The control thread's tick. */
proctype control()
{
	byte p, pf;

end:	do
#ifndef NO_TICK
	:: via == NO_PF ->
#ifndef NO_LOCK
		lock();
#endif
		if
		:: via == NO_PF -> advance()
		:: else
		fi;
		pf = 0;
		locked = false
#else
	:: false
#endif
	od
}

init { atomic { run nic(0); run nic(1); run sender(); run control() } }

/* What was taken is sent, also if the application never sends again. */
ltl sends { <> (wire == PKTS) }
