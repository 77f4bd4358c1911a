/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Rehome: a queue with one consumer goes from one PF to the other and back while
 * its flow does not stop. Before that another flow is rehomed the same way, so
 * that the fence is armed again while it is open, or being closed.
 */

#define ONE_QUEUE
#include "nic.pml"

/* The fence of the queue. */
byte held = 0; /* bit per leg */
bit turn = 0; /* which arming these are of */
byte flipped = NEVER; /* when; NEVER: under way */

/* The in-burst epoch; awaited: somebody waits for the end of this burst. */
bool inside = false;
bool awaited = false;

/* The consumer's own. */
byte noted = NEVER; /* when `may_take` packets were in the held leg's ring */
bool past_flip = false; /* the old leg is drained as of the grace time after the flips */
bool past_note = false; /* and after the note */
byte may_take = 0;

bool finished = false;

proctype clock()
{
end:	do
	:: atomic { tick_nic(); grow(flipped); grow(noted) }
	od
}

/* What the application gets: in order, or the fence is wrong. */
inline take(leg)
{
	RING(0, leg)?p;
	assert(p == expected);
	expected++;
	p = 0;
	room--
}

inline poll(leg)
{
	atomic {
		do
		:: room > 0 && len(RING(0, leg)) > 0 -> take(leg)
		:: else -> break
		od
	}
}

/* An empty poll says that what was there when it began is with the application. */
inline drain(leg)
{
	atomic {
		past_flip = is_past(flipped);
		past_note = is_past(noted)
	};
	atomic {
		poll(leg);
		if
		:: room > 0
		:: else -> past_flip = false; past_note = false
		fi
	}
}

/* May the consumer have everything? Not if the fence was armed again meanwhile. */
inline release(leg)
{
	if
	:: past_flip ->
		atomic {
#ifdef NO_TURN
			held = 0
#else
			held = (turn == turn_read -> 0 : held)
#endif
		}
	:: else
	fi
}

/*
 * While rules are flipped: what was in the held leg when it was looked at may be
 * taken once the old leg was seen empty a grace time later.
 */
inline merge(leg)
{
	if
	:: may_take > 0 && past_note ->
		atomic {
			do
			:: may_take > 0 && room > 0 && len(RING(0, leg)) > 0 -> take(leg); may_take--
			:: else -> break
			od
		}
	:: may_take > 0 && !past_note
	:: may_take == 0 ->
#ifdef STAMP_FIRST
		atomic { noted = 0; past_note = false };
		may_take = len(RING(0, leg))
#else
		may_take = len(RING(0, leg));
		atomic { noted = 0; past_note = false }
#endif
	fi;
	noted = (may_take == 0 -> NEVER : noted)
}

inline forget_note()
{
#ifdef KEEP_NOTE
	skip
#else
	may_take = 0;
	noted = NEVER
#endif
}

proctype consumer()
{
	byte p, room, held_read;
	bit turn_read, turn_known = 0;

end:	do
	:: atomic {
		inside = true;
		held_read = held;
		turn_read = turn;
		if :: room = 1 :: room = 2 fi;
		if
		:: turn_read != turn_known -> turn_known = turn_read; forget_note()
		:: else
		fi };
		if
		:: held_read == 0 -> poll(0); poll(1)
		:: held_read == 0 -> poll(1); poll(0)
		:: held_read == 1 -> drain(1); release(0); merge(0)
		:: held_read == 2 -> drain(0); release(1); merge(1)
		fi;
		atomic { inside = false; awaited = false; past_flip = false; past_note = false; room = 0; held_read = 0; turn_read = 0 }
	od
}

/* Every burst that may not know of the fence is over. */
inline await_burst()
{
#ifdef NO_AWAIT
	skip
#else
	awaited = inside;
	!awaited
#endif
}

inline arm(leg)
{
	atomic { flipped = NEVER; past_flip = false };
	atomic { held = 1 << leg; turn = 1 - turn };
	await_burst()
}

/* The rules lead the new way. */
inline set_flipped()
{
	atomic { flipped = 0; past_flip = false }
}

/* Another kind of fence is armed only when this one is closed. */
inline sweep()
{
	(held == 0)
}

proctype control()
{
	/* another flow, whose rules do not matter to this one */
	arm(1);
	set_flipped();
	arm(1);
	mpfs = 1;
#ifndef NO_FLIPPED
	set_flipped();
#endif
	sweep();
	arm(0);
	mpfs = 0;
	set_flipped();
	sweep();
	finished = true
}

init { atomic { run clock(); run consumer(); run control() } }

/* The flow arrives, whatever happens to its rules, and no fence stays closed. */
ltl arrives { <> (finished && expected == PKTS) }
