/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A PF is taken away while two threads poll: octo_epoch_enter(), octo_epoch_leave() and
 * octo_epoch_await(). A poller's store of the odd value is in its CPU's store buffer
 * for a while, and membarrier(2) is what empties that. Then it comes back as another port,
 * which a poller that was silent meanwhile must not miss: octo_call_keep(), octo_call_forget().
 */

#define POLLERS 2
#define BURSTS 2

bool live = true; /* published: the PF may be used */
bool usable = true; /* neither stopped nor unplugged */
byte epoch[POLLERS] = 0; /* as the other CPUs see it */
bool buffered[POLLERS] = false; /* the odd value is in the store buffer yet */
bool gone = false;
byte port = 0; /* that the PF has */
bool kept[POLLERS] = false; /* what the poller found of it is to be used again */

/* Loads may overtake the store, which leaves the buffer some time later. */
inline enter(me)
{
	own = (own + 1) | 1;
	buffered[me] = true
}

/* A release: whatever was stored before is visible before it. */
inline leave(me)
{
	own++;
	atomic { buffered[me] = false; epoch[me] = own }
}

/* By the short way, or the long one. */
inline call(me)
{
	if
	:: kept[me]
	:: else -> found = port; kept[me] = true
	fi;
	assert(usable);
	assert(usable && found == port)
}

proctype poller(byte me)
{
	byte own = 0, bursts = 0, found = 0;
	bool use;

	do
	:: bursts < BURSTS ->
		bursts++;
		enter(me);
		use = live;
		if
		:: use -> call(me)
		:: else -> kept[me] = false
		fi;
		use = false;
		leave(me)
	:: bursts == BURSTS -> break
	od
}

/* A store leaves its buffer at any time: also while the poller uses the PF. */
proctype buffer(byte me)
{
end:	do
	:: atomic { buffered[me] -> buffered[me] = false; epoch[me] = (epoch[me] + 1) | 1 }
	od
}

inline membarrier()
{
#ifndef NO_MEMBARRIER
	atomic {
		i = 0;
		do
		:: i < POLLERS ->
			epoch[i] = (buffered[i] -> (epoch[i] + 1) | 1 : epoch[i]);
			buffered[i] = false;
			i++
		:: else -> break
		od
	};
#endif
	i = 0
}

inline await()
{
	do
	:: i < POLLERS ->
		seen = epoch[i];
		(seen % 2 == 0 || epoch[i] != seen);
		i++
	:: else -> break
	od
}

inline forget()
{
	kept[0] = false;
	kept[1] = false
}

proctype control()
{
	byte i, seen;

	live = false;
	membarrier();
#ifndef NO_AWAIT
	await();
#endif
	usable = false;
	gone = true;
	port++;
	usable = true;
#ifndef NO_FORGET
	forget();
#endif
	live = true
}

init {
	atomic {
		run poller(0);
		run poller(1);
		run buffer(0);
		run buffer(1);
		run control()
	}
}

/* A poller that leaves its burst never keeps a PF from going. */
ltl goes { <> gone }
