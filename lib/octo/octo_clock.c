/* SPDX-License-Identifier: BSD-3-Clause */

#include <eal_export.h>
#include <rte_alarm.h>

#include "octo_clock.h"

RTE_EXPORT_INTERNAL_SYMBOL(octo_clock)
const struct octo_clock *octo_clock;

RTE_EXPORT_INTERNAL_SYMBOL(octo_sleep_us)
void
octo_sleep_us(uint64_t us)
{
	if (likely(octo_clock == NULL))
		rte_delay_us_sleep(us);
	else
		octo_clock->sleep_us(us);
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_spin_us)
void
octo_spin_us(unsigned int us)
{
	if (likely(octo_clock == NULL))
		rte_delay_us_block(us);
	else
		octo_clock->sleep_us(us);
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_alarm_set)
int
octo_alarm_set(uint64_t us, void (*fn)(void *arg), void *arg)
{
	return likely(octo_clock == NULL || us <= 1) ? rte_eal_alarm_set(us, fn, arg) :
						       octo_clock->alarm(us, fn, arg);
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_wait_end)
struct timespec
octo_wait_end(uint64_t us)
{
	struct timespec end;

	clock_gettime(CLOCK_REALTIME, &end);
	us += (uint64_t)end.tv_nsec / 1000;
	end.tv_sec += (time_t)(us / US_PER_S);
	end.tv_nsec = (long)(us % US_PER_S * 1000);
	return end;
}
