/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <eal_export.h>
#include <rte_bitops.h>
#include <rte_common.h>

#include "octo_ethtool_client.h"
#include "octo_ethtool_io.h"
#include "octo_ethtool_table.h"

#define LIST_TRIES 3

int
octo_ethtool_ask(const struct octo_ethtool *et, void *request)
{
	return et->client != NULL ? octo_ethtool_client_io(et->client, request) :
				    octo_ethtool_io(et->fd, et->ifindex, request);
}

/* The rule at a location. -ENOENT: there is none; another errno: that is not known. */
static int
read_rule(const struct octo_ethtool *et, uint32_t location, struct ethtool_rx_flow_spec *fs)
{
	struct ethtool_rxnfc nfc = {.cmd = ETHTOOL_GRXCLSRULE, .fs.location = location};
	const int ret = octo_ethtool_ask(et, &nfc);

	*fs = nfc.fs;
	return octo_ethtool_is_free(ret) ? -ENOENT : ret;
}

bool
octo_ethtool_is_noted(const struct octo_ethtool_note *note, const struct ethtool_rx_flow_spec *fs)
{
	return octo_ethtool_same_flow(&note->fs, fs) &&
	       (fs->ring_cookie == note->fs.ring_cookie || fs->ring_cookie == note->queue_before);
}

/* 0: it is where it was noted; -ENOENT: it is not; another errno: that is not known. */
static int
find_rule(const struct octo_ethtool *et, const struct octo_ethtool_note *note)
{
	struct ethtool_rx_flow_spec fs;
	const int ret = read_rule(et, note->fs.location, &fs);

	return ret == 0 && !octo_ethtool_is_noted(note, &fs) ? -ENOENT : ret;
}

static void
set_taken(struct octo_ethtool *et, uint32_t location, bool taken)
{
	if (location >= et->room.size)
		return;
	if (taken)
		et->taken[location / 64] |= RTE_BIT64(location % 64);
	else
		et->taken[location / 64] &= ~RTE_BIT64(location % 64);
}

/* A list of as many rules as there are: mlx5 refuses to fill a longer one. */
static int
try_to_list_rules(const struct octo_ethtool *et, struct ethtool_rxnfc **list)
{
	struct ethtool_rxnfc count = {.cmd = ETHTOOL_GRXCLSRLCNT};
	struct ethtool_rxnfc *nfc;
	uint32_t nb;
	int ret = octo_ethtool_ask(et, &count);

	if (ret != 0)
		return ret;
	nb = RTE_MIN(count.rule_cnt, (uint32_t)OCTO_ETHTOOL_MAX_RULES);
	nfc = calloc(1, sizeof(*nfc) + nb * sizeof(nfc->rule_locs[0]));
	if (nfc == NULL)
		return -ENOMEM;
	nfc->cmd = ETHTOOL_GRXCLSRLALL;
	nfc->rule_cnt = nb;
	ret = octo_ethtool_ask(et, nfc);
	nfc->rule_cnt = RTE_MIN(nfc->rule_cnt, nb);
	if (ret == 0)
		*list = nfc;
	else
		free(nfc);
	return ret;
}

/* All locations that have a rule, by anybody. The caller frees the list. */
static int
list_rules(const struct octo_ethtool *et, struct ethtool_rxnfc **list)
{
	int ret = -EAGAIN;

	/* others may make and remove rules between the questions */
	for (int i = 0; ret != 0 && i < LIST_TRIES; i++)
		ret = try_to_list_rules(et, list);
	return ret;
}

/* Look for what others have taken or left. */
static int
survey(struct octo_ethtool *et)
{
	struct ethtool_rxnfc *list;
	int ret = list_rules(et, &list);

	if (ret != 0)
		return ret;
	/* mlx5 and ixgbe tell it with the list alone */
	if (et->room.size == 0)
		et->room.size = (uint32_t)RTE_MIN(list->data, (uint64_t)OCTO_ETHTOOL_MAX_RULES);
	memset(et->taken, 0, sizeof(et->taken));
	for (uint32_t i = 0; i < list->rule_cnt; i++)
		set_taken(et, list->rule_locs[i], true);
	free(list);
	return 0;
}

/* Others may take a location at any time, and a rule made there would replace theirs. */
static int
find_location(struct octo_ethtool *et, uint32_t *location)
{
	struct ethtool_rx_flow_spec fs;
	int ret = 0;

	while (ret == 0) {
		*location = octo_ethtool_free_location(et->taken, et->room.size);
		if (*location == RX_CLS_LOC_ANY)
			return -ENOSPC;
		ret = read_rule(et, *location, &fs);
		if (ret == 0)
			set_taken(et, *location, true);
	}
	return ret == -ENOENT ? 0 : ret;
}

/* Set the location that a rule is to have. */
static int
choose_location(struct octo_ethtool *et, uint32_t *location)
{
	int ret;

	*location = RX_CLS_LOC_ANY;
	if (et->room.chooses_places)
		return 0;
	ret = find_location(et, location);
	if (ret != -ENOSPC)
		return ret;
	ret = survey(et);
	return ret == 0 ? find_location(et, location) : ret;
}

/* Have the kernel make the noted rule at the location that the note says. */
static int
make(struct octo_ethtool *et, struct octo_ethtool_note *note)
{
	struct ethtool_rxnfc nfc = {.cmd = ETHTOOL_SRXCLSRLINS, .fs = note->fs};
	int ret = octo_ethtool_ask(et, &nfc);

	if (ret != 0)
		return ret;
	note->fs.location = nfc.fs.location;
	set_taken(et, note->fs.location, true);
	return 0;
}

/* The kernel, or somebody, has removed the rule: make it at another location. */
static int
make_again(struct octo_ethtool *et, struct octo_ethtool_note *rule)
{
	uint32_t location;
	int ret = choose_location(et, &location);

	if (ret != 0)
		return ret;
	rule->fs.location = location;
	return make(et, rule);
}

static int
delete_at(const struct octo_ethtool *et, uint32_t location)
{
	struct ethtool_rxnfc nfc = {.cmd = ETHTOOL_SRXCLSRLDEL, .fs.location = location};

	return octo_ethtool_ask(et, &nfc);
}

/* A rule may have been made in place of its equal: both notes have its location then. */
static bool
is_noted_again(const struct octo_ethtool *et, const struct octo_ethtool_note *note,
	       const struct ethtool_rx_flow_spec *fs, uint32_t location)
{
	const struct octo_ethtool_record *record = et->journal.record;

	for (uint32_t i = 0; i < record->nb_notes; i++) {
		const struct octo_ethtool_note *other = &record->notes[i];

		if (other->used && other->fs.location == location && other != note &&
		    octo_ethtool_is_noted(other, fs))
			return true;
	}
	return false;
}

/* With the netdev its rules are gone; those of an agent that is away it removes itself. */
static bool
is_gone(int ret)
{
	return ret == -ENOENT || ret == -ENODEV || ret == -ENOTCONN;
}

/* Remove the rule at the location, if it is the noted one and no other note's. */
static int
remove_at(struct octo_ethtool *et, const struct octo_ethtool_note *note, uint32_t location)
{
	struct ethtool_rx_flow_spec fs;
	int ret;

	ret = read_rule(et, location, &fs);
	if (ret == -ENOENT)
		set_taken(et, location, false);
	if (ret != 0)
		return is_gone(ret) ? 0 : ret;
	if (!octo_ethtool_is_noted(note, &fs) || is_noted_again(et, note, &fs, location))
		return 0;
	ret = delete_at(et, location);
	if (ret != 0 && !is_gone(ret))
		return ret;
	set_taken(et, location, false);
	return 0;
}

/* The process died before it knew the location: look at all. */
static int
remove_anywhere(struct octo_ethtool *et, const struct octo_ethtool_note *note)
{
	struct ethtool_rxnfc *list;
	int ret = list_rules(et, &list);

	if (ret != 0)
		return is_gone(ret) ? 0 : ret;
	for (uint32_t i = 0; ret == 0 && i < list->rule_cnt; i++)
		ret = remove_at(et, note, list->rule_locs[i]);
	free(list);
	return ret;
}

/* The rule of a note, and the note. A rule that stays remains noted. */
static int
remove_noted(struct octo_ethtool *et, struct octo_ethtool_note *note)
{
	int ret = note->fs.location == RX_CLS_LOC_ANY ? remove_anywhere(et, note) :
							remove_at(et, note, note->fs.location);

	if (ret == 0)
		octo_ethtool_journal_strike(note);
	return ret;
}

/* Remove what an update of the flow's rule, or a flush, has left. Returns the first error. */
static int
drop_left(struct octo_ethtool *et, const struct ethtool_rx_flow_spec *fs)
{
	struct octo_ethtool_record *record = et->journal.record;
	int first_error = 0;

	for (uint32_t i = 0; i < record->nb_notes; i++) {
		struct octo_ethtool_note *note = &record->notes[i];
		const bool is_left = note->used == OCTO_ETHTOOL_LEFT &&
				     octo_ethtool_same_flow(&note->fs, fs);
		const int ret = is_left ? remove_noted(et, note) : 0;

		if (first_error == 0)
			first_error = ret;
	}
	return first_error;
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_ethtool_insert)
int
octo_ethtool_insert(struct octo_ethtool *et, const struct octo_tuple *tuple, uint32_t channel,
		    struct octo_ethtool_note **rule)
{
	struct octo_ethtool_note *note;
	struct ethtool_rxnfc nfc;
	int ret = -et->rules_refused;

	if (ret == 0)
		ret = octo_ethtool_fill_insert(&nfc, tuple, channel, RX_CLS_LOC_ANY);
	/* a rule that stayed when all were removed would lead the flow, too */
	if (ret == 0)
		ret = drop_left(et, &nfc.fs);
	if (ret == 0)
		ret = choose_location(et, &nfc.fs.location);
	if (ret != 0)
		return ret;
	note = octo_ethtool_journal_note(&et->journal, &nfc.fs, false);
	if (note == NULL)
		return -ENOSPC;
	ret = make(et, note);
	if (ret != 0)
		octo_ethtool_journal_strike(note);
	else
		*rule = note;
	return ret;
}

/* mlx5 removes the rule before it makes the new one, and may refuse that. */
static int
go_back(struct octo_ethtool *et, struct octo_ethtool_note *rule, uint32_t location, int ret)
{
	rule->fs.ring_cookie = rule->queue_before;
	rule->fs.location = location;
	if (ret == -EPERM || ret == -ENODEV || find_rule(et, rule) != -ENOENT)
		return ret;
	if (et->room.chooses_places)
		rule->fs.location = RX_CLS_LOC_ANY;
	if (make(et, rule) != 0)
		rule->fs.location = location;
	return ret;
}

/*
 * Remove the older rule, which may be in front of the new one; if it stays, the new one. If that
 * stays, too, it is what is left.
 */
static int
drop_older(struct octo_ethtool *et, struct octo_ethtool_note *older,
	   const struct octo_ethtool_note *rule)
{
	const int ret = remove_noted(et, older);

	if (ret == 0)
		return 0;
	if (remove_at(et, rule, rule->fs.location) == 0) {
		octo_ethtool_journal_strike(older);
	} else {
		older->fs = rule->fs;
		older->queue_before = rule->fs.ring_cookie;
	}
	return ret;
}

/*
 * Where the driver chooses the location, it may make a second rule beside the older one, which is
 * noted for itself first, until it is gone.
 */
static int
replace(struct octo_ethtool *et, struct octo_ethtool_note *rule, uint32_t channel)
{
	const struct ethtool_rx_flow_spec before = rule->fs;
	struct octo_ethtool_note *older = NULL;
	int ret;

	if (et->room.chooses_places) {
		older = octo_ethtool_journal_note(&et->journal, &before, true);
		/* a rule that nothing notes could stay for ever */
		if (older == NULL)
			return -ENOSPC;
		older->used = OCTO_ETHTOOL_LEFT;
		rule->fs.location = RX_CLS_LOC_ANY;
	}
	rule->fs.ring_cookie = channel;
	ret = make(et, rule);
	if (older != NULL && (ret != 0 || rule->fs.location == before.location))
		octo_ethtool_journal_strike(older);
	else if (older != NULL)
		ret = drop_older(et, older, rule);
	return ret == 0 ? 0 : go_back(et, rule, before.location, ret);
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_ethtool_update)
int
octo_ethtool_update(struct octo_ethtool *et, struct octo_ethtool_note *rule, uint32_t channel)
{
	int ret = drop_left(et, &rule->fs);

	if (ret == 0)
		ret = find_rule(et, rule);
	if (ret != 0 && ret != -ENOENT)
		return ret;
	rule->queue_before = rule->fs.ring_cookie;
	if (ret == 0) {
		ret = replace(et, rule, channel);
	} else {
		rule->fs.ring_cookie = channel;
		ret = make_again(et, rule);
	}
	if (ret == 0)
		rule->queue_before = channel;
	return ret;
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_ethtool_remove)
int
octo_ethtool_remove(struct octo_ethtool *et, struct octo_ethtool_note *rule)
{
	/* first: the older ones would lead the flow without it */
	const int ret = drop_left(et, &rule->fs);

	return ret == 0 ? remove_noted(et, rule) : ret;
}

/* Returns how many noted rules are gone, and the first error. Those that stay have no owner. */
static int
sweep(struct octo_ethtool *et, unsigned int *nb)
{
	struct octo_ethtool_record *record = et->journal.record;
	int first_error = 0;

	for (uint32_t i = 0; i < record->nb_notes; i++) {
		const bool used = record->notes[i].used;
		const int ret = used ? remove_noted(et, &record->notes[i]) : 0;

		*nb += used && ret == 0;
		if (ret != 0)
			record->notes[i].used = OCTO_ETHTOOL_LEFT;
		if (first_error == 0)
			first_error = ret;
	}
	return first_error;
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_ethtool_flush)
int
octo_ethtool_flush(struct octo_ethtool *et)
{
	unsigned int nb = 0;

	return et->journal.record == NULL ? 0 : sweep(et, &nb);
}

static void
ask_room(struct octo_ethtool *et)
{
	struct ethtool_rxnfc nfc = {.cmd = ETHTOOL_GRXCLSRLCNT};

	et->rules_refused = -octo_ethtool_ask(et, &nfc);
	if (et->rules_refused != 0)
		return;
	et->room.size = (uint32_t)nfc.data & ~RX_CLS_LOC_SPECIAL;
	et->room.chooses_places = (nfc.data & RX_CLS_LOC_SPECIAL) != 0;
	/* some drivers that choose locations do not say how many there are */
	if (et->room.chooses_places && et->room.size == 0)
		et->room.size = OCTO_ETHTOOL_MAX_RULES;
	et->room.size = RTE_MIN(et->room.size, (uint32_t)OCTO_ETHTOOL_MAX_RULES);
	if (!et->room.chooses_places)
		et->rules_refused = -survey(et);
	if (et->rules_refused == 0 && et->room.size == 0)
		et->rules_refused = EOPNOTSUPP;
}

static void
refuse_all(struct octo_ethtool *et, int code)
{
	et->rules_refused = code;
	et->reta_refused = code;
}

/* Returns 0, or a negative errno if it is not to be touched. */
static int
take_over(struct octo_ethtool *et, const char *dir)
{
	int ret = octo_ethtool_journal_open(&et->journal, dir, et->ifindex);

	if (ret != 0)
		return ret == -EALREADY ? ret : -ENOTRECOVERABLE;
	ask_room(et);
	octo_ethtool_reta_find(et);
	if (et->journal.record != NULL) {
		ret = sweep(et, &et->nb_swept);
		if (ret == 0)
			ret = octo_ethtool_reta_give_back(et);
	}
	/* the RETA as it is, to find out whether it, or anything, could be set */
	if (ret == 0 && et->reta_refused == 0)
		et->reta_refused = -octo_ethtool_reta_try(et);
	if (et->reta_refused == EPERM)
		ret = -EPERM;
	if (ret != 0)
		return ret;
	ret = octo_ethtool_journal_begin(&et->journal, et->ifindex, et->room.size);
	return ret == 0 ? 0 : -ENOTRECOVERABLE;
}

static struct octo_ethtool *
begin(struct octo_ethtool *et, const char *dir)
{
	const int ret = take_over(et, dir);

	if (ret == 0)
		return et;
	refuse_all(et, -ret);
	/* what could not be taken back is left to a run that can */
	octo_ethtool_journal_leave(&et->journal);
	return et;
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_ethtool_open)
struct octo_ethtool *
octo_ethtool_open(const char *dir, uint32_t ifindex)
{
	struct octo_ethtool *et = calloc(1, sizeof(*et));

	if (et == NULL)
		return NULL;
	et->ifindex = ifindex;
	et->journal.fd = -1;
	et->fd = octo_ethtool_io_open();
	if (et->fd >= 0)
		return begin(et, dir);
	refuse_all(et, -et->fd);
	return et;
}

/* The journal is the agent's. */
static void
begin_by_agent(struct octo_ethtool *et)
{
	begin(et, NULL);
	if (!et->client->is_welcome)
		refuse_all(et, ENOTCONN);
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_ethtool_open_by_agent)
struct octo_ethtool *
octo_ethtool_open_by_agent(const char *addr, uint32_t ifindex)
{
	struct octo_ethtool *et = calloc(1, sizeof(*et));

	if (et == NULL)
		return NULL;
	et->client = malloc(sizeof(*et->client));
	if (et->client == NULL) {
		free(et);
		return NULL;
	}
	et->ifindex = ifindex;
	et->fd = -1;
	octo_ethtool_client_init(et->client, addr, ifindex);
	octo_ethtool_client_connect(et->client);
	begin_by_agent(et);
	return et;
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_ethtool_begin_again)
void
octo_ethtool_begin_again(struct octo_ethtool *et)
{
	refuse_all(et, 0);
	octo_ethtool_journal_leave(&et->journal);
	begin_by_agent(et);
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_ethtool_close)
int
octo_ethtool_close(struct octo_ethtool *et)
{
	int ret = 0, reta;

	if (et == NULL)
		return 0;
	if (et->journal.record != NULL) {
		ret = octo_ethtool_flush(et);
		reta = octo_ethtool_reta_give_back(et);
		if (ret == 0)
			ret = reta;
		if (ret == 0)
			octo_ethtool_journal_end(&et->journal);
	}
	octo_ethtool_journal_leave(&et->journal);
	if (et->fd >= 0)
		close(et->fd);
	if (et->client != NULL)
		octo_ethtool_client_fini(et->client);
	free(et->client);
	free(et);
	return ret;
}
