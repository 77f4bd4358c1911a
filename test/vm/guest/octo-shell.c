/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Runs commands for the host, one after the other, at a virtio-serial port:
 *
 *   octo-shell PORT NOTE
 *
 * A request is a line "TOKEN MODE LENGTH" and so many bytes of a shell command.
 * MODE tty runs it on a terminal that the port's bytes go to, MODE raw passes its
 * output on as it is. When it has ended, "TOKEN STATUS" comes on a line of its own.
 * It is killed if the host hangs up. The file NOTE is there while one runs.
 */

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct request {
	char token[64];
	char mode[8];
	char command[1 << 16];
};

/*
 * What the host sends may overtake the news that it hung up before, and that it is
 * there again: only a port that stays hung up is. Whoever connects waits for NOTE.
 */
static bool
hung_up(int port)
{
	struct pollfd polled = {.fd = port};

	for (int i = 0; i < 100; i++) {
		poll(&polled, 1, 0);
		if (!(polled.revents & POLLHUP))
			return false;
		usleep(10000);
	}
	return true;
}

/* Wait for the port; false if nobody is at its other end. */
static bool
await(int port, short events)
{
	struct pollfd polled = {.fd = port, .events = events};

	return poll(&polled, 1, -1) > 0 && (!(polled.revents & POLLHUP) || !hung_up(port));
}

/* False if the host hung up before it took all. */
static bool
write_all(int fd, const char *data, size_t len)
{
	while (len > 0) {
		ssize_t done = write(fd, data, len);

		if (done > 0) {
			data += done;
			len -= (size_t)done;
		} else if (!await(fd, POLLOUT)) {
			return false;
		}
	}
	return true;
}

/* Until all came, which takes a host that is there. */
static void
read_all(int port, char *data, size_t len)
{
	while (len > 0) {
		ssize_t got = read(port, data, len);

		if (got > 0) {
			data += got;
			len -= (size_t)got;
		} else {
			await(port, POLLIN);
		}
	}
}

static void
read_request(int port, struct request *request)
{
	char line[128];
	size_t at = 0;
	size_t len;

	do {
		read_all(port, &line[at], 1);
	} while (line[at] != '\n' && ++at < sizeof(line) - 1);
	line[at] = '\0';
	if (sscanf(line, "%63s %7s %zu", request->token, request->mode, &len) != 3 ||
	    len >= sizeof(request->command)) {
		fprintf(stderr, "octo-shell: not a request: %s\n", line);
		exit(1);
	}
	read_all(port, request->command, len);
	request->command[len] = '\0';
}

static void
become_command(const char *command)
{
	/* whoever is started in the background ignores them */
	signal(SIGINT, SIG_DFL);
	signal(SIGQUIT, SIG_DFL);
	execl("/bin/sh", "sh", "-c", command, NULL);
	_exit(127);
}

static pid_t
run_on_terminal(const char *command, int *fd)
{
	struct winsize size = {.ws_row = 24, .ws_col = 200};
	pid_t child = forkpty(fd, NULL, NULL, &size);

	if (child == 0)
		become_command(command);
	return child;
}

static pid_t
run_raw(const char *command, int *fd)
{
	int ends[2];
	pid_t child;

	if (pipe(ends) != 0)
		return -1;
	child = fork();
	if (child == 0) {
		setsid();
		dup2(open("/dev/null", O_RDONLY), 0);
		dup2(ends[1], 1);
		dup2(ends[1], 2);
		close(ends[0]);
		close(ends[1]);
		become_command(command);
	}
	close(ends[1]);
	*fd = ends[0];
	return child;
}

/* That there is nothing to read, or that it is not taken, shows otherwise. */
static void
type(int port, int fd)
{
	char data[4096];
	ssize_t got = read(port, data, sizeof(data));

	if (got > 0)
		write_all(fd, data, (size_t)got);
}

enum told { MORE, ALL, NOBODY };

/* What the command says. */
static enum told
tell(int fd, int port)
{
	char data[4096];
	ssize_t got = read(fd, data, sizeof(data));

	if (got < 0 && errno == EINTR)
		return MORE;
	if (got <= 0)
		return ALL;
	return write_all(port, data, (size_t)got) ? MORE : NOBODY;
}

/*
 * Until the command and all that it left running have closed their output; false
 * if the host hung up before.
 */
static bool
relay(int port, int fd, bool typed)
{
	struct pollfd polled[] = {
		{.fd = fd, .events = POLLIN},
		{.fd = port, .events = typed ? POLLIN : 0},
	};
	enum told told = MORE;

	while (told == MORE) {
		if (poll(polled, 2, -1) < 0)
			continue;
		if (polled[1].revents & POLLHUP) {
			/* what else the port says is of who was there before */
			if (hung_up(port))
				return false;
			continue;
		}
		if (polled[1].revents & POLLIN)
			type(port, fd);
		if (polled[0].revents != 0)
			told = tell(fd, port);
	}
	return told == ALL;
}

/* How the command ended; -1 if there is nobody to tell. */
static int
serve(int port, struct request *request)
{
	const bool tty = strcmp(request->mode, "tty") == 0;
	int fd, status;
	bool heard;
	pid_t child = (tty ? run_on_terminal : run_raw)(request->command, &fd);

	if (child < 0)
		return 126;
	heard = relay(port, fd, tty);
	if (!heard)
		kill(-child, SIGKILL);
	close(fd);
	if (waitpid(child, &status, 0) != child)
		return 126;
	if (!heard)
		return -1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int
main(int argc, char **argv)
{
	static struct request request;
	int port = argc == 3 ? open(argv[1], O_RDWR | O_CLOEXEC | O_NONBLOCK) : -1;
	char end[80];

	if (port < 0) {
		perror("octo-shell PORT NOTE");
		return 1;
	}
	for (;;) {
		int status, len;

		read_request(port, &request);
		close(creat(argv[2], 0600));
		status = serve(port, &request);
		len = snprintf(end, sizeof(end), "\n%s %d\n", request.token, status);
		if (status >= 0)
			write_all(port, end, (size_t)len);
		unlink(argv[2]);
	}
}
