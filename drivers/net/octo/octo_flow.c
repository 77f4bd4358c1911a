/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * rte_flow on the port: a steered flow is an ARFS rule on every PF (whichever PF
 * it comes in by, it reaches its queue) and an MPFS rule to the queue's home PF.
 * All of them or none. Everything here is under the control mutex.
 */

#include <errno.h>
#include <inttypes.h>

#include <rte_malloc.h>

#include "octo_flow_build.h"
#include "octo_flow_parse.h"
#include "octo_private.h"

const char *
octo_tier_name(enum octo_tier tier)
{
	static const char *const names[] = {
		[OCTO_TIER_NONE] = "none",
		[OCTO_TIER_QUEUE] = "queue",
		[OCTO_TIER_EXACT] = "exact",
	};

	return names[tier];
}

int
octo_flow_init(struct octo_dev *octo)
{
	char name[24];

	TAILQ_INIT(&octo->rules);
	snprintf(name, sizeof(name), "octo_p%u", octo->port_id);
	octo->table = octo_table_create(name, SOCKET_ID_ANY);
	if (octo->table == NULL) {
		OCTO_LOG(ERR, "%s: no memory for the steering table", octo_data(octo)->name);
		return -ENOMEM;
	}
	return 0;
}

void
octo_flow_fini(struct octo_dev *octo)
{
	octo_flow_flush_locked(octo, NULL);
	octo_table_free(octo->table);
	octo->table = NULL;
}

static int
remove_arfs(struct octo_dev *octo, struct rte_flow *rule, uint8_t pf, struct rte_flow_error *error)
{
	int ret;

	if (rule->arfs[pf] == NULL)
		return 0;
	ret = rte_flow_destroy(octo->pf[pf].port_id, rule->arfs[pf], error);
	rule->arfs[pf] = NULL;
	return ret == 0 ? 0 : octo_flow_blame(&octo->pf[pf], ret, error);
}

/* Teardown goes on after an error and reports the first. */
static int
remove_from_pfs(struct octo_dev *octo, struct rte_flow *rule, struct rte_flow_error *error)
{
	int first_error = octo->mpfs_ops->remove(octo, rule, error);

	for (uint8_t pf = 0; pf < octo->nb_pfs; pf++) {
		int ret = remove_arfs(octo, rule, pf, first_error == 0 ? error : NULL);

		if (first_error == 0)
			first_error = ret;
	}
	return first_error;
}

static int
insert_arfs(struct octo_dev *octo, struct rte_flow *rule, uint8_t pf, struct rte_flow_error *error)
{
	const struct octo_pf *p = &octo->pf[pf];
	struct octo_flow_rule r;

	octo_flow_build_queue(&r, &rule->tuple, rule->priority, rule->queue,
			      rule->count || octo->count_rules);
	rule->arfs[pf] = rte_flow_create(p->port_id, &r.attr, r.pattern, r.actions, error);
	return rule->arfs[pf] != NULL ? 0 : octo_flow_blame(p, -rte_errno, error);
}

/* Where the flows of a queue belong. Its poller may not have noticed yet that its PF is gone. */
uint8_t
octo_flow_home(const struct octo_dev *octo, uint16_t queue)
{
	const struct octo_rxq *q = octo_data(octo)->rx_queues[queue];
	uint8_t home = rte_atomic_load_explicit(&q->home, rte_memory_order_acquire);

	return octo->pf[home].state >= OCTO_PF_STARTED ? home :
							 octo_topo_home(octo, q->node, queue);
}

/* What the PFs are not asked about. */
static int
check_agent_rule(const struct octo_dev *octo, bool count, struct rte_flow_error *error)
{
	if (octo->tier != OCTO_TIER_EXACT)
		return rte_flow_error_set(error, ENOTSUP, RTE_FLOW_ERROR_TYPE_UNSPECIFIED, NULL,
					  "the PFs refuse 5-tuple rules, and no agent that chooses "
					  "queues was there yet");
	if (count && !octo->count_rules)
		return rte_flow_error_set(error, ENOTSUP, RTE_FLOW_ERROR_TYPE_ACTION, NULL,
					  "neither the PFs nor the agent can count");
	return 0;
}

/* First the queue on every PF, then the way to the PF: no packet finds a PF without its rule. */
static int
insert_on_pfs(struct octo_dev *octo, struct rte_flow *rule, struct rte_flow_error *error)
{
	int ret = octo->agent_queues ? check_agent_rule(octo, rule->count, error) : 0;
	int pf;

	if (ret != 0)
		return ret;
	OCTO_FOREACH_PF(octo, pf, OCTO_PF_STARTED) {
		if (!octo->agent_queues)
			ret = insert_arfs(octo, rule, (uint8_t)pf, error);
		if (ret != 0)
			break;
	}
	if (ret == 0 && octo->tier == OCTO_TIER_EXACT)
		ret = octo->mpfs_ops->insert(octo, rule, octo_flow_home(octo, rule->queue), error);
	if (ret != 0)
		remove_from_pfs(octo, rule, NULL);
	return ret;
}

/* The table did not take the rule. */
static int
refuse_rule(struct rte_flow_error *error, int ret)
{
	static const char *const twice = "this 5-tuple is steered already: destroy that rule first";
	static const char *const memory = "no memory for the steering table";

	return rte_flow_error_set(error, -ret, RTE_FLOW_ERROR_TYPE_UNSPECIFIED, NULL,
				  ret == -EEXIST ? twice : memory);
}

struct rte_flow *
octo_flow_add_locked(struct octo_dev *octo, const struct octo_tuple *tuple, uint32_t priority,
		     uint16_t queue, bool count, struct rte_flow_error *error)
{
	struct rte_flow *rule = rte_zmalloc("octo_flow", sizeof(*rule), 0);
	int ret;

	if (rule == NULL) {
		rte_flow_error_set(error, ENOMEM, RTE_FLOW_ERROR_TYPE_UNSPECIFIED, NULL,
				   "no memory for the rule");
		return NULL;
	}
	rule->tuple = *tuple;
	rule->priority = priority;
	rule->queue = queue;
	rule->count = count;
	rule->pf = OCTO_NO_PF;
	ret = octo_table_add(octo->table, tuple, rule);
	if (ret != 0) {
		refuse_rule(error, ret);
		rte_free(rule);
		return NULL;
	}
	ret = insert_on_pfs(octo, rule, error);
	if (ret != 0) {
		octo_table_remove(octo->table, tuple);
		rte_free(rule);
		rte_errno = -ret;
		return NULL;
	}
	octo_evidence_start(&rule->evidence, octo_truth_now());
	TAILQ_INSERT_TAIL(&octo->rules, rule, next);
	return rule;
}

int
octo_flow_remove_locked(struct octo_dev *octo, struct rte_flow *rule, struct rte_flow_error *error)
{
	int ret = remove_from_pfs(octo, rule, error);

	octo_table_remove(octo->table, &rule->tuple);
	TAILQ_REMOVE(&octo->rules, rule, next);
	rte_free(rule);
	return ret;
}

int
octo_flow_flush_locked(struct octo_dev *octo, struct rte_flow_error *error)
{
	struct rte_flow *rule;
	int first_error = 0;

	while ((rule = TAILQ_FIRST(&octo->rules)) != NULL) {
		int ret = octo_flow_remove_locked(octo, rule, first_error == 0 ? error : NULL);

		if (first_error == 0)
			first_error = ret;
	}
	return first_error;
}

/* The flows of a queue go to its new home. Returns how many could not. */
unsigned int
octo_flow_rehome_locked(struct octo_dev *octo, uint16_t queue, uint8_t home)
{
	unsigned int failed = 0;
	struct rte_flow *rule;

	if (octo->tier != OCTO_TIER_EXACT)
		return 0;
	TAILQ_FOREACH(rule, &octo->rules, next) {
		if (rule->queue != queue || rule->pf == home)
			continue;
		if (rule->pf == OCTO_NO_PF)
			failed += octo->mpfs_ops->insert(octo, rule, home, NULL) != 0;
		else
			failed += octo->mpfs_ops->flip(octo, rule, home, NULL) != 0;
		octo_evidence_move(&rule->evidence, octo_truth_now());
	}
	return failed;
}

/* The PF's rules went with it, and the MPFS with the manager. */
void
octo_flow_forget_pf(struct octo_dev *octo, uint8_t pf)
{
	const bool manager = octo->manager == pf;
	struct rte_flow *rule;

	TAILQ_FOREACH(rule, &octo->rules, next) {
		rule->arfs[pf] = NULL;
		if (manager) {
			rule->mpfs = NULL;
			rule->pf = OCTO_NO_PF;
			octo_evidence_move(&rule->evidence, octo_truth_now());
		}
	}
	if (!manager)
		return;
	octo->manager = OCTO_NO_PF;
	if (octo->tier == OCTO_TIER_EXACT) {
		octo->tier = OCTO_TIER_QUEUE;
		OCTO_LOG(WARNING, "port %u: the manager PF is gone: steering tier is queue now",
			 octo->port_id);
	}
}

static bool
pfs_accept_queue_rules(struct octo_dev *octo, bool count)
{
	struct rte_flow_error error;
	struct octo_flow_rule r;
	int pf;

	octo_flow_build_queue(&r, &octo_tuple_example, 0, 0, count);
	OCTO_FOREACH_PF(octo, pf, OCTO_PF_STARTED)
		if (rte_flow_validate(octo->pf[pf].port_id, &r.attr, r.pattern, r.actions,
				      &error) != 0)
			return false;
	return true;
}

/* What rules can do here; error->message says why not more. */
static enum octo_tier
find_tier(struct octo_dev *octo, struct rte_flow_error *error)
{
	bool queue_rules;
	int ret;

	octo->count_rules = pfs_accept_queue_rules(octo, true);
	queue_rules = octo->count_rules || pfs_accept_queue_rules(octo, false);
	octo->agent_queues = octo->agent != NULL && !queue_rules;
	error->message = "the PFs refuse 5-tuple rules";
	if (!queue_rules && octo->agent == NULL)
		return OCTO_TIER_NONE;
	error->message = NULL;
	ret = octo->mpfs_ops->probe(octo, error);
	if (ret != 0) {
		octo->manager = OCTO_NO_PF;
		if (error->message == NULL)
			error->message = rte_strerror(-ret);
		return queue_rules ? OCTO_TIER_QUEUE : OCTO_TIER_NONE;
	}
	if (queue_rules)
		return OCTO_TIER_EXACT;
	octo->count_rules = octo_mpfs_agent_counts(octo);
	error->message = "the PFs refuse 5-tuple rules, and the agent does not choose queues";
	return octo_mpfs_agent_places_queues(octo) ? OCTO_TIER_EXACT : OCTO_TIER_NONE;
}

/* Ask the PFs what they would accept; said once. */
void
octo_flow_probe_tier(struct octo_dev *octo)
{
	struct rte_flow_error error = {.message = NULL};

	octo->manager = OCTO_NO_PF;
	octo->ignored = NULL;
	octo->mpfs_ops = octo->agent != NULL ? &octo_mpfs_agent_ops : &octo_mpfs_switch_ops;
	octo->tier = find_tier(octo, &error);
	if (octo->tier == OCTO_TIER_EXACT)
		OCTO_LOG(NOTICE, "port %u: steering tier exact, by %s", octo->port_id,
			 octo->mpfs_ops->name);
	else
		OCTO_LOG(NOTICE, "port %u: steering tier %s: %s", octo->port_id,
			 octo_tier_name(octo->tier), error.message);
}

/* Can flows be steered to this queue now? */
int
octo_flow_check_queue(const struct octo_dev *octo, uint16_t queue, struct rte_flow_error *error)
{
	if (!octo->started)
		return rte_flow_error_set(error, EINVAL, RTE_FLOW_ERROR_TYPE_UNSPECIFIED, NULL,
					  "the port is stopped: start it first");
	if (octo->tier == OCTO_TIER_NONE && octo->ignored != NULL)
		return rte_flow_error_set(error, ENOTSUP, RTE_FLOW_ERROR_TYPE_UNSPECIFIED, NULL,
					  "the NIC accepts rules and ignores them, "
					  "as strays have shown: nothing can be steered "
					  "until the port is started again");
	if (queue >= octo_data(octo)->nb_rx_queues)
		return rte_flow_error_set(error, EINVAL, RTE_FLOW_ERROR_TYPE_ACTION_CONF, NULL,
					  "the queue index is not below the port's number "
					  "of Rx queues");
	return 0;
}

static int
read_rule(struct octo_dev *octo, const struct rte_flow_attr *attr,
	  const struct rte_flow_item pattern[], const struct rte_flow_action actions[],
	  struct octo_flow_spec *spec, struct rte_flow_error *error)
{
	int ret = octo_flow_parse(attr, pattern, actions, spec, error);

	if (ret == 0)
		ret = octo_flow_check_queue(octo, spec->queue, error);
	if (ret == 0 && (spec->transfer || spec->fate != OCTO_FATE_QUEUE))
		ret = rte_flow_error_set(error, ENOTSUP, RTE_FLOW_ERROR_TYPE_ACTION, NULL,
					 "only ingress rules with a queue action are supported");
	return ret;
}

static int
validate_locked(struct octo_dev *octo, const struct octo_flow_spec *spec,
		struct rte_flow_error *error)
{
	struct octo_flow_rule r;
	int ret;
	int pf;

	if (octo_table_find(octo->table, &spec->tuple) != NULL)
		return refuse_rule(error, -EEXIST);
	if (octo->agent_queues)
		return check_agent_rule(octo, spec->count, error);
	octo_flow_build_queue(&r, &spec->tuple, spec->priority, spec->queue, spec->count);
	OCTO_FOREACH_PF(octo, pf, OCTO_PF_STARTED) {
		ret = rte_flow_validate(octo->pf[pf].port_id, &r.attr, r.pattern, r.actions, error);
		if (ret != 0)
			return octo_flow_blame(&octo->pf[pf], ret, error);
	}
	return 0;
}

static int
flow_validate(struct rte_eth_dev *dev, const struct rte_flow_attr *attr,
	      const struct rte_flow_item pattern[], const struct rte_flow_action actions[],
	      struct rte_flow_error *error)
{
	struct octo_dev *octo = octo_of(dev);
	struct octo_flow_spec spec;
	int ret;

	octo_lock(octo);
	ret = read_rule(octo, attr, pattern, actions, &spec, error);
	if (ret == 0)
		ret = validate_locked(octo, &spec, error);
	octo_unlock(octo);
	return ret;
}

static struct rte_flow *
flow_create(struct rte_eth_dev *dev, const struct rte_flow_attr *attr,
	    const struct rte_flow_item pattern[], const struct rte_flow_action actions[],
	    struct rte_flow_error *error)
{
	struct octo_dev *octo = octo_of(dev);
	struct rte_flow *rule = NULL;
	struct octo_flow_spec spec;

	octo_lock(octo);
	if (read_rule(octo, attr, pattern, actions, &spec, error) == 0)
		rule = octo_flow_add_locked(octo, &spec.tuple, spec.priority, spec.queue,
					    spec.count, error);
	octo_unlock(octo);
	return rule;
}

static int
flow_destroy(struct rte_eth_dev *dev, struct rte_flow *rule, struct rte_flow_error *error)
{
	struct octo_dev *octo = octo_of(dev);

	return OCTO_LOCKED(octo, octo_flow_remove_locked(octo, rule, error));
}

static int
flow_flush(struct rte_eth_dev *dev, struct rte_flow_error *error)
{
	struct octo_dev *octo = octo_of(dev);

	return OCTO_LOCKED(octo, octo_flow_flush_locked(octo, error));
}

static const struct rte_flow_action count_action = {.type = RTE_FLOW_ACTION_TYPE_COUNT};

/* The hits on one PF, none if it has no rule. */
static int
query_pf(struct octo_dev *octo, const struct rte_flow *rule, uint8_t pf,
	 struct rte_flow_query_count *count, struct rte_flow_error *error)
{
	const struct rte_flow_action actions[] = {count_action, {.type = RTE_FLOW_ACTION_TYPE_END}};
	int ret;

	if (rule->arfs[pf] == NULL)
		return 0;
	ret = rte_flow_query(octo->pf[pf].port_id, rule->arfs[pf], actions, count, error);
	return ret == 0 ? 0 : octo_flow_blame(&octo->pf[pf], ret, error);
}

/* The sum over the PFs. */
static int
query_count(struct octo_dev *octo, struct rte_flow *rule, bool reset,
	    struct rte_flow_query_count *sum, struct rte_flow_error *error)
{
	*sum = (struct rte_flow_query_count){.reset = reset};
	if (octo->agent_queues)
		return octo->mpfs_ops->query(octo, rule, sum, error);
	for (uint8_t pf = 0; pf < octo->nb_pfs; pf++) {
		struct rte_flow_query_count one = {.reset = reset};
		int ret = query_pf(octo, rule, pf, &one, error);

		if (ret != 0)
			return ret;
		sum->hits_set |= one.hits_set;
		sum->bytes_set |= one.bytes_set;
		sum->hits += one.hits;
		sum->bytes += one.bytes;
	}
	return 0;
}

/* By one PF, or by all for OCTO_NO_PF. Returns false if that is not known. */
bool
octo_flow_hits_locked(struct octo_dev *octo, struct rte_flow *rule, uint8_t pf, uint64_t *hits)
{
	struct rte_flow_query_count count = {0};
	int ret;

	if (!octo->count_rules && !rule->count)
		return false;
	ret = pf == OCTO_NO_PF ? query_count(octo, rule, false, &count, NULL) :
				 query_pf(octo, rule, pf, &count, NULL);
	*hits = count.hits;
	return ret == 0 && count.hits_set;
}

static int
flow_query(struct rte_eth_dev *dev, struct rte_flow *rule, const struct rte_flow_action *actions,
	   void *data, struct rte_flow_error *error)
{
	struct octo_dev *octo = octo_of(dev);
	const struct rte_flow_query_count *asked = data;

	if (actions->type != RTE_FLOW_ACTION_TYPE_COUNT)
		return rte_flow_error_set(error, ENOTSUP, RTE_FLOW_ERROR_TYPE_ACTION, actions,
					  "only count can be queried");
	if (!rule->count)
		return rte_flow_error_set(error, EINVAL, RTE_FLOW_ERROR_TYPE_ACTION, actions,
					  "the rule was created without a count action");
	return OCTO_LOCKED(octo, query_count(octo, rule, asked->reset, data, error));
}

static int
isolate_locked(struct octo_dev *octo, int set, struct rte_flow_error *error)
{
	int ret = 0;
	int pf;

	OCTO_FOREACH_PF(octo, pf, OCTO_PF_OWNED) {
		ret = rte_flow_isolate(octo->pf[pf].port_id, set, error);
		if (ret != 0)
			break;
	}
	if (ret == 0) {
		octo->isolated = set != 0;
		return 0;
	}
	octo_flow_blame(&octo->pf[pf], ret, error);
	while (--pf >= 0)
		rte_flow_isolate(octo->pf[pf].port_id, octo->isolated, NULL);
	return ret;
}

static int
flow_isolate(struct rte_eth_dev *dev, int set, struct rte_flow_error *error)
{
	struct octo_dev *octo = octo_of(dev);

	return OCTO_LOCKED(octo, isolate_locked(octo, set, error));
}

static const struct rte_flow_ops flow_ops = {
	.validate = flow_validate,
	.create = flow_create,
	.destroy = flow_destroy,
	.flush = flow_flush,
	.query = flow_query,
	.isolate = flow_isolate,
};

int
octo_flow_ops_get(struct rte_eth_dev *dev, const struct rte_flow_ops **ops)
{
	RTE_SET_USED(dev);
	if (rte_eal_process_type() != RTE_PROC_PRIMARY)
		return -ENOTSUP;
	*ops = &flow_ops;
	return 0;
}
