/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Move: the rule of a flow leads to a queue of another consumer, whose home is the other
 * PF; then it leads back. SILENT: the first consumer stops polling at some time,
 * for good or until it has been given up. ENDS: the rule is destroyed instead, and RSS
 * puts the flow into the other queue, by the PF that the switch gives it to now: either.
 */

#define PKTS 2
#include "nic.pml"

bool live[2] = true; /* published: the legs on this PF may be used */

/* The fence of each queue. */
bool held[2] = false; /* all its legs */
bit turn[2] = 0; /* which arming that is of */
bool is_source[2] = false;
/* of the one fence that is open: when; NEVER: under way */
byte flipped = NEVER;

/* Each queue's in-burst epoch; awaited: somebody waits for the end of this burst. */
bool inside[2] = false;
bool awaited[2] = false;

/* The destination's own. */
byte noted = NEVER; /* when `may_take` packets were in its legs' rings */
byte may_take[2] = 0;

/*
 * The source's, bit 0: drained as of the grace time after the flips; bit 1: after the
 * note. By leg; of the queue, to be published; published.
 */
byte past[2] = 0; /* of each queue's poll that is under way */
byte leg_past[2] = 0;
byte pending = 0;
byte drained = 0;

#define PAST_FLIP 1
#define PAST_NOTE 2
#define PAST_ALL 3

#ifdef ENDS
byte let_go = NEVER; /* when the switch lost the rule */
#endif

chan batch[2] = [2] of { byte }; /* what the last burst returned */
byte delivered = 0;
byte due = 0; /* what the application must get next, unless it is lost */
byte timeouts = 0;
bool stopped = false;
bool finished = false;

proctype clock()
{
end:	do
#ifdef ENDS
	:: atomic { tick_nic(); grow(flipped); grow(noted); grow(let_go) }
#else
	:: atomic { tick_nic(); grow(flipped); grow(noted) }
#endif
	od
}

/* The flips, or the note, are later than all that was found before. */
inline renew(bits)
{
	past[0] = past[0] & ~(bits);
	past[1] = past[1] & ~(bits);
	leg_past[0] = leg_past[0] & ~(bits);
	leg_past[1] = leg_past[1] & ~(bits);
	pending = pending & ~(bits);
	drained = drained & ~(bits)
}

inline take(q, leg)
{
	RING(q, leg)?p;
	batch[q]!p;
	p = 0;
	room--
}

inline poll(q, leg)
{
	do
	:: live[leg] && room > 0 && len(RING(q, leg)) > 0 -> take(q, leg)
	:: else -> break
	od
}

/* An empty poll says that what was there when it began will be with the application. */
inline drain(q, leg)
{
	if
	:: live[leg] -> begin_drain(q, leg)
	:: else
	fi
}

inline begin_drain(q, leg)
{
	atomic { past[q] = (is_past(flipped) -> PAST_FLIP : 0) | (is_past(noted) -> PAST_NOTE : 0) };
	atomic {
		poll(q, leg);
		if
		:: room > 0 -> leg_past[leg] = past[q]
		:: else
		fi;
		past[q] = 0
	}
}

/* At the end of a burst that drained some: it is published when the next one begins. */
inline leave_drained(q)
{
	atomic {
#ifdef DEAD_IS_SOURCE
		pending = leg_past[0] & leg_past[1];
#else
		pending = (live[0] -> leg_past[0] : PAST_ALL) & (live[1] -> leg_past[1] : PAST_ALL);
#endif
#ifdef NO_NEXT_BURST
		drained = pending
#endif
	}
}

inline forget_note()
{
	may_take[0] = 0;
	may_take[1] = 0;
	noted = NEVER;
	renew(PAST_NOTE)
}

/* The source has not polled for so long that it may be given up. */
#ifdef NO_TIMEOUT
#define in_vain(q) false
#else
#define in_vain(q) (stopped && q == 1)
#endif

inline release(q)
{
	if
	:: (drained & PAST_FLIP) || in_vain(q) ->
		atomic {
			timeouts = ((drained & PAST_FLIP) || timeouts > 0 -> timeouts : 1);
#ifdef NO_TURN
			held[q] = false;
#else
			held[q] = (turn[q] == turn_read -> false : held[q]);
#endif
			forget_note()
		}
	:: else
	fi
}

inline merge_leg(q, leg)
{
	atomic {
		do
		:: live[leg] && may_take[leg] > 0 && room > 0 && len(RING(q, leg)) > 0 -> take(q, leg); may_take[leg]--
		:: else -> break
		od
	}
}

inline note(q)
{
	atomic { may_take[0] = len(RING(q, 0)); may_take[1] = len(RING(q, 1)) };
	atomic {
		noted = (may_take[0] + may_take[1] > 0 -> 0 : NEVER);
		renew(PAST_NOTE)
	}
}

inline merge(q)
{
	if
	:: may_take[0] + may_take[1] == 0 -> note(q)
	:: else ->
		if
		:: drained & PAST_NOTE -> merge_leg(q, 0); merge_leg(q, 1)
		:: else
		fi
	fi
}

/* The burst has returned, and the application works on what it got. */
inline deliver(q)
{
	do
	:: atomic {
		batch[q]?p ->
		assert(p == due || (p > due && (dead[0] || dead[1])) || timeouts > 0);
		due = p + 1;
		delivered++;
		p = 0;
		if
		:: empty(batch[q]) -> break
		:: nempty(batch[q])
		fi
	}
	od
}

inline enter_burst(q)
{
	inside[q] = true;
	if
	:: is_source[q] -> drained = pending
	:: else
	fi;
	held_read = held[q];
	turn_read = turn[q];
	room = 2;
	if
	:: turn_read != turn_known -> turn_known = turn_read; forget_note()
	:: else
	fi
}

proctype consumer(bit q)
{
	byte p, room;
	bool held_read;
	bit turn_read, turn_known = 0;

end:
again:	do
#ifdef SILENT
	:: atomic { q == 0 && !stopped && timeouts == 0 -> stopped = true };
		if
		:: atomic { timeouts > 0 -> stopped = false }
		:: false
		fi
#endif
	:: atomic { enter_burst(q) };
		if
		:: held_read -> release(q); if :: held[q] -> merge(q) :: else fi
		:: !held_read && is_source[q] -> drain(q, 0); drain(q, 1); leave_drained(q)
		:: atomic { !held_read && !is_source[q] -> poll(q, 0); poll(q, 1) }
		fi;
		atomic {
			inside[q] = false;
			awaited[q] = false;
			room = 0;
			held_read = false;
			turn_read = 0;
			if
			:: empty(batch[q]) -> goto again
			:: nempty(batch[q])
			fi
		};
		deliver(q)
	od
}

inline arm(from, to)
{
	atomic { flipped = NEVER; renew(PAST_FLIP) };
	atomic { is_source[from] = true; leg_past[0] = 0; leg_past[1] = 0; pending = 0; drained = 0 };
	atomic { held[to] = true; turn[to] = 1 - turn[to] };
#ifndef NO_AWAIT
	atomic { awaited[0] = inside[0]; awaited[1] = inside[1] };
	!awaited[0] && !awaited[1];
#endif
	skip
}

/* The rule of the PF that the flow is to come by, then the switch's, then the old PF's. */
inline place(to, pf)
{
	arfs[pf] = to;
#ifdef OLD_PF_EARLY
	arfs[1 - pf] = to;
#endif
	mpfs = pf;
	atomic { flipped = 0; renew(PAST_FLIP) };
	is_past(flipped);
	arfs[1 - pf] = to
}

#ifdef ENDS
/* The PF that the flow comes by loses the rule last: so its queue changes once. */
inline end_rule(to, pf)
{
#ifdef SWITCH_FIRST
	skip;
#else
	arfs[1 - pf] = to;
#endif
	if
	:: mpfs = pf
	:: mpfs = 1 - pf
	fi;
#ifndef NO_END_GRACE
	let_go = 0;
	is_past(let_go);
	let_go = NEVER;
#endif
	arfs[1 - pf] = to;
	arfs[pf] = to;
	atomic { flipped = 0; renew(PAST_FLIP) }
}
#endif

/* A queue must not be held by one fence and be a source of another. */
inline sweep(from, to)
{
	atomic {
		!held[to] ->
		is_source[from] = false;
		/* of no meaning any more: fewer states */
		flipped = NEVER;
		renew(PAST_FLIP)
	}
}

#ifdef DIES
proctype death()
{
	die(DIES)
}

/*
 * Its legs are published as down, every burst that may use them is over, and only then
 * do the flows go by the other PF. What is in its rings is lost.
 */
inline take_away(pf)
{
	dead[pf];
#ifdef FLIP_FIRST
	mpfs = 1 - pf;
#endif
	live[pf] = false;
	atomic { awaited[0] = inside[0]; awaited[1] = inside[1] };
	!awaited[0] && !awaited[1];
	atomic { lost = lost + len(RING(0, pf)) + len(RING(1, pf)); drop(RING(0, pf)); drop(RING(1, pf)) };
	mpfs = 1 - pf
}

inline drop(r)
{
	do
	:: len(r) > 0 -> r?_
	:: len(r) == 0 -> break
	od
}
#endif

proctype control()
{
	arm(0, 1);
#ifdef ENDS
	end_rule(1, 0);
#else
	place(1, 1);
#endif
#ifdef DIES
	take_away(DIES);
#endif
	sweep(0, 1);
#if !defined(SILENT) && !defined(DIES) && !defined(ENDS)
	arm(1, 0);
	place(0, 0);
	sweep(1, 0);
#endif
	finished = true
}

init {
	atomic {
		run clock();
		run consumer(0);
		run consumer(1);
		run control();
#ifdef DIES
		run death()
#endif
	}
}

/* Of a consumer that polls no more. */
#define NOT_ASKED_FOR (stopped * (len(RING(0, 0)) + len(RING(0, 1))))

/* The flow arrives, whatever happens to its rules, and no fence stays closed. */
ltl arrives { <> (finished && delivered + lost + NOT_ASKED_FOR == PKTS) }
