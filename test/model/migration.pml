/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Migration: tier partition, two PFs with a queue at home on each. The home of queue 1 becomes
 * PF 0: flows without rules go between the queues, both ways, in two steps.
 *
 * The switch sends bucket 0 of the traffic to PF 0, bucket 1 to PF 1; there an entry of the
 * RETA picks the queue. Each flow is in one bucket and one entry:
 *
 *    flow 0: bucket 0, goes from queue 0 to queue 1 when PF 0's RETA changes (first step)
 *    flow 1: bucket 1, goes from queue 1 on PF 1 to queue 0 on PF 0 (second step)
 *    flow 2: bucket 1, stays in queue 1, but comes by PF 0 (second step)
 *
 * In one step queue 0 would wait for a leg of its own that it holds.
 *
 * In either step no leg both loses flows and gets some; the queues do. Time is as in
 * nic.pml: a packet is in a pipeline for less than two ticks.
 */

#ifdef NO_GRACE
#define GRACE 0
#else
#define GRACE 2
#endif
#define NEVER 15

#define LEG(q, pf) ((q) * 2 + (pf))
#define LEGS 4
#define is_past(age) (age != NEVER && age >= GRACE)

/* One of the flows sends, whichever that is: none knows of the others. A packet is its number. */
#define PKTS 2

/* What the PFs have been told. */
bit bucket1 = 1; /* PF of bucket 1 */
bit entry = 0; /* queue of flow 0 in PF 0's RETA, where flow 1 is in queue 0, flow 2 in queue 1 */

byte flow = 0;
byte sent = 0;
byte due = 0; /* what the application must get next */

/* On its way into the ring of a leg, and there. */
chan pipe[LEGS] = [PKTS] of { byte };
chan ring[LEGS] = [PKTS] of { byte };
byte late[LEGS] = 0; /* packets that were on their way at the last tick */

/* The fence: legs that are held, and for which of its own and others' each queue waits. */
bool held[LEGS] = false;
bool drains[LEGS] = false;
bit turn[2] = 0;
byte flipped = NEVER;

/* Is what came before the flips with the application? Known; told to the other queue. */
bool past[LEGS] = false;
bool told[LEGS] = false;

chan batch[2] = [PKTS] of { byte }; /* what the last burst returned */

bool inside[2] = false;
bool awaited[2] = false;
bool finished = false;

inline grow(age)
{
	age = (age < GRACE -> age + 1 : age)
}

proctype clock()
{
end:	do
	:: atomic {
		late[0] == 0 && late[1] == 0 && late[2] == 0 && late[3] == 0 ->
		late[0] = len(pipe[0]);
		late[1] = len(pipe[1]);
		late[2] = len(pipe[2]);
		late[3] = len(pipe[3]);
		grow(flipped)
	}
	od
}

/* The leg that the next packet of the flow comes by. */
#define PATH (flow == 0 -> LEG(entry, 0) : (bucket1 == 1 -> LEG(1, 1) : (flow == 1 -> LEG(0, 0) : LEG(1, 0))))

inline arrive(leg)
{
	atomic { pipe[leg]?n -> ring[leg]!n; late[leg] = (late[leg] > 0 -> late[leg] - 1 : 0); n = 0 }
}

proctype nic()
{
	byte n;

end:	do
	:: atomic { sent < PKTS -> n = PATH; pipe[n]!sent; n = 0; sent++ }
	:: arrive(0)
	:: arrive(1)
	:: arrive(2)
	:: arrive(3)
	od
}

/* What a leg has goes to the application, with the burst: in order, or the fence is wrong. */
inline poll(l0)
{
	do
	:: len(ring[l0]) > 0 -> ring[l0]?n; batch[q]!n; n = 0
	:: else -> break
	od
}

/* An empty poll says that what was there when it began will be with the application. */
inline drain(l0)
{
	poll(l0);
	past[l0] = past[l0] || is_past(flipped)
}

/* Of its own legs a queue knows at once; of others' what they tell when they poll again. */
#define MINE(l0) (!drains[l0] || past[l0])
#define THEIRS(l0) (!drains[l0] || told[l0])
#define WAITS(l0, l1) (!THEIRS(l0) || !THEIRS(l1))

inline release()
{
	if
	:: flipped != NEVER && MINE(LEG(q, 0)) && MINE(LEG(q, 1)) && !(WAITS(LEG(1 - q, 0), LEG(1 - q, 1))) ->
		d_step {
			if
			:: turn[q] == turn_read -> held[LEG(q, 0)] = false; held[LEG(q, 1)] = false
			:: else
			fi
		}
	:: else
	fi
}

/* The burst has returned, and the application works on what it got. */
inline deliver()
{
	do
	:: nempty(batch[q]) ->
		batch[q]?n;
		assert(n == due);
		due++;
		n = 0
	:: empty(batch[q]) -> break
	od
}

proctype consumer(bit q)
{
	byte n;
	bool hold0, hold1;
	bit turn_read;

end:	do
	:: atomic {
		inside[q] = true;
		told[LEG(q, 0)] = past[LEG(q, 0)];
		told[LEG(q, 1)] = past[LEG(q, 1)];
		hold0 = held[LEG(q, 0)];
		hold1 = held[LEG(q, 1)];
		turn_read = turn[q]
	};
		atomic {
			if
			:: !hold0 -> drain(LEG(q, 0))
			:: else
			fi;
			if
			:: !hold1 -> drain(LEG(q, 1))
			:: else
			fi
#ifdef NO_NEXT_BURST
			;
			told[LEG(q, 0)] = past[LEG(q, 0)];
			told[LEG(q, 1)] = past[LEG(q, 1)]
#endif
		};
		atomic {
			if
			:: hold0 || hold1 -> release()
			:: else
			fi;
			inside[q] = false; awaited[q] = false; hold0 = false; hold1 = false; turn_read = 0
		};
		atomic { deliver() }
	od
}

inline arm(held_of_0, held_of_1, drained)
{
	atomic {
		flipped = NEVER;
		past[0] = false; past[1] = false; past[2] = false; past[3] = false;
		told[0] = false; told[1] = false; told[2] = false; told[3] = false;
		drains[0] = drained & 1; drains[1] = drained >> 1 & 1;
		drains[2] = drained >> 2 & 1; drains[3] = drained >> 3 & 1
	};
	atomic { held[LEG(0, 0)] = held_of_0; turn[0] = turn[0] ^ held_of_0 };
	atomic { held[LEG(1, 0)] = held_of_1; turn[1] = turn[1] ^ held_of_1 };
#ifndef NO_AWAIT
	atomic { awaited[0] = inside[0]; awaited[1] = inside[1] };
	!awaited[0] && !awaited[1];
#endif
	skip
}

inline close()
{
	flipped = 0;
#ifndef NO_WAIT
	!held[0] && !held[1] && !held[2] && !held[3];
#endif
	skip
}

proctype control()
{
#ifdef ONE_STEP
	arm(1, 1, 1 << LEG(0, 0) | 1 << LEG(1, 1));
	entry = 1;
	bucket1 = 0;
	close();
#else
	/* queue 1 gets some of what queue 0 has on PF 0 */
	arm(0, 1, 1 << LEG(0, 0));
	entry = 1;
	close();
	/* all that comes by PF 1, for queue 1, comes by PF 0, for both */
	arm(1, 1, 1 << LEG(1, 1));
	bucket1 = 0;
	close();
#endif
	finished = true
}

init {
	atomic {
		if
		:: flow = 0
		:: flow = 1
		:: flow = 2
		fi;
		run nic();
		run clock();
		run consumer(0);
		run consumer(1);
		run control()
	}
}

/* Everything arrives, and no step waits for ever. */
ltl arrives { <> (finished && due == PKTS) }
