/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Devices named by an environment variable, for applications that build EAL's arguments
 * themselves and pass no --vdev for octo.
 */

#include <stdlib.h>

#include <dev_driver.h>
#include <rte_devargs.h>

#include "octo_private.h"
#include "octo_startup.h"

#define VARIABLE "OCTO_VDEVS"
#define MAX_LEN 16384
#define MAX_NAME RTE_STR(RTE_DEV_NAME_MAX_LEN)
#define GAPS " \t\n;"
#define UNUSED "; none of it is used"

struct entries {
	unsigned int nb;
	const char *text[RTE_MAX_ETHPORTS];
};

static size_t
name_len(const char *entry)
{
	return strcspn(entry, ",");
}

static bool
is_of_same_name(const char *one, const char *other)
{
	return name_len(one) == name_len(other) && strncmp(one, other, name_len(one)) == 0;
}

static bool
is_on_command_line(const char *entry)
{
	const struct rte_devargs *da;

	RTE_EAL_DEVARGS_FOREACH("vdev", da)
		if (is_of_same_name(entry, da->name))
			return true;
	return false;
}

static bool
is_repeated(const struct entries *all, unsigned int i)
{
	for (unsigned int j = 0; j < i; j++)
		if (is_of_same_name(all->text[i], all->text[j]))
			return true;
	return false;
}

/* Octo ports, and PFs of the simulator; other devices belong into EAL's own arguments. */
static bool
is_ours(const char *entry)
{
	static const char simulator[] = "net_mpsim";

	return strncmp(entry, OCTO_DRIVER_NAME, strlen(OCTO_DRIVER_NAME)) == 0 ||
	       strncmp(entry, simulator, strlen(simulator)) == 0;
}

/* Returns why EAL must not get the entry, or NULL. */
static const char *
refusal(const struct entries *all, unsigned int i)
{
	const char *entry = all->text[i];

	if (!is_ours(entry))
		return "a device whose name begins with " OCTO_DRIVER_NAME " is expected, as in "
		       "net_octo0,pf=0000:17:00.0,pf=0000:65:00.0";
	if (name_len(entry) >= RTE_DEV_NAME_MAX_LEN)
		return "a name of less than " MAX_NAME " characters is expected";
	if (is_on_command_line(entry))
		return "the command line has a device of that name";
	if (is_repeated(all, i))
		return "each name is expected once";
	return NULL;
}

static bool
check(const struct entries *all)
{
	for (unsigned int i = 0; i < all->nb; i++) {
		const char *entry = all->text[i];
		const char *why = refusal(all, i);

		if (why == NULL)
			continue;
		OCTO_LOG(ERR, VARIABLE ": \"%.*s\": %s" UNUSED,
			 (int)RTE_MIN(name_len(entry), (size_t)RTE_DEV_NAME_MAX_LEN), entry, why);
		return false;
	}
	return true;
}

static bool
split(char *text, struct entries *all)
{
	char *rest = NULL;

	all->nb = 0;
	for (char *entry = strtok_r(text, GAPS, &rest); entry != NULL;
	     entry = strtok_r(NULL, GAPS, &rest)) {
		if (all->nb == RTE_DIM(all->text)) {
			OCTO_LOG(ERR, VARIABLE ": at most %zu devices are expected" UNUSED,
				 RTE_DIM(all->text));
			return false;
		}
		all->text[all->nb++] = entry;
	}
	return true;
}

static void
add(const struct entries *all)
{
	for (unsigned int i = 0; i < all->nb; i++)
		if (rte_devargs_add(RTE_DEVTYPE_VIRTUAL, all->text[i]) != 0)
			OCTO_LOG(ERR, VARIABLE ": \"%.*s\": EAL does not take it",
				 (int)name_len(all->text[i]), all->text[i]);
	if (all->nb > 0)
		OCTO_LOG(NOTICE, VARIABLE ": devices as of --vdev: %u", all->nb);
}

/*
 * Pass the devices to EAL as if the command line had them; devices of the command line take
 * precedence. All are added, or none if any entry is invalid. secure_getenv(): a program with
 * more rights than its user ignores the variable.
 */
void
octo_environment_add(void)
{
	const char *value = secure_getenv(VARIABLE);
	struct entries all;
	char *text;

	if (value == NULL)
		return;
	if (strnlen(value, MAX_LEN + 1) > MAX_LEN) {
		OCTO_LOG(ERR, VARIABLE ": at most %d characters are expected" UNUSED, MAX_LEN);
		return;
	}
	text = strdup(value);
	if (text == NULL)
		OCTO_LOG(ERR, VARIABLE ": no memory is left" UNUSED);
	else if (split(text, &all) && check(&all))
		add(&all);
	free(text);
}
