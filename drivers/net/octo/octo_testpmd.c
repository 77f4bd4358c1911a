/* SPDX-License-Identifier: BSD-3-Clause */

/* testpmd commands on what the port steers: octo show, octo steer, octo move, octo unsteer. */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmdline_parse.h>
#include <cmdline_parse_num.h>
#include <cmdline_parse_string.h>
#include <rte_ethdev.h>

#include "octo_testpmd.h"
#include "octo_view.h"
#include "rte_pmd_octo.h"
#include "testpmd.h"

const char *
octo_testpmd_pf_name(const struct octo_view_topology *view, int pf)
{
	return pf < 0 || pf >= view->nb_pfs ? "-" : view->pf[pf].name;
}

static bool
is_octo(uint16_t port_id)
{
	struct octo_view_topology ignored;

	return rte_pmd_octo_view_topology(port_id, &ignored) == 0;
}

void
octo_testpmd_not_octo(uint16_t port_id)
{
	const char *before = ": give one of";
	uint16_t port;

	fprintf(stderr, "octo: port %u is not an octo port", port_id);
	RTE_ETH_FOREACH_DEV(port) {
		if (!is_octo(port))
			continue;
		fprintf(stderr, "%s %u", before, port);
		before = ",";
	}
	fputc('\n', stderr);
}

void
octo_testpmd_complain(uint16_t port_id, const char *why)
{
	if (is_octo(port_id))
		fprintf(stderr, "octo: port %u: %s\n", port_id, why);
	else
		octo_testpmd_not_octo(port_id);
}

static void
complain(uint16_t port_id, const struct rte_flow_error *error, int ret)
{
	octo_testpmd_complain(port_id,
			      error->message != NULL ? error->message : rte_strerror(-ret));
}

/* octo show topology|steering|strays PORT */

struct octo_show {
	cmdline_fixed_string_t octo;
	cmdline_fixed_string_t show;
	cmdline_fixed_string_t what;
	uint16_t port_id;
};

static void
octo_show_parsed(void *parsed, struct cmdline *cl, void *data)
{
	const struct octo_show *cmd = parsed;
	int ret;

	RTE_SET_USED(cl);
	RTE_SET_USED(data);
	if (strcmp(cmd->what, "topology") == 0)
		ret = rte_pmd_octo_topology_dump(cmd->port_id, stdout);
	else if (strcmp(cmd->what, "steering") == 0)
		ret = rte_pmd_octo_steering_dump(cmd->port_id, stdout);
	else
		ret = rte_pmd_octo_strays_dump(cmd->port_id, stdout);
	if (ret != 0)
		octo_testpmd_not_octo(cmd->port_id);
}

static cmdline_parse_token_string_t show_octo = TOKEN_STRING_INITIALIZER(struct octo_show, octo,
									 "octo");
static cmdline_parse_token_string_t show_show = TOKEN_STRING_INITIALIZER(struct octo_show, show,
									 "show");
static cmdline_parse_token_string_t shown = TOKEN_STRING_INITIALIZER(struct octo_show, what,
								     "topology#steering#strays");
static cmdline_parse_token_num_t show_port = TOKEN_NUM_INITIALIZER(struct octo_show, port_id,
								   RTE_UINT16);

/* clang-format would put the braces of arrays on lines of their own. */
/* clang-format off */
static cmdline_parse_inst_t octo_show_cmd = {
	.f = octo_show_parsed,
	.help_str = "octo show topology|steering|strays <port_id>",
	.tokens = {
		(void *)&show_octo,
		(void *)&show_show,
		(void *)&shown,
		(void *)&show_port,
		NULL,
	},
};
/* clang-format on */

/* octo steer PORT PROTO SRC SPORT DST DPORT queue Q; octo unsteer PORT PROTO ... */

struct octo_steer {
	cmdline_fixed_string_t octo;
	cmdline_fixed_string_t steer;
	uint16_t port_id;
	cmdline_fixed_string_t proto;
	cmdline_fixed_string_t src;
	uint16_t src_port;
	cmdline_fixed_string_t dst;
	uint16_t dst_port;
	cmdline_fixed_string_t queue;
	uint16_t queue_id;
};

static int
read_tuple(const struct octo_steer *cmd, struct rte_pmd_octo_tuple *tuple)
{
	const char *culprit = NULL;
	int ret = rte_pmd_octo_tuple_read(tuple, cmd->proto, cmd->src, cmd->src_port, cmd->dst,
					  cmd->dst_port, &culprit);

	if (ret != 0)
		fprintf(stderr, "octo: bad %s: two IPv4 or two IPv6 addresses are expected\n",
			culprit);
	return ret;
}

/* What is done to a flow. */
typedef int (*steer_fn)(const struct octo_steer *cmd, const struct rte_pmd_octo_tuple *tuple,
			struct rte_flow_error *error);

static void
change_flow(const struct octo_steer *cmd, steer_fn change, const char *said, bool has_queue)
{
	struct rte_flow_error error = {.message = NULL};
	char text[RTE_PMD_OCTO_TUPLE_TEXT_MAX];
	char queue[sizeof("goes to queue 65535")] = "";
	struct rte_pmd_octo_tuple tuple;
	int ret;

	if (read_tuple(cmd, &tuple) != 0)
		return;
	ret = change(cmd, &tuple, &error);
	if (ret != 0) {
		complain(cmd->port_id, &error, ret);
		return;
	}
	if (has_queue)
		snprintf(queue, sizeof(queue), "goes to queue %u", cmd->queue_id);
	/* in one call: lcores print, too */
	printf("Port %u: %s %s%s\n", cmd->port_id, rte_pmd_octo_tuple_format(&tuple, text), queue,
	       said);
}

static int
add_flow(const struct octo_steer *cmd, const struct rte_pmd_octo_tuple *tuple,
	 struct rte_flow_error *error)
{
	return rte_pmd_octo_steer_add(cmd->port_id, tuple, cmd->queue_id, error);
}

static int
move_flow(const struct octo_steer *cmd, const struct rte_pmd_octo_tuple *tuple,
	  struct rte_flow_error *error)
{
	return rte_pmd_octo_steer_move(cmd->port_id, tuple, cmd->queue_id, error);
}

static int
remove_flow(const struct octo_steer *cmd, const struct rte_pmd_octo_tuple *tuple,
	    struct rte_flow_error *error)
{
	return rte_pmd_octo_steer_remove(cmd->port_id, tuple, error);
}

static void
octo_steer_parsed(void *parsed, struct cmdline *cl, void *data)
{
	RTE_SET_USED(cl);
	RTE_SET_USED(data);
	change_flow(parsed, add_flow, "", true);
}

static void
octo_move_parsed(void *parsed, struct cmdline *cl, void *data)
{
	RTE_SET_USED(cl);
	RTE_SET_USED(data);
	change_flow(parsed, move_flow, " from now on", true);
}

static void
octo_unsteer_parsed(void *parsed, struct cmdline *cl, void *data)
{
	RTE_SET_USED(cl);
	RTE_SET_USED(data);
	change_flow(parsed, remove_flow, "is not steered any more", false);
}

static void
octo_unsteer_all_parsed(void *parsed, struct cmdline *cl, void *data)
{
	const struct octo_steer *cmd = parsed;
	struct rte_flow_error error = {.message = NULL};
	int ret;

	RTE_SET_USED(cl);
	RTE_SET_USED(data);
	ret = rte_pmd_octo_steer_remove_all(cmd->port_id, &error);
	if (ret < 0)
		complain(cmd->port_id, &error, ret);
	else
		printf("Port %u: %d flows are not steered any more\n", cmd->port_id, ret);
}

static cmdline_parse_token_string_t steer_octo = TOKEN_STRING_INITIALIZER(struct octo_steer, octo,
									  "octo");
static cmdline_parse_token_string_t steer_steer = TOKEN_STRING_INITIALIZER(struct octo_steer, steer,
									   "steer");
static cmdline_parse_token_string_t steer_move = TOKEN_STRING_INITIALIZER(struct octo_steer, steer,
									  "move");
static cmdline_parse_token_string_t steer_unsteer = TOKEN_STRING_INITIALIZER(struct octo_steer,
									     steer, "unsteer");
static cmdline_parse_token_num_t steer_port = TOKEN_NUM_INITIALIZER(struct octo_steer, port_id,
								    RTE_UINT16);
static cmdline_parse_token_string_t steer_proto = TOKEN_STRING_INITIALIZER(struct octo_steer, proto,
									   "tcp#udp#sctp");
static cmdline_parse_token_string_t steer_all = TOKEN_STRING_INITIALIZER(struct octo_steer, proto,
									 "all");
static cmdline_parse_token_string_t steer_src = TOKEN_STRING_INITIALIZER(struct octo_steer, src,
									 NULL);
static cmdline_parse_token_num_t steer_src_port = TOKEN_NUM_INITIALIZER(struct octo_steer, src_port,
									RTE_UINT16);
static cmdline_parse_token_string_t steer_dst = TOKEN_STRING_INITIALIZER(struct octo_steer, dst,
									 NULL);
static cmdline_parse_token_num_t steer_dst_port = TOKEN_NUM_INITIALIZER(struct octo_steer, dst_port,
									RTE_UINT16);
static cmdline_parse_token_string_t steer_queue = TOKEN_STRING_INITIALIZER(struct octo_steer, queue,
									   "queue");
static cmdline_parse_token_num_t steer_queue_id = TOKEN_NUM_INITIALIZER(struct octo_steer, queue_id,
									RTE_UINT16);

/* clang-format would put the braces of arrays on lines of their own. */
/* clang-format off */
static cmdline_parse_inst_t octo_steer_cmd = {
	.f = octo_steer_parsed,
	.help_str = "octo steer <port_id> tcp|udp|sctp <src> <src_port> <dst> <dst_port> "
		    "queue <queue_id>",
	.tokens = {
		(void *)&steer_octo,
		(void *)&steer_steer,
		(void *)&steer_port,
		(void *)&steer_proto,
		(void *)&steer_src,
		(void *)&steer_src_port,
		(void *)&steer_dst,
		(void *)&steer_dst_port,
		(void *)&steer_queue,
		(void *)&steer_queue_id,
		NULL,
	},
};

static cmdline_parse_inst_t octo_move_cmd = {
	.f = octo_move_parsed,
	.help_str = "octo move <port_id> tcp|udp|sctp <src> <src_port> <dst> <dst_port> "
		    "queue <queue_id>",
	.tokens = {
		(void *)&steer_octo,
		(void *)&steer_move,
		(void *)&steer_port,
		(void *)&steer_proto,
		(void *)&steer_src,
		(void *)&steer_src_port,
		(void *)&steer_dst,
		(void *)&steer_dst_port,
		(void *)&steer_queue,
		(void *)&steer_queue_id,
		NULL,
	},
};

static cmdline_parse_inst_t octo_unsteer_cmd = {
	.f = octo_unsteer_parsed,
	.help_str = "octo unsteer <port_id> tcp|udp|sctp <src> <src_port> <dst> <dst_port>",
	.tokens = {
		(void *)&steer_octo,
		(void *)&steer_unsteer,
		(void *)&steer_port,
		(void *)&steer_proto,
		(void *)&steer_src,
		(void *)&steer_src_port,
		(void *)&steer_dst,
		(void *)&steer_dst_port,
		NULL,
	},
};

static cmdline_parse_inst_t octo_unsteer_all_cmd = {
	.f = octo_unsteer_all_parsed,
	.help_str = "octo unsteer <port_id> all",
	.tokens = {
		(void *)&steer_octo,
		(void *)&steer_unsteer,
		(void *)&steer_port,
		(void *)&steer_all,
		NULL,
	},
};

static struct testpmd_driver_commands octo_cmds = {
	.commands = {
		{
			&octo_show_cmd,
			"octo show (topology|steering|strays) (port_id)\n"
			"	Show the PFs with their sockets and links and the home PF of each queue;\n"
			"	the steered flows with their hits, sampled strays, and whether their rules\n"
			"	work; or the packets that arrived by another PF than their queue's home.\n",
		},
		{
			&octo_steer_cmd,
			"octo steer (port_id) (tcp|udp|sctp) (src) (src_port) (dst) (dst_port) queue (queue_id)\n"
			"	Steer a 5-tuple to a queue, by the PF on the socket that polls it.\n",
		},
		{
			&octo_move_cmd,
			"octo move (port_id) (tcp|udp|sctp) (src) (src_port) (dst) (dst_port) queue (queue_id)\n"
			"	Move a steered flow to another queue, without one packet overtaking another.\n",
		},
		{
			&octo_unsteer_cmd,
			"octo unsteer (port_id) (tcp|udp|sctp) (src) (src_port) (dst) (dst_port)\n"
			"	Take back one octo steer.\n",
		},
		{
			&octo_unsteer_all_cmd,
			"octo unsteer (port_id) all\n"
			"	Take back every octo steer of the port.\n",
		},
		{NULL, NULL},
	},
};
/* clang-format on */
TESTPMD_ADD_DRIVER_COMMANDS(octo_cmds)
