/* SPDX-License-Identifier: BSD-3-Clause */

/* octo-agent, with the rules of a simulated NIC, and clients that say anything. */

#include <errno.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include <rte_ethdev.h>

#include "agent_rules.h"
#include "agent_server.h"
#include "fuzz_agent.h"
#include "octo_agent_stream.h"

#define NB_CLIENTS 4
#define MAX_STEPS 64

static struct octo_agent_addr addr;
static struct agent_server *server;
static struct agent_rules *rules;

struct client {
	struct octo_agent_stream stream;
	uint32_t seq;
};

static struct client clients[NB_CLIENTS + 1];

/* Without an uplink: the PFs are the agent's. */
void
fuzz_agent_server_init(void)
{
	struct agent_rules_config config = {.nb_pfs = FUZZ_AGENT_PFS, .uplink = RTE_MAX_ETHPORTS};
	struct agent_server_config server_config = {
		.nb_pfs = FUZZ_AGENT_PFS,
		.secret = fuzz_agent_secret,
	};
	char text[OCTO_AGENT_ADDR_TEXT_MAX], why[AGENT_WHY_MAX] = "";

	config.pf_port[0] = fuzz_agent_port("net_mpsim2", "nic=B,queues=2,wire=loop,"
							  "mpfs_entries=16");
	config.pf_port[1] = fuzz_agent_port("net_mpsim3", "nic=B,queues=2,arfs_entries=8");
	config.rep_port[0] = RTE_MAX_ETHPORTS;
	config.rep_port[1] = RTE_MAX_ETHPORTS;
	FUZZ_CHECK(agent_rules_create(&config, &rules, why) == 0, "no rules: %s", why);
	snprintf(text, sizeof(text), "unix:%s", fuzz_agent_path("server"));
	server_config.listen = text;
	server_config.rules = rules;
	FUZZ_CHECK(agent_server_open(&server_config, &server, why, sizeof(why)) == 0,
		   "no server: %s", why);
	octo_agent_addr_read(&addr, text, why, sizeof(why));
	for (int i = 0; i < NB_CLIENTS + 1; i++)
		octo_agent_stream_init(&clients[i].stream);
}

static void
call(struct client *client)
{
	if (client->stream.fd < 0)
		FUZZ_CHECK(octo_agent_stream_connect(&client->stream, &addr) == 0, "no connection");
	client->seq = 0;
}

/* What the agent answers is a message each, and one of an agent. Returns the last type. */
static int
hear(struct client *client)
{
	struct octo_agent_msg msg;
	int type = 0;
	int ret;

	octo_agent_stream_look(&client->stream);
	while ((ret = octo_agent_stream_receive(&client->stream, &msg)) == 0) {
		type = msg.type;
		FUZZ_CHECK(type == OCTO_AGENT_WELCOME || type == OCTO_AGENT_RESULT ||
				   type == OCTO_AGENT_COUNT,
			   "an agent says %d", type);
	}
	FUZZ_CHECK(ret != -EBADMSG, "an agent says what is no message");
	if (ret != -EAGAIN)
		octo_agent_stream_close(&client->stream);
	return type;
}

static void
step(void)
{
	FUZZ_CHECK(agent_server_step(server, 0), "the server stops");
	for (int i = 0; i < NB_CLIENTS; i++)
		if (clients[i].stream.fd >= 0)
			hear(&clients[i]);
}

static void
act(struct fuzz_input *in)
{
	const uint8_t what = fuzz_u8(in);
	struct client *client = &clients[what % NB_CLIENTS];
	uint8_t bytes[255];
	size_t len;

	switch (what / NB_CLIENTS % 4) {
	case 0:
	case 1:
		call(client);
		/* many: some without end, and without a look at the answers */
		for (int i = what / 16; i >= 0; i--) {
			len = fuzz_agent_message(in, client - clients, ++client->seq, bytes);
			fuzz_agent_send(client->stream.fd, bytes, len);
		}
		break;
	case 2:
		call(client);
		len = fuzz_u8(in);
		fuzz_bytes(in, bytes, len);
		fuzz_agent_send(client->stream.fd, bytes, len);
		break;
	case 3:
		octo_agent_stream_close(&client->stream);
		break;
	}
	if ((what & 0x80) == 0)
		step();
}

/* Whatever was said, a port that comes afterwards is welcome. */
static void
check_that_it_serves(void)
{
	struct octo_agent_msg hello = {
		.type = OCTO_AGENT_HELLO,
		.hello = {OCTO_AGENT_VERSION, OCTO_AGENT_VERSION, FUZZ_AGENT_PFS,
			  fuzz_agent_secret},
	};
	struct client *port = &clients[NB_CLIENTS];
	int type = 0;

	call(port);
	octo_agent_stream_send(&port->stream, &hello);
	for (int i = 0; i < MAX_STEPS && type == 0; i++) {
		step();
		type = hear(port);
	}
	FUZZ_CHECK(type == OCTO_AGENT_WELCOME, "a port is answered by %d", type);
	octo_agent_stream_close(&port->stream);
	step();
}

void
fuzz_agent_server_run(struct fuzz_input *in)
{
	while (in->left > 0)
		act(in);
	for (int i = 0; i < NB_CLIENTS; i++)
		octo_agent_stream_close(&clients[i].stream);
	/* what was said is heard to its end */
	for (int i = 0; i < MAX_STEPS; i++)
		step();
	check_that_it_serves();
	agent_rules_flush(rules);
	FUZZ_CHECK(agent_rules_count(rules) == 0, "%u rules stay", agent_rules_count(rules));
}
