/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * What the guest lacks a program for:
 *
 *   octo-guest telemetry SOCKET COMMAND             one question to a DPDK process
 *   octo-guest udp SRC SPORT DST DPORT COUNT        datagrams from a kernel socket
 *   octo-guest pin NAME PATH                        pins the newest BPF map of that name
 */

#include <arpa/inet.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/bpf.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

static int
fail(const char *what)
{
	perror(what);
	return 1;
}

static int
telemetry(char **argv)
{
	static char answer[1 << 20];
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	int sock = socket(AF_UNIX, SOCK_SEQPACKET, 0);
	ssize_t len;

	snprintf(at.sun_path, sizeof(at.sun_path), "%s", argv[0]);
	if (connect(sock, (struct sockaddr *)&at, sizeof(at)) != 0)
		return fail(argv[0]);
	/* DPDK introduces itself first */
	if (recv(sock, answer, sizeof(answer), 0) <= 0 ||
	    send(sock, argv[1], strlen(argv[1]), 0) < 0)
		return fail("telemetry");
	len = recv(sock, answer, sizeof(answer), 0);
	if (len <= 0)
		return fail("telemetry");
	printf("%.*s\n", (int)len, answer);
	return 0;
}

static struct sockaddr_in
address(const char *host, const char *port)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(atoi(port))};

	if (inet_pton(AF_INET, host, &at.sin_addr) != 1)
		exit(fail(host));
	return at;
}

static int
udp(char **argv)
{
	struct sockaddr_in from = address(argv[0], argv[1]);
	struct sockaddr_in to = address(argv[2], argv[3]);
	int sock = socket(AF_INET, SOCK_DGRAM, 0);

	if (bind(sock, (struct sockaddr *)&from, sizeof(from)) != 0)
		return fail("bind");
	for (int i = 0; i < atoi(argv[4]); i++)
		if (sendto(sock, "octo", 4, 0, (struct sockaddr *)&to, sizeof(to)) != 4)
			return fail("sendto");
	return 0;
}

static int
bpf(int command, union bpf_attr *attr)
{
	return (int)syscall(SYS_bpf, command, attr, sizeof(*attr));
}

/* The descriptor of the newest map: a program that was there before may keep one of its name. */
static int
find_map(const char *name)
{
	union bpf_attr next = {0};
	int found = -1;

	while (bpf(BPF_MAP_GET_NEXT_ID, &next) == 0) {
		union bpf_attr by_id = {.map_id = next.next_id};
		struct bpf_map_info info = {0};
		union bpf_attr what = {.info.info_len = sizeof(info)};
		int map = bpf(BPF_MAP_GET_FD_BY_ID, &by_id);

		what.info.bpf_fd = map;
		what.info.info = (uintptr_t)&info;
		if (bpf(BPF_OBJ_GET_INFO_BY_FD, &what) == 0 && strcmp(info.name, name) == 0)
			found = map;
		next.start_id = next.next_id;
	}
	return found;
}

static int
pin(char **argv)
{
	union bpf_attr where = {.pathname = (uintptr_t)argv[1], .bpf_fd = find_map(argv[0])};

	return bpf(BPF_OBJ_PIN, &where) == 0 ? 0 : fail(argv[0]);
}

int
main(int argc, char **argv)
{
	if (argc == 4 && strcmp(argv[1], "telemetry") == 0)
		return telemetry(argv + 2);
	if (argc == 7 && strcmp(argv[1], "udp") == 0)
		return udp(argv + 2);
	if (argc == 4 && strcmp(argv[1], "pin") == 0)
		return pin(argv + 2);
	fprintf(stderr, "octo-guest: telemetry SOCKET COMMAND | udp SRC SPORT DST DPORT COUNT | "
			"pin NAME PATH\n");
	return 2;
}
