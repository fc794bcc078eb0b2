/* TCP and UDP on loopback. */
#pragma once

#include <netinet/in.h>
#include <stddef.h>
#include <sys/socket.h>

/* A loopback address of a family, with a port, 0 for any. */
struct sockaddr_storage loopback(int family, int port);
socklen_t length_of(const struct sockaddr_storage *address);
/* Bound to any port of loopback. */
int bound_to_loopback(int family, int type);
struct sockaddr_storage name_of(int fd);
int connect_to(struct sockaddr_storage address, int type);
/* A connection: the client is `ends[0]`, the server `ends[1]`. Returns the listener. */
int connection(int family, int ends[2]);
/* The bytes of a counted stream: `check` notices when `bytes` are not what comes at `*at`. */
void fill(unsigned char *bytes, size_t length, unsigned long *at);
void check(const unsigned char *bytes, size_t length, unsigned long *at);
/* Notices when a socket does not give exactly this text at once. */
void expect_text(int fd, const char *text);
/* Both ways. */
void expect_carries(int one, int other);
/* Whether a value of an option is what it was. */
int option_of(int fd, int level, int option);
