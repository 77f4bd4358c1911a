/* SPDX-License-Identifier: BSD-3-Clause */

/* testpmd commands of learning. */

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmdline_parse.h>
#include <cmdline_parse_num.h>
#include <cmdline_parse_string.h>
#include <rte_bitops.h>
#include <rte_common.h>

#include "octo_learning.h"
#include "octo_number.h"
#include "octo_testpmd.h"
#include "testpmd.h"

/* Of an octo port whose learning cannot be read. */
static const char not_here[] = "only the primary process can do this";

/* octo show learning PORT */

struct octo_show_learn {
	cmdline_fixed_string_t octo;
	cmdline_fixed_string_t show;
	cmdline_fixed_string_t learning;
	uint16_t port_id;
};

static void
octo_show_learning_parsed(void *parsed, struct cmdline *cl, void *data)
{
	const struct octo_show_learn *cmd = parsed;
	struct rte_pmd_octo_learning view;

	RTE_SET_USED(cl);
	RTE_SET_USED(data);
	if (rte_pmd_octo_learning_get(cmd->port_id, &view) != 0) {
		octo_testpmd_complain(cmd->port_id, not_here);
		return;
	}
	printf("Port %u: learning %s, one of about %u strays is a sample, at most %u rules, "
	       "idle for at most %u ms%s, hits %s\n",
	       cmd->port_id, view.state, view.settings.sample, view.settings.max_rules,
	       view.settings.idle_ms, view.settings.idle_ms == 0 ? " (for ever)" : "",
	       view.counted ? "counted" : "not counted");
	printf("  %-28s %16u\n", "Learned rules", view.rules);
	printf("  %-28s %16u\n", "Candidates", view.candidates);
	printf("  %-28s %16" PRIu64 "\n", "Samples", view.samples);
	printf("  %-28s %16" PRIu64 "\n", "Installed", view.installed);
	printf("  %-28s %16" PRIu64 "\n", "Evicted for others", view.evicted);
	printf("  %-28s %16" PRIu64 "\n", "Aged", view.aged);
	printf("  %-28s %16" PRIu64 "\n", "Refused for want of room", view.refused);
	printf("  %-28s %16" PRIu64 "\n", "Refused otherwise", view.failed);
}

/* octo learn PORT on|off [sample N] [max N] [idle MS] */

struct octo_learn_cmd {
	cmdline_fixed_string_t octo;
	cmdline_fixed_string_t learn;
	uint16_t port_id;
	cmdline_fixed_string_t on;
	cmdline_multi_string_t more;
};

static const struct {
	const char *word;
	size_t field;
} numbers[] = {
	{"sample", offsetof(struct rte_pmd_octo_learning_settings, sample)},
	{"max", offsetof(struct rte_pmd_octo_learning_settings, max_rules)},
	{"idle", offsetof(struct rte_pmd_octo_learning_settings, idle_ms)},
};

/* Read a word's number; prints an error. */
static int
read_number_of(const char *word, const char *number, struct rte_pmd_octo_learning_settings *s,
	       uint32_t *seen)
{
	const char *why = "sample, max or idle is expected";

	for (unsigned int i = 0; i < RTE_DIM(numbers); i++) {
		if (strcmp(word, numbers[i].word) != 0)
			continue;
		why = "it is given twice";
		if (*seen & RTE_BIT32(i))
			break;
		*seen |= RTE_BIT32(i);
		if (octo_number_read(number, RTE_PTR_ADD(s, numbers[i].field)) == 0)
			return 0;
		why = "a number is expected";
	}
	fprintf(stderr, "octo: bad %s: %s\n", word, why);
	return -EINVAL;
}

/* Read pairs of a word and a number; prints an error. */
static int
read_more(char *text, struct rte_pmd_octo_learning_settings *s)
{
	char *save = NULL;
	uint32_t seen = 0;

	for (char *word = strtok_r(text, " \t", &save); word != NULL;
	     word = strtok_r(NULL, " \t", &save))
		if (read_number_of(word, strtok_r(NULL, " \t", &save), s, &seen) != 0)
			return -EINVAL;
	return 0;
}

static void
learn(const struct octo_learn_cmd *cmd, char *more)
{
	struct rte_pmd_octo_learning view;
	const char *why = not_here;

	if (rte_pmd_octo_learning_get(cmd->port_id, &view) == 0) {
		if (read_more(more, &view.settings) != 0)
			return;
		view.settings.on = strcmp(cmd->on, "on") == 0;
		if (rte_pmd_octo_learning_set(cmd->port_id, &view.settings, &why) == 0)
			return;
	}
	octo_testpmd_complain(cmd->port_id, why);
}

static void
octo_learn_parsed(void *parsed, struct cmdline *cl, void *data)
{
	char none[] = "";

	RTE_SET_USED(cl);
	RTE_SET_USED(data);
	learn(parsed, none);
}

static void
octo_learn_more_parsed(void *parsed, struct cmdline *cl, void *data)
{
	struct octo_learn_cmd *cmd = parsed;

	RTE_SET_USED(cl);
	RTE_SET_USED(data);
	learn(cmd, cmd->more);
}

static cmdline_parse_token_string_t show_octo = TOKEN_STRING_INITIALIZER(struct octo_show_learn,
									 octo, "octo");
static cmdline_parse_token_string_t show_show = TOKEN_STRING_INITIALIZER(struct octo_show_learn,
									 show, "show");
static cmdline_parse_token_string_t show_learning = TOKEN_STRING_INITIALIZER(struct octo_show_learn,
									     learning, "learning");
static cmdline_parse_token_num_t show_port = TOKEN_NUM_INITIALIZER(struct octo_show_learn, port_id,
								   RTE_UINT16);
static cmdline_parse_token_string_t learn_octo = TOKEN_STRING_INITIALIZER(struct octo_learn_cmd,
									  octo, "octo");
static cmdline_parse_token_string_t learn_learn = TOKEN_STRING_INITIALIZER(struct octo_learn_cmd,
									   learn, "learn");
static cmdline_parse_token_num_t learn_port = TOKEN_NUM_INITIALIZER(struct octo_learn_cmd, port_id,
								    RTE_UINT16);
static cmdline_parse_token_string_t learn_on = TOKEN_STRING_INITIALIZER(struct octo_learn_cmd, on,
									"on#off");
static cmdline_parse_token_string_t learn_more = TOKEN_STRING_INITIALIZER(struct octo_learn_cmd,
									  more, TOKEN_STRING_MULTI);

/* clang-format would put the braces of arrays on lines of their own. */
/* clang-format off */
static cmdline_parse_inst_t octo_show_learning_cmd = {
	.f = octo_show_learning_parsed,
	.help_str = "octo show learning <port_id>",
	.tokens = {
		(void *)&show_octo,
		(void *)&show_show,
		(void *)&show_learning,
		(void *)&show_port,
		NULL,
	},
};

static cmdline_parse_inst_t octo_learn_cmd = {
	.f = octo_learn_parsed,
	.help_str = "octo learn <port_id> on|off",
	.tokens = {
		(void *)&learn_octo,
		(void *)&learn_learn,
		(void *)&learn_port,
		(void *)&learn_on,
		NULL,
	},
};

static cmdline_parse_inst_t octo_learn_more_cmd = {
	.f = octo_learn_more_parsed,
	.help_str = "octo learn <port_id> on|off [sample <n>] [max <n>] [idle <ms>]",
	.tokens = {
		(void *)&learn_octo,
		(void *)&learn_learn,
		(void *)&learn_port,
		(void *)&learn_on,
		(void *)&learn_more,
		NULL,
	},
};

static struct testpmd_driver_commands octo_learn_cmds = {
	.commands = {
		{
			&octo_show_learning_cmd,
			"octo show learning (port_id)\n"
			"	Show what strays have taught the port.\n",
		},
		{
			&octo_learn_cmd,
			"octo learn (port_id) (on|off)\n"
			"	Let strays teach steering, or forget what they taught.\n",
		},
		{
			&octo_learn_more_cmd,
			"octo learn (port_id) (on|off) [sample (n)] [max (n)] [idle (ms)]\n"
			"	The same, looking at one of about n strays, with at most n rules, which go\n"
			"	when nothing hits them for so long (0: never).\n",
		},
		{NULL, NULL},
	},
};
/* clang-format on */
TESTPMD_ADD_DRIVER_COMMANDS(octo_learn_cmds)
